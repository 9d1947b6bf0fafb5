// Describes the columns of a kind of measured rows as a table. One function uses it to read and
// bound every cell of a row and note all faults. Each kind adds only checks that concern several
// cells.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "traces/text/csv.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {

// What a file must have: nothing, the column in its header, or also a text in each cell.
enum class Needs : std::uint8_t { nothing, column, cell };

template <class Row>
struct RowField {
  using Member = std::variant<std::monostate, std::string Row::*, int Row::*, double Row::*,
                              std::optional<int> Row::*, std::optional<double> Row::*,
                              std::optional<bool> Row::*, double& (*)(Row&), bool& (*)(Row&),
                              void (*)(Row&, RowReader&)>;

  std::string_view name;
  Member member = {};  // an empty cell does not change it; none: only the column is checked
  Needs needs = Needs::nothing;
  std::string_view unit = {};  // for messages
  double largest = 1e18;       // bound for plausible values, with a margin
  bool zero_too = false;
  double scale = 1;                              // factor from the column's unit to the member's
  std::span<const std::string_view> words = {};  // allowed texts; empty: any text
};

// Holds the table, its rows without faults, and its faulty rows.
template <class Row>
struct RowFile {
  CsvTable table;
  std::vector<Row> runs;
  std::vector<UnusableRow> unusable;  // in the order of the file
};

template <class Row>
void read_field(const RowField<Row>& field, Row& row, RowReader& reader) {
  const NumberColumn number{field.name, field.unit, field.largest, field.zero_too};
  const auto set = [&](auto&& place, const auto& value) {
    if (value) place = *value;
  };
  const auto scaled = [&]() -> std::optional<double> {
    const std::optional<double> value = reader.number(number);
    if (!value) return std::nullopt;
    return *value * field.scale;
  };
  const auto read = [&](const auto member) {
    using Member = std::decay_t<decltype(member)>;
    if constexpr (std::is_same_v<Member, std::string Row::*>) {
      row.*member = reader.word(field.name, field.words);
    } else if constexpr (std::is_same_v<Member, int Row::*> ||
                         std::is_same_v<Member, std::optional<int> Row::*>) {
      set(row.*member, reader.count(number));
    } else if constexpr (std::is_same_v<Member, double Row::*> ||
                         std::is_same_v<Member, std::optional<double> Row::*>) {
      set(row.*member, scaled());
    } else if constexpr (std::is_same_v<Member, std::optional<bool> Row::*>) {
      set(row.*member, reader.flag(field.name));
    } else if constexpr (std::is_same_v<Member, double& (*)(Row&)>) {
      set(member(row), scaled());
    } else if constexpr (std::is_same_v<Member, bool& (*)(Row&)>) {
      set(member(row), reader.flag(field.name));
    } else if constexpr (std::is_same_v<Member, void (*)(Row&, RowReader&)>) {
      member(row, reader);
    }
  };
  std::visit(read, field.member);
  if (field.needs == Needs::cell && reader.text(field.name).empty()) {
    reader.fault(field.name, "is empty");
  }
}

// `together(row, reader)` checks the cells of a row against each other. Throws Error if a column
// that `fields` need is missing.
template <class Row, class Fields, class Together>
RowFile<Row> read_fields(CsvTable&& table, const std::vector<CsvFault>& faults,
                         const Fields& fields, const Together& together) {
  RowFile<Row> file{std::move(table), {}, {}};
  for (const RowField<Row>& field : fields) {
    if (field.needs != Needs::nothing) file.table.column(field.name);
  }
  const auto read = [&](size_t at, RowReader& reader) {
    Row row;
    row.id = file.table.id(at);
    if constexpr (requires { row.table_row; }) row.table_row = at;
    for (const RowField<Row>& field : fields) read_field(field, row, reader);
    together(row, reader);
    return row;
  };
  read_rows(file.table, faults, read, file.runs, file.unusable);
  return file;
}

template <class Row, class Fields>
RowFile<Row> parse_fields(std::string_view text, const std::string& name, const Fields& fields) {
  std::vector<CsvFault> faults;
  CsvTable table = CsvTable::parse(text, name, &faults);
  return read_fields<Row>(std::move(table), faults, fields, [](Row&, RowReader&) {});
}

template <class Row, class Fields, class Together>
RowFile<Row> parse_fields(std::string_view text, const std::string& name, const Fields& fields,
                          const Together& together, const CsvRepair& repair = {}) {
  std::vector<CsvFault> faults;
  CsvTable table = CsvTable::parse(text, name, &faults, repair);
  return read_fields<Row>(std::move(table), faults, fields, together);
}

}  // namespace windtunnel
