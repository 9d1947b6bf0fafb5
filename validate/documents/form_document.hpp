// The results of a command as named parts, and how they are printed. A form, which is a text file,
// decides which parts the console and a Markdown page show, their order and the words between them
// (validate/documents/forms).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/text/table.hpp"

namespace windtunnel {

struct Document {
  // The last type holds documents of one kind. Their parts hide parts of the surrounding document
  // that have the same name.
  using Part = std::variant<std::string, TextTable, std::vector<Document>>;

  std::string_view form = {};  // of embedded_forms(): "runs"
  std::map<std::string, Part, std::less<>> parts = {};

  Part& operator[](const std::string& name) { return parts[name]; }
};

// A form has a line "===console", followed by the lines for the console, and may have a line
// "===page" with those for the page. In these lines
//   {{name}}              is the part or, within rows of a table, the cell in that column; a table
//                         needs a line of its own
//   {{name: a | b > | ...}} is the table with the columns that picked() selects
//   {{#name}}...{{/name}} repeats the text between for each row of a table, or each document
//   {{?name}}...{{/name}} prints it once if the part or cell has content: a table with rows, a text
//                         that is neither empty nor "0"
//   {{^name}}...{{/name}} prints it if there is no content
//   {{>name}}             inserts the form of this name, with the same parts
// A line that contains only one of the last four leaves no empty line. On a page cells are escaped,
// texts are not. Throws InternalError for an unknown name.
std::string console_text(const Document& document, std::size_t width = 0);
std::string markdown_page(const Document& document);

// Selects columns of a table, with their order and titles. "row ~32 | time = seconds > | *" means
// column "row", with at most 32 characters per cell on the console; "seconds" with the title
// "time", aligned to the right; and all columns with a brief title. Throws InternalError for an
// unknown column.
TextTable picked(const TextTable& table, std::string_view columns);

using Lines = std::vector<std::vector<std::string>>;

struct EmbeddedForm {
  std::string_view name, text;
};
// The build generates this from the files.
const std::vector<EmbeddedForm>& embedded_forms();

// Returns the text on one line, as GitHub shows a Markdown page, with characters escaped that would
// end a cell or open a tag.
std::string markdown_text(const std::string& text);

std::string markdown_table(const TextTable& table);

}  // namespace windtunnel
