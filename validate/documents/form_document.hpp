// What a command found, part by part, and how it is printed. Which parts stand on the console and
// on a page of Markdown, in which order and among which words, is said by a form: a file beside
// the code that fills the document (validate/documents/forms).
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
  // The last: documents of one kind, whose own parts come before those of the document around them.
  using Part = std::variant<std::string, TextTable, std::vector<Document>>;

  std::string_view form = {};  // of embedded_forms(): "runs"
  std::map<std::string, Part, std::less<>> parts = {};

  Part& operator[](const std::string& name) { return parts[name]; }
};

// A form has a line "===console" with the lines of the console below it, and may have one "===page"
// with those of the page. In them
//   {{name}}              is the part, or of a table's row the cell of that column; a table needs
//                         a line of its own
//   {{name: a | b > | ...}} is the table with the columns that picked() takes
//   {{#name}}...{{/name}} what is between them for each row of a table, each of several documents
//   {{?name}}...{{/name}} the same once, where the part or cell holds anything: a table with rows,
//                         a text that is neither empty nor "0"
//   {{^name}}...{{/name}} where it does not
//   {{>name}}             what the form of this name says of the same parts
// A line with nothing but one of the last four leaves no line behind. On a page cells are escaped,
// texts are not. Throws InternalError for a name that is not there.
std::string console_text(const Document& document, std::size_t width = 0);
std::string markdown_page(const Document& document);

// Some columns of a table, in an order and with titles of their own: "row ~32 | time = seconds > |
// *" is column "row", of whose cells the console shows at most 32 characters, "seconds", called
// "time" and aligned to the right, and all columns with a brief title. Throws InternalError for a
// column that is not there.
TextTable picked(const TextTable& table, std::string_view columns);

// A table without rows where there are none.
using Lines = std::vector<std::vector<std::string>>;
TextTable lines_table(const std::vector<std::string>& titles, Lines lines = {});

struct EmbeddedForm {
  std::string_view name, text;
};
// Generated from the files at build time.
const std::vector<EmbeddedForm>& embedded_forms();

// Tables of a Markdown page, as GitHub shows them.

// On one line; what would end a cell or open a tag is escaped.
std::string markdown_text(const std::string& text);

std::string markdown_table(const TextTable& table);

}  // namespace windtunnel
