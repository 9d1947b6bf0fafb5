// Parses the table that nccl-tests prints (src/util.cu; before 2.16 src/common.cu). The line "#
// size  count  type ..." tells the columns, which differ by version and collective; the second
// "time" begins the in-place half.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

#include "models/base/printable.hpp"
#include "traces/nccl/nccl_tests_row.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

struct Token {
  std::string_view text;
  int column = 0;  // in the line, from 1
};

std::vector<Token> tokens_of(std::string_view line) {
  std::vector<Token> tokens;
  for (size_t at = 0; at < line.size();) {
    if (std::isspace(static_cast<unsigned char>(line[at])) != 0) {
      ++at;
      continue;
    }
    const size_t from = at;
    while (at < line.size() && std::isspace(static_cast<unsigned char>(line[at])) == 0) ++at;
    tokens.push_back({line.substr(from, at - from), static_cast<int>(from) + 1});
  }
  return tokens;
}

// The start of the tool's text after a launcher's label: mpirun --tag-output "[1,0]<stdout>:", srun
// --label " 0: ".
size_t behind_label(std::string_view line) {
  size_t at = line.find_first_not_of(" \t");
  if (at == std::string_view::npos) return 0;
  // Skips a number that is followed by `end`.
  const auto number = [&](char end) {
    const size_t first = at;
    while (at < line.size() && std::isdigit(static_cast<unsigned char>(line[at])) != 0) ++at;
    const size_t behind = at++;
    return behind > first && behind < line.size() && line[behind] == end;
  };
  if (line[at] != '[') return number(':') ? at : 0;
  ++at;
  if (!number(',') || !number(']')) return 0;
  const size_t colon = line.find(':', at - 1);
  return colon == std::string_view::npos || colon > at + 11 ? 0 : colon + 1;
}

// A half (out of place or in place) has these columns, by position in a line; 0: missing.
struct Half {
  size_t time = 0, algbw = 0, busbw = 0, wrong = 0;
};

struct Columns {
  size_t size = 0, type = 0;  // places in a row
  bool has_type = false;
  std::vector<Half> halves;  // out of place, then in place
  size_t count = 0;
  bool timestamp = false;  // at the end of each row, as two words
};

class LogReader {
 public:
  LogReader(std::string_view text, const std::string& file, const LogContext& log)
      : text_(text), file_(file), log_(log) {}

  std::vector<CollectiveRow> read() {
    collective_ = log_.collective.empty() ? collective_in_name(file_) : log_.collective;
    for (const std::string_view line : lines_of(text_)) {
      ++line_;
      offset_ = behind_label(line);
      read_line(line.substr(offset_));
    }
    if (header_line_ == 0) {
      throw Error({file_, 1, 1},
                  "contains no table of nccl-tests, which begins with '#  size  count  type ...'");
    }
    if (rows_.empty()) {
      throw Error({file_, header_line_, 1}, "the table has a header but no rows");
    }
    return std::move(rows_);
  }

 private:
  Location at(int column) const { return {file_, line_, column + static_cast<int>(offset_)}; }

  void read_line(std::string_view line) {
    const std::vector<Token> tokens = tokens_of(line);
    if (tokens.empty()) return;
    if (tokens[0].text.front() == '#') {
      read_comment(line, tokens);
    } else if (in_table_ && std::isdigit(static_cast<unsigned char>(tokens[0].text[0])) != 0 &&
               (tokens.size() >= 4 || whole_number(tokens[0].text))) {
      read_row(tokens);
    } else {
      read_version(line);
      read_collective(line);
    }
  }

  static bool whole_number(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  }

  void read_comment(std::string_view line, const std::vector<Token>& tokens) {
    const bool ends_table = in_table_ && rows_in_table_ > 0;
    if (ends_table) in_table_ = false;
    read_version(line);
    read_collective(line);
    const auto word = [&](size_t i) { return i < tokens.size() ? tokens[i].text : ""; };
    if (word(1) == "nThread" || (word(1) == "Using" && word(2) == "devices")) {
      run_ = {};
      ranks_.clear();
    } else if (word(1) == "Rank" && word(3) == "Group") {
      read_rank(line, tokens, 4);
    } else if (word(1) == "Rank" && word(3) == "Pid") {
      read_rank(line, tokens, 0);
    } else if (word(1) == "size") {
      read_header(tokens);
    }
  }

  void read_collective(std::string_view line) {
    if (!log_.collective.empty()) return;
    if (const std::string name = collective_in(line); !name.empty()) collective_ = name;
  }

  void read_version(std::string_view line) {
    constexpr std::string_view kPlain = "NCCL version ";
    constexpr std::string_view kLibrary = "nccl-library=";
    if (const size_t found = line.find(kLibrary); found != std::string_view::npos) {
      long code = 0;
      const std::string_view number = line.substr(found + kLibrary.size());
      std::from_chars(number.data(), number.data() + number.size(), code);
      if (code > 0) version_ = version_text(code);
    } else if (const size_t plain = line.find(kPlain); plain != std::string_view::npos) {
      const std::string_view number = line.substr(plain + kPlain.size());
      version_ = std::string(number.substr(0, number.find_first_not_of("0123456789.")));
    }
  }

  // Reads "#  Rank  0 Group  0 Pid  6899 on host device  0 [0000:04:00] NVIDIA H100 80GB HBM3".
  void read_rank(std::string_view line, const std::vector<Token>& tokens, size_t group_at) {
    const auto rank = number_of(tokens, 2, "a rank");
    if (!ranks_.insert(rank).second) {
      throw Error(
          at(tokens[2].column),
          fmt::format("rank {} is listed twice, so outputs of several runs are mixed", rank));
    }
    if (group_at != 0 && number_of(tokens, group_at, "a group") != 0) return;
    ++run_.ranks;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (tokens[i].text == "on") run_.hosts.insert(std::string(tokens[i + 1].text));
    }
    if (const size_t bracket = line.find(']'); bracket != std::string_view::npos) {
      run_.gpu = std::string(trimmed(line.substr(bracket + 1)));
    }
  }

  int number_of(const std::vector<Token>& tokens, size_t i, const char* what) const {
    int value = 0;
    const std::string_view text = i < tokens.size() ? tokens[i].text : "";
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && fault == std::errc() && end == text.data() + text.size()) return value;
    throw Error(at(i < tokens.size() ? tokens[i].column : 1),
                fmt::format("'{}' is not {}", excerpt(text), what));
  }

  void read_header(const std::vector<Token>& tokens) {
    columns_ = {};
    header_line_ = line_;
    in_table_ = true;
    rows_in_table_ = 0;
    for (size_t i = 1; i < tokens.size(); ++i) {
      const std::string_view name = tokens[i].text;
      const size_t place = i - 1;
      if (name == "type") {
        columns_.type = place;
        columns_.has_type = true;
      } else if (name == "time" || name == "cputime") {
        columns_.halves.push_back({place});
      } else if (name == "timestamp") {
        columns_.timestamp = true;
        continue;
      } else if (!columns_.halves.empty()) {
        Half& half = columns_.halves.back();
        if (name == "algbw") half.algbw = place;
        if (name == "busbw") half.busbw = place;
        if (name == "#wrong") half.wrong = place;
      }
      ++columns_.count;
    }
    if (columns_.halves.empty()) missing(tokens, "time");
    for (const Half& half : columns_.halves) {
      if (half.algbw == 0) missing(tokens, "algbw");
      if (half.busbw == 0) missing(tokens, "busbw");
    }
    if (columns_.halves.size() > 2) {
      throw Error(at(1), fmt::format("the table has {} columns 'time'; at most two are possible",
                                     columns_.halves.size()));
    }
  }

  [[noreturn]] void missing(const std::vector<Token>& tokens, const char* name) const {
    throw Error(at(tokens.back().column), fmt::format("the table has no column '{}'", name));
  }

  void check_run(const Token& first) {
    if (run_.ranks == 0) {
      throw Error(at(first.column),
                  "there is no line '#  Rank  0 ... device ...' before the table, which says which "
                  "GPUs ran");
    }
    if (run_.ranks == 1) {
      throw Error(at(first.column), "the run has one rank, so nothing is sent");
    }
    if (*ranks_.rbegin() != static_cast<int>(ranks_.size()) - 1) {
      throw Error(at(first.column),
                  fmt::format("ranks up to {} occur, but only {} are listed, so lines are missing",
                              *ranks_.rbegin(), ranks_.size()));
    }
    if (collective_.empty()) {
      throw Error(at(first.column),
                  "neither a line nor the file's name says which collective ran (all_reduce_perf, "
                  "...); state it with --collective");
    }
  }

  void read_row(const std::vector<Token>& tokens) {
    check_run(tokens[0]);
    if (tokens.size() < columns_.count) {
      throw Error(at(tokens.back().column),
                  fmt::format("the row has only {} of {} columns", tokens.size(), columns_.count));
    }
    if (tokens.size() > columns_.count + (columns_.timestamp ? 2 : 0)) {
      throw Error(at(tokens[columns_.count].column),
                  fmt::format("the row has {} columns, but the header has {}", tokens.size(),
                              columns_.count));
    }
    ++rows_in_table_;
    for (size_t half = 0; half < columns_.halves.size(); ++half) {
      rows_.push_back(row_of(tokens, columns_.halves[half], half == 1));
    }
  }

  PrintedNumber number(const Token& token, const char* what) const {
    if (const auto found = printed_number(token.text)) return *found;
    throw Error(at(token.column), fmt::format("'{}' is not {}", excerpt(token.text), what));
  }

  CollectiveRow row_of(const std::vector<Token>& tokens, const Half& half, bool in_place) const {
    const NamedCollective named = collective_named(collective_, at(tokens[0].column));
    CollectiveRow row;
    row.id = fmt::format("{}:{}", file_, line_);
    row.source = file_;
    row.machine = log_.machine.empty() ? run_.gpu : log_.machine;
    row.gpu = run_.gpu;
    row.gpus = run_.ranks;
    row.nodes = static_cast<int>(run_.hosts.size());
    row.network = log_.network;
    row.kind = named.kind;
    row.unusable = named.unusable;
    row.in_place = in_place;
    row.nccl_version = version_;
    if (columns_.has_type) row.dtype = std::string(tokens[columns_.type].text);
    row.bytes = number(tokens[columns_.size], "a number of bytes").value;
    if (half.wrong != 0 && tokens[half.wrong].text != "N/A") {
      const double wrong = number(tokens[half.wrong], "a number of wrong elements").value;
      if (wrong > 0) row.unusable = fmt::format("{:.0f} elements of the result were wrong", wrong);
    }
    RowNumbers numbers{number(tokens[half.time], "a time in us"),
                       number(tokens[half.algbw], "a bandwidth in GB/s"),
                       number(tokens[half.busbw], "a bandwidth in GB/s")};
    numbers.size_at = at(tokens[columns_.size].column);
    numbers.time_at = at(tokens[half.time].column);
    numbers.algbw_at = at(tokens[half.algbw].column);
    numbers.busbw_at = at(tokens[half.busbw].column);
    numbers.dtype_at = at(columns_.has_type ? tokens[columns_.type].column : 1);
    finish_row(numbers, row);
    return row;
  }

  // The devices that the tool lists.
  struct Run {
    int ranks = 0;  // of group 0
    std::set<std::string> hosts;
    std::string gpu;
  };

  std::string_view text_;
  const std::string& file_;
  const LogContext& log_;
  int line_ = 0;
  size_t offset_ = 0;
  Run run_;
  std::set<int> ranks_;
  std::string collective_;
  std::string version_;
  Columns columns_;
  int header_line_ = 0;
  bool in_table_ = false;
  int rows_in_table_ = 0;
  std::vector<CollectiveRow> rows_;
};

}  // namespace

CollectiveRows parse_nccl_tests(std::string_view text, const std::string& file,
                                const LogContext& log) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) throw Error({file, 1, 1}, "the file is empty");
  CollectiveRows found;
  found.path = file;
  found.rows = text[first] == '{' ? parse_nccl_tests_json(text, file, log)
                                  : LogReader(text, file, log).read();
  found.table = table_of(found.rows, file);
  return found;
}

}  // namespace windtunnel
