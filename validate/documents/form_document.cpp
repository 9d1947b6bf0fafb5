#include "validate/documents/form_document.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

enum class Medium { console, page };

// Returns the lines of a form for one medium; empty if there are none.
std::string_view layout_of(std::string_view name, Medium medium) {
  const auto form = std::ranges::find(embedded_forms(), name, &EmbeddedForm::name);
  CHECK(form != embedded_forms().end(), "no form is called '{}'", name);
  const std::string_view mark = medium == Medium::console ? "===console\n" : "===page\n";
  const std::size_t start = form->text.find(mark);
  if (start == std::string_view::npos) return "";
  const std::string_view lines = form->text.substr(start + mark.size());
  return lines.substr(0, lines.find("==="));
}

// A tag such as "{{#name}}" between begin and end. If it is alone on its line, it includes the end
// of the line.
struct Tag {
  char kind = ' ';  // '#', '?', '^', '/', '>'; ' ': a part
  std::string_view name = {};
  std::string_view columns = {};  // of a table; empty: all
  std::size_t begin = 0, end = 0;
};

// Names within a part are looked up in a document or a row of a table, and then in what surrounds
// the part.
struct Scope {
  const Document* document = nullptr;
  bool is_row = false;  // pages escape the cells of a row
  const Scope* around = nullptr;
};

// Each row is written as a document with a part per column.
std::vector<Document> rows_of(const TextTable& table) {
  std::vector<Document> rows;
  for (const std::vector<std::string>& cells : table.rows) {
    Document& row = rows.emplace_back();
    for (std::size_t i = 0; i < cells.size() && i < table.columns.size(); ++i) {
      row.parts.emplace(table.columns[i].title, cells[i]);
    }
  }
  return rows;
}

bool holds_anything(const Document::Part& part) {
  if (const auto* table = std::get_if<TextTable>(&part)) return !table->rows.empty();
  if (const auto* text = std::get_if<std::string>(&part)) return !text->empty() && *text != "0";
  return !std::get<std::vector<Document>>(part).empty();
}

class FilledForm {
 public:
  FilledForm(std::string_view layout, Medium medium, std::size_t width)
      : layout_(layout), medium_(medium), width_(width) {}

  std::string filled(const Scope& scope) const { return part(0, layout_.size(), scope); }

 private:
  struct Found {
    const Document::Part& part;
    bool is_cell;
  };

  static Found find(std::string_view name, const Scope& scope) {
    for (const Scope* each = &scope; each != nullptr; each = each->around) {
      const auto part = each->document->parts.find(name);
      if (part != each->document->parts.end()) return {part->second, each->is_row};
    }
    CHECK(false, "a form names '{}', which its document does not have", name);
  }

  bool has_its_line(std::size_t begin, std::size_t end) const {
    return (begin == 0 || layout_[begin - 1] == '\n') && end < layout_.size() &&
           layout_[end] == '\n';
  }

  // Returns the first tag at or behind `from`. If there is none, it returns a tag that begins at
  // the end of the text.
  Tag next(std::size_t from) const {
    Tag tag;
    tag.begin = layout_.find("{{", from);
    if (tag.begin == std::string_view::npos) return {.begin = layout_.size()};
    const std::size_t close = layout_.find("}}", tag.begin);
    CHECK(close != std::string_view::npos, "a tag of a form is not closed");
    tag.name = layout_.substr(tag.begin + 2, close - tag.begin - 2);
    tag.end = close + 2;
    if (std::string_view("#?^/>").find(tag.name.front()) != std::string_view::npos) {
      tag.kind = tag.name.front();
      tag.name.remove_prefix(1);
      if (has_its_line(tag.begin, tag.end)) ++tag.end;
    } else if (const std::size_t colon = tag.name.find(": "); colon != std::string_view::npos) {
      tag.columns = tag.name.substr(colon + 2);
      tag.name = tag.name.substr(0, colon);
    }
    return tag;
  }

  Tag end_of(const Tag& open) const {
    int depth = 1;
    for (Tag tag = next(open.end); tag.begin < layout_.size(); tag = next(tag.end)) {
      if (tag.name != open.name || tag.kind == ' ' || tag.kind == '>') continue;
      depth += tag.kind == '/' ? -1 : 1;
      if (depth == 0) return tag;
    }
    CHECK(false, "'{}' of a form has no end", open.name);
  }

  std::string part(std::size_t from, std::size_t to, const Scope& scope) const {
    std::string text;
    while (true) {
      Tag tag = next(from);
      text += layout_.substr(from, std::min(tag.begin, to) - from);
      if (tag.begin >= to) return text;
      CHECK(tag.kind != '/', "'{}' of a form ends before it begins", tag.name);
      from = tag.end;
      if (tag.kind == '>') {
        text += FilledForm(layout_of(tag.name, medium_), medium_, width_).filled(scope);
        continue;
      }
      const Found found = find(tag.name, scope);
      if (tag.kind == ' ') {
        text += printed(found, tag, from);
        continue;
      }
      const Tag end = end_of(tag);
      text += block(tag, end, found, scope);
      from = end.end;
    }
  }

  std::string block(const Tag& open, const Tag& end, const Found& found, const Scope& scope) const {
    if (open.kind != '#') {
      const bool wanted = holds_anything(found.part) == (open.kind == '?');
      return wanted ? part(open.end, end.begin, scope) : "";
    }
    CHECK(!std::holds_alternative<std::string>(found.part), "'{}' of a form is one text",
          open.name);
    const auto* table = std::get_if<TextTable>(&found.part);
    const std::vector<Document> rows = table == nullptr ? std::vector<Document>() : rows_of(*table);
    std::string text;
    for (const Document& each :
         table == nullptr ? std::get<std::vector<Document>>(found.part) : rows) {
      text += part(open.end, end.begin, {&each, table != nullptr, &scope});
    }
    return text;
  }

  std::string printed(const Found& found, const Tag& tag, std::size_t& from) const {
    if (const auto* text = std::get_if<std::string>(&found.part)) {
      return found.is_cell && medium_ == Medium::page ? markdown_text(*text) : *text;
    }
    CHECK(has_its_line(tag.begin, tag.end), "table '{}' of a form has no line of its own",
          tag.name);
    ++from;
    const auto& whole = std::get<TextTable>(found.part);
    const TextTable table = tag.columns.empty() ? whole : picked(whole, tag.columns);
    return medium_ == Medium::page ? markdown_table(table) : table_text(table, width_);
  }

  std::string_view layout_;
  Medium medium_;
  std::size_t width_;
};

std::string filled_form(const Document& document, Medium medium, std::size_t width) {
  return FilledForm(layout_of(document.form, medium), medium, width)
      .filled({.document = &document});
}

}  // namespace

std::string console_text(const Document& document, std::size_t width) {
  return filled_form(document, Medium::console, width);
}

std::string markdown_page(const Document& document) {
  return filled_form(document, Medium::page, 0);
}

TextTable picked(const TextTable& table, std::string_view columns) {
  TextTable result;
  std::vector<std::size_t> from;
  for (Column& column : titled_table(columns).columns) {
    const bool all_brief = column.title == "*";
    const std::size_t equals = column.title.find(" = ");
    const std::string name =
        equals == std::string::npos ? column.title : column.title.substr(equals + 3);
    column.title.resize(std::min(equals, column.title.size()));
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (all_brief ? table.columns[i].brief.empty() : table.columns[i].title != name) continue;
      result.columns.push_back(all_brief ? table.columns[i] : column);
      from.push_back(i);
      if (!all_brief) break;
    }
    CHECK(all_brief || (!from.empty() && table.columns[from.back()].title == name),
          "a table has no column '{}'", name);
  }
  for (const std::vector<std::string>& row : table.rows) {
    std::vector<std::string>& cells = result.rows.emplace_back();
    if (row.size() == 1 && table.columns.size() > 1) cells = row;
    for (const std::size_t i : from) {
      if (row.size() == table.columns.size()) cells.push_back(row[i]);
    }
  }
  return result;
}

std::string markdown_text(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    switch (c) {
      case '|':
        cell += "\\|";
        break;
      case '<':
        cell += "&lt;";
        break;
      case '\n':
        cell += " ";
        break;
      case '\r':
        break;
      default:
        cell += c;
    }
  }
  return cell;
}

std::string markdown_table(const TextTable& table) {
  std::string text = "|", rule = "|";
  for (const Column& column : table.columns) {
    text += " " + markdown_text(column.title) + " |";
    rule += column.align == Align::left ? "---|" : "--:|";
  }
  text += "\n" + rule + "\n";
  for (const std::vector<std::string>& row : table.rows) {
    CHECK(row.size() == table.columns.size(), "a row of {} cells in a table of {} columns",
          row.size(), table.columns.size());
    text += "|";
    for (const std::string& cell : row) text += " " + markdown_text(cell) + " |";
    text += "\n";
  }
  return text;
}

}  // namespace windtunnel
