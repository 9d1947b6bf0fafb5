#include "traces/rows/slurm_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "traces/rows/fault_records.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr int kMostNames = 200'000;          // in one list, including repeated names
constexpr std::ptrdiff_t kMostBrackets = 8;  // of a list of nodes

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find('|', at), line.size());
    cells.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return cells;
}

// The names of lists such as "a[1-3,07],b2".
class NameLists {
 public:
  // False if the text is not a list, or has more than kMostNames names.
  bool add(std::string_view list, const std::string& before = "") {
    const std::size_t bracket = list.find('[');
    if (bracket == std::string_view::npos) {
      if (before.empty() && list.empty()) return false;
      names_.insert(before + std::string(list));
      return ++added_ <= kMostNames;
    }
    const std::size_t close = list.find(']', bracket);
    if (close == std::string_view::npos) return false;
    return add_numbers(list.substr(bracket + 1, close - bracket - 1),
                       before + std::string(list.substr(0, bracket)), list.substr(close + 1));
  }

  const std::set<std::string>& names() const { return names_; }

 private:
  // Adds a name for each number of "1-3,07", with the text before and after the brackets.
  bool add_numbers(std::string_view numbers, const std::string& before, std::string_view behind) {
    for (std::size_t at = 0; at <= numbers.size();) {
      const std::size_t end = std::min(numbers.find(',', at), numbers.size());
      std::string_view item = numbers.substr(at, end - at);
      at = end + 1;
      const std::size_t digits = std::min(item.find('-'), item.size());
      int first = 0;
      if (!take_whole(item, 1, 9, first)) return false;
      int last = first;
      if (take_text(item, "-") && !take_whole(item, 1, 9, last)) return false;
      if (!item.empty() || last < first) return false;
      for (int i = first; i <= last; ++i) {
        if (!add(behind, fmt::format("{}{:0{}}", before, i, digits))) return false;
      }
    }
    return true;
  }

  std::set<std::string> names_;
  int added_ = 0;
};

// Splits several lists at commas outside of brackets.
std::optional<std::set<std::string>> names_in(std::string_view lists) {
  NameLists names;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= lists.size(); ++at) {
    if (at < lists.size() && lists[at] == '[') ++depth;
    if (at < lists.size() && lists[at] == ']') --depth;
    if (at < lists.size() && (lists[at] != ',' || depth > 0)) continue;
    const std::string_view list = lists.substr(begin, at - begin);
    if (std::ranges::count(list, '[') > kMostBrackets) return {};
    if (!names.add(list)) return {};
    begin = at + 1;
  }
  return names.names();
}

}  // namespace

SlurmTable::SlurmTable(std::string_view text, std::string file, std::string command)
    : file_(std::move(file)), command_(std::move(command)) {
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trimmed(line).empty()) continue;
    Row row{number, line, cells_of(line)};
    const bool is_header = header_.cells.empty();
    if (is_header) closed_ = line.ends_with('|');
    if (closed_ && line.ends_with('|')) row.cells.pop_back();
    if (is_header) {
      header_ = std::move(row);
      continue;
    }
    if (row.cells.size() != header_.cells.size()) {
      throw Error({file_, number, 1}, fmt::format("the row has {} cells, but the header has {}",
                                                  row.cells.size(), header_.cells.size()));
    }
    rows_.push_back(std::move(row));
  }
}

std::optional<std::size_t> SlurmTable::find(std::string_view name) const {
  const auto found = std::ranges::find(header_.cells, name);
  if (found == header_.cells.end()) return {};
  return static_cast<std::size_t>(found - header_.cells.begin());
}

std::size_t SlurmTable::column(std::string_view name) const {
  if (const std::optional<std::size_t> found = find(name)) return *found;
  throw Error({file_, header_.line, 1},
              fmt::format("the header has no column '{}'; print it with {}", name, command_));
}

void SlurmTable::fail(const Row& row, std::size_t column, const std::string& what) const {
  const auto at = row.cells[column].data() - row.text.data();
  throw Error({file_, row.line, static_cast<int>(at) + 1},
              fmt::format("{} {}", header_.cells[column], what));
}

std::optional<double> SlurmTable::time(const Row& row, std::size_t column) const {
  std::string_view text = trimmed(row.cells[column]);
  if (text.empty() || text == "Unknown" || text == "None") return {};
  std::string_view rest = text;
  const std::optional<double> at_s = take_iso_time(rest);
  if (!at_s || !rest.empty()) {
    fail(row, column, fmt::format("'{}' is not a time such as 2024-08-30T11:11:22", excerpt(text)));
  }
  return at_s;
}

std::set<std::string> SlurmTable::node_names(const Row& row, std::size_t column) const {
  const std::string_view list = trimmed(row.cells[column]);
  if (list.empty() || list == "None assigned" || list == "None") return {};
  const std::optional<std::set<std::string>> names = names_in(list);
  if (names) return *names;
  fail(row, column,
       fmt::format("'{}' is not a list of nodes such as gpu[01-08,12]", excerpt(list)));
}

}  // namespace windtunnel
