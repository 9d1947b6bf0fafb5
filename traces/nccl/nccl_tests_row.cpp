#include "traces/nccl/nccl_tests_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <system_error>

#include "models/base/find_named.hpp"
#include "models/base/printable.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

struct NamedKind {
  std::string_view name;
  CollectiveKind kind;
};
constexpr std::array kKinds{
    NamedKind{"all_reduce", CollectiveKind::all_reduce},
    NamedKind{"all_gather", CollectiveKind::all_gather},
    NamedKind{"reduce_scatter", CollectiveKind::reduce_scatter},
    NamedKind{"alltoall", CollectiveKind::all_to_all},
    NamedKind{"broadcast", CollectiveKind::broadcast},
    NamedKind{"reduce", CollectiveKind::reduce},
    NamedKind{"gather", CollectiveKind::gather},
    NamedKind{"sendrecv", CollectiveKind::send_recv},
};
// nccl-tests measures these, but they are not modelled.
constexpr std::array<std::string_view, 3> kNotModelled{"scatter", "hypercube", "alltoallv"};

struct NamedType {
  std::string_view name;
  int bytes;
};
constexpr std::array kTypes{
    NamedType{"int8", 1},     NamedType{"uint8", 1},    NamedType{"int32", 4},
    NamedType{"uint32", 4},   NamedType{"int64", 8},    NamedType{"uint64", 8},
    NamedType{"half", 2},     NamedType{"float", 4},    NamedType{"double", 8},
    NamedType{"bfloat16", 2}, NamedType{"fp8_e4m3", 1}, NamedType{"fp8_e5m2", 1},
    NamedType{"f8e4m3", 1},   NamedType{"f8e5m2", 1},   NamedType{"float16", 2},
    NamedType{"float32", 4},  NamedType{"float64", 8},
};

// Allowed in addition to rounding, because the time and bandwidth of a line are averaged
// separately.
constexpr double kSlack = 0.03;

void check_bandwidth(const PrintedNumber& printed, double factor, const CollectiveRow& row,
                     const PrintedNumber& time_us, const char* name, const Location& where) {
  const double bytes = factor * row.bytes / 1e3;  // GB/s * us
  const double shortest_us = std::max(time_us.value - time_us.half_step, 1e-9);
  const double most = bytes / shortest_us * (1 + kSlack);
  const double least = bytes / (time_us.value + time_us.half_step) * (1 - kSlack);
  if (printed.value - printed.half_step <= most && printed.value + printed.half_step >= least) {
    return;
  }
  throw Error(
      where,
      fmt::format("{} is {:g} GB/s, but {:.0f} bytes in {:g} us among {} ranks make {:.4g} GB/s",
                  name, printed.value, row.bytes, time_us.value, row.gpus, bytes / time_us.value));
}

constexpr std::string_view kPerf = "perf";

// Only the letters, in lower case.
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalpha(letter) != 0) letters += static_cast<char>(std::tolower(letter));
  }
  return letters;
}

std::string quoted_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

}  // namespace

std::optional<PrintedNumber> printed_number(std::string_view text) {
  text = trimmed(text);
  PrintedNumber number;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number.value);
  if (text.empty() || fault != std::errc() || stop != end || !std::isfinite(number.value)) {
    return std::nullopt;
  }
  const size_t exponent_at = text.find_first_of("eE");
  const std::string_view digits = text.substr(0, exponent_at);
  int exponent = 0;
  if (exponent_at != std::string_view::npos) {
    size_t from = exponent_at + 1;
    if (text[from] == '+') ++from;
    std::from_chars(text.data() + from, end, exponent);
  }
  const size_t point = digits.find('.');
  const int decimals =
      point == std::string_view::npos ? 0 : static_cast<int>(digits.size() - point - 1);
  number.half_step = 0.5 * std::pow(10.0, exponent - decimals);
  return number;
}

std::string collective_in_name(std::string_view path) {
  // Splits the name into words; one to three words together may be a collective's name.
  std::vector<std::string> words(1);
  for (const char c : path.substr(path.find_last_of('/') + 1)) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalpha(letter) != 0) {
      words.back() += static_cast<char>(std::tolower(letter));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  words.insert(words.end(), 2, "");
  for (size_t i = 0; i + 2 < words.size(); ++i) {
    const std::string two = words[i] + words[i + 1];
    for (const std::string& tried : {two + words[i + 2], two, words[i]}) {
      const auto is_it = [&](std::string_view name) { return letters_of(name) == tried; };
      if (const auto named = std::ranges::find_if(kKinds, is_it, &NamedKind::name);
          named != kKinds.end()) {
        return std::string(named->name);
      }
      if (std::ranges::any_of(kNotModelled, is_it)) return tried;
    }
  }
  return {};
}

NamedCollective collective_named(std::string_view name, const Location& where) {
  std::vector<std::string> known;
  std::string letters = letters_of(name);
  if (letters.ends_with(kPerf)) letters.resize(letters.size() - kPerf.size());
  for (const NamedKind& named : kKinds) {
    if (letters_of(named.name) == letters) return {named.kind, {}};
    known.emplace_back(named.name);
  }
  if (std::ranges::find(kNotModelled, letters) != kNotModelled.end()) {
    return {CollectiveKind::all_reduce, fmt::format("collective '{}' is not modelled", name)};
  }
  throw Error(where, unknown_name("collective", excerpt(name), known));
}

std::string collective_in(std::string_view text) {
  constexpr std::string_view kSuffix = "_perf";
  for (size_t at = text.find(kSuffix); at != std::string_view::npos;
       at = text.find(kSuffix, at + 1)) {
    size_t from = at;
    while (from > 0 && (std::islower(static_cast<unsigned char>(text[from - 1])) != 0 ||
                        text[from - 1] == '_')) {
      --from;
    }
    const size_t after = at + kSuffix.size();
    const bool ends =
        after == text.size() ||
        (std::isalnum(static_cast<unsigned char>(text[after])) == 0 && text[after] != '_');
    if (from < at && ends) return std::string(text.substr(from, at - from));
  }
  return {};
}

double bus_factor(CollectiveKind kind, int ranks) {
  const double n = ranks;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::gather:
      return (n - 1) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send_recv:
      break;
  }
  return 1;
}

void finish_row(const RowNumbers& numbers, CollectiveRow& row) {
  if (!(numbers.time_us.value > 0)) {
    throw Error(numbers.time_at,
                fmt::format("a time of {:g} us is not positive", numbers.time_us.value));
  }
  if (!(row.bytes >= 0) || row.bytes != std::floor(row.bytes)) {
    throw Error(numbers.size_at, fmt::format("{:g} is not a number of bytes", row.bytes));
  }
  if (!row.dtype.empty()) {
    const int element = find_named(kTypes, "type", row.dtype, numbers.dtype_at).bytes;
    if (std::fmod(row.bytes, element) != 0) {
      throw Error(
          numbers.size_at,
          fmt::format("{:.0f} bytes are not a whole number of elements of type {}, which have {}",
                      row.bytes, row.dtype, element));
    }
  }
  row.seconds = numbers.time_us.value * 1e-6;
  if (!row.unusable.empty()) return;
  if (row.bytes == 0) {
    row.unusable = "no bytes were moved";
    return;
  }
  const double bus = bus_factor(row.kind, row.gpus);
  if (numbers.algbw_GBps) {
    check_bandwidth(*numbers.algbw_GBps, 1, row, numbers.time_us, "algbw", numbers.algbw_at);
    const double coarse = numbers.time_us.half_step / numbers.time_us.value;
    const PrintedNumber& algbw = *numbers.algbw_GBps;
    if (coarse > 0.01 && algbw.value > 0 && algbw.half_step / algbw.value < coarse) {
      row.seconds = row.bytes / (algbw.value * 1e9);
      row.check = "derived";
    }
  }
  if (numbers.busbw_GBps) {
    check_bandwidth(*numbers.busbw_GBps, bus, row, numbers.time_us, "busbw", numbers.busbw_at);
  }
  row.algbw_Bps = row.bytes / row.seconds;
  row.busbw_Bps = bus * row.algbw_Bps;
}

CsvTable table_of(std::vector<CollectiveRow>& rows, const std::string& file) {
  std::string text =
      "source,machine,gpu,gpus,nodes,network,collective,bytes,time_us,algbw_GBps,busbw_GBps,"
      "placement,nccl_version,dtype,notes,check\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    CollectiveRow& row = rows[i];
    row.table_row = i;
    std::string_view name;
    for (const NamedKind& named : kKinds) {
      if (named.kind == row.kind) name = named.name;
    }
    text += fmt::format("{},{},{},{},{},{},{},{:.0f},{},{},{},{},{},{},{},{}\n",
                        quoted_cell(row.source), quoted_cell(row.machine), quoted_cell(row.gpu),
                        row.gpus, row.nodes, quoted_cell(row.network), name, row.bytes,
                        row.seconds * 1e6, row.algbw_Bps / 1e9, row.busbw_Bps / 1e9,
                        row.in_place ? "in" : "out", quoted_cell(row.nccl_version), row.dtype,
                        quoted_cell(row.notes), row.check);
  }
  return CsvTable::parse(text, file);
}

std::string version_text(long code) {
  if (code >= 10000) return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100);
  return fmt::format("{}.{}.{}", code / 1000, code / 100 % 10, code % 100);
}

int nccl_release(std::string_view version) {
  // RCCL has similar version numbers but its own table of choices.
  if (contains_text(version, "rccl")) return 0;
  const auto is_of = [&](std::size_t at, int (*kind)(int)) {
    return at < version.size() && kind(static_cast<unsigned char>(version[at])) != 0;
  };
  for (std::size_t at = version.find("2."); at != std::string_view::npos;
       at = version.find("2.", at + 1)) {
    if (at > 0 && (is_of(at - 1, std::isalnum) || version[at - 1] == '.')) continue;
    std::size_t end = at + 2;
    while (is_of(end, std::isdigit)) ++end;
    if (end == at + 2 || end > at + 4 || is_of(end, std::isalpha)) continue;
    int minor = 0;
    std::from_chars(version.data() + at + 2, version.data() + end, minor);
    return minor;
  }
  return 0;
}

int process_ranks(std::string_view log) {
  static constexpr std::string_view kPid = " Pid ";
  std::map<std::string, int> ranks_of;  // [process and host]
  for (std::size_t at = log.find(kPid); at != std::string_view::npos; at = log.find(kPid, at + 1)) {
    const std::size_t from = at + kPid.size();
    const std::size_t end = log.find(" device ", from);
    if (end == std::string_view::npos || end - from > 200) continue;
    ++ranks_of[std::string(log.substr(from, end - from))];
  }
  int most = 0;
  for (const auto& [process, ranks] : ranks_of) most = std::max(most, ranks);
  return most;
}

}  // namespace windtunnel
