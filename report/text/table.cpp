#include "report/text/table.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "models/base/wrapped.hpp"

namespace windtunnel {
namespace {

constexpr size_t kGap = 2;  // blanks between columns
// Least width of a column of words, and of a cell's indented lines.
constexpr size_t kReadable = 12;
constexpr size_t kWhole = 24;  // shorter words are not cut while other columns can shrink
constexpr size_t kHang = 2;    // indent of a cell's continuation lines

using Cells = std::vector<std::string>;

size_t longest_word(std::string_view text) {
  size_t longest = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    longest = std::max(longest, width_of(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

// Cells that are narrow are wrapped without an indent.
Cells wrapped_cell(std::string_view text, size_t width) {
  return wrapped(text, width, width > 2 * kHang + kReadable ? kHang : 0);
}

// Some columns of a table, its titles and rows made printable.
class TableLayout {
 public:
  explicit TableLayout(const TextTable& table) : columns_(table.columns) {
    Cells& titles = lines_.emplace_back();
    for (const Column& column : table.columns) {
      titles.push_back(printable(column.brief.empty() ? column.title : column.brief));
    }
    for (const Cells& row : table.rows) {
      CHECK(row.size() == columns_.size() || row.size() == 1,
            "a row of {} cells in a table of {} columns", row.size(), columns_.size());
      Cells& cells = lines_.emplace_back();
      for (size_t i = 0; i < row.size(); ++i) {
        const size_t most = is_line(row) ? 0 : columns_[i].most;
        cells.push_back(printable(most > 0 ? shortened(row[i], most) : row[i]));
      }
      has_lines_ = has_lines_ || is_line(row);
    }
    for (size_t i = 0; i < columns_.size(); ++i) measure(i);
  }

  std::string text(size_t width) const {
    std::vector<size_t> all(columns_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    if (width == 0 || has_lines_ || total(all, natural_) <= width) return part(all, natural_);
    std::string text;
    for (const std::vector<size_t>& group : groups(width)) {
      text += (text.empty() ? "" : "\n") + part(group, fitted(group, width));
    }
    return text;
  }

 private:
  bool is_line(const Cells& row) const { return row.size() == 1 && columns_.size() > 1; }

  // Numbers are not broken but their titles are; words keep a least width.
  void measure(size_t i) {
    const bool words = columns_[i].align == Align::left;
    size_t natural = width_of(lines_.front()[i]), least = longest_word(lines_.front()[i]);
    for (size_t row = 1; row < lines_.size(); ++row) {
      if (is_line(lines_[row])) continue;
      const std::string& cell = lines_[row][i];
      natural = std::max(natural, width_of(cell));
      least = std::max(least, words ? longest_word(cell) : width_of(cell));
    }
    natural_.push_back(natural);
    least_.push_back(words ? std::min(least, kWhole) : least);
  }

  static size_t total(const std::vector<size_t>& group, const std::vector<size_t>& widths) {
    size_t sum = kGap * (group.empty() ? 0 : group.size() - 1);
    for (const size_t i : group) sum += widths[i];
    return sum;
  }

  // Splits the columns into groups that fit; the first column names the rows in each group.
  std::vector<std::vector<size_t>> groups(size_t width) const {
    std::vector<std::vector<size_t>> groups = {{0}};
    for (size_t i = 1; i < columns_.size(); ++i) {
      std::vector<size_t> with = groups.back();
      with.push_back(i);
      if (with.size() > 2 && total(with, least_) > width) {
        groups.push_back({0, i});
      } else {
        groups.back() = with;
      }
    }
    return groups;
  }

  // The widest columns shrink first, down to their least width, and then below it if the table is
  // still too wide.
  std::vector<size_t> fitted(const std::vector<size_t>& group, size_t width) const {
    std::vector<size_t> widths = natural_;
    for (const bool below_least : {false, true}) {
      while (total(group, widths) > width) {
        const auto spare = [&](size_t i) {
          return below_least ? widths[i] > 1 : widths[i] > least_[i];
        };
        const auto widest = std::ranges::max_element(
            group, {}, [&](size_t i) { return spare(i) ? widths[i] : size_t{0}; });
        if (!spare(*widest)) break;
        --widths[*widest];
      }
    }
    return widths;
  }

  std::string part(const std::vector<size_t>& group, const std::vector<size_t>& widths) const {
    std::string text;
    for (const Cells& row : lines_) append_row(row, group, widths, text);
    return text;
  }

  void append_row(const Cells& row, const std::vector<size_t>& group,
                  const std::vector<size_t>& widths, std::string& text) const {
    if (is_line(row)) {
      text += row.front() + "\n";
      return;
    }
    std::vector<Cells> cells;
    size_t height = 1;
    for (const size_t i : group) {
      cells.push_back(width_of(row[i]) <= widths[i] ? Cells{row[i]}
                                                    : wrapped_cell(row[i], widths[i]));
      height = std::max(height, cells.back().size());
    }
    for (size_t at = 0; at < height; ++at) {
      std::string line;
      for (size_t i = 0; i < group.size(); ++i) {
        const std::string cell = at < cells[i].size() ? cells[i][at] : "";
        const std::string padding(widths[group[i]] - width_of(cell), ' ');
        if (i > 0) line.append(kGap, ' ');
        line += columns_[group[i]].align == Align::left ? cell + padding : padding + cell;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  }

  const std::vector<Column>& columns_;
  std::vector<Cells> lines_;  // titles, rows
  std::vector<size_t> natural_, least_;
  bool has_lines_ = false;
};

}  // namespace

TextTable titled_table(std::string_view titles) {
  const auto trimmed = [](std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return text.substr(0, text.find_last_not_of(' ') + 1);
  };
  TextTable table;
  while (true) {
    const size_t end = std::min(titles.find('|'), titles.size());
    std::string_view title = trimmed(titles.substr(0, end));
    Column& column = table.columns.emplace_back();
    if (title.ends_with('>')) {
      column.align = Align::right;
      title = trimmed(title.substr(0, title.size() - 1));
    }
    if (const size_t most = title.rfind('~'); most != std::string_view::npos) {
      column.most = std::stoul(std::string(title.substr(most + 1)));
      title = trimmed(title.substr(0, most));
    }
    column.title = title;
    if (end == titles.size()) return table;
    titles.remove_prefix(end + 1);
  }
}

std::string shortened(const std::string& text, size_t width) {
  if (text.size() <= width) return text;
  const auto inside_character = [&](size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  const size_t tail = width / 3;
  size_t head_end = width - tail - 1;
  size_t tail_start = text.size() - tail;
  while (head_end > 0 && inside_character(head_end)) --head_end;
  while (inside_character(tail_start)) ++tail_start;
  return text.substr(0, head_end) + "…" + text.substr(tail_start);
}

std::string table_text(const TextTable& table, size_t width) {
  return TableLayout(table).text(width);
}

}  // namespace windtunnel
