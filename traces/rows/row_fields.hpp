// The columns of a kind of measured rows as a table, which one function walks for each row: it
// reads and bounds every cell and notes all faults of a row. A kind adds only what cells of a row
// must say together.
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

// What a file has to have: the column in its header, and where it is the cell, text in each row.
enum class Needs : std::uint8_t { nothing, column, cell };

template <class Row>
struct RowField {
  using Member = std::variant<std::monostate, std::string Row::*, int Row::*, double Row::*,
                              std::optional<int> Row::*, std::optional<double> Row::*,
                              std::optional<bool> Row::*, double& (*)(Row&), bool& (*)(Row&),
                              void (*)(Row&, RowReader&)>;

  std::string_view name;
  Member member = {};  // an empty cell leaves it as it is; none: the column is only looked for
  Needs needs = Needs::nothing;
  std::string_view unit = {};  // as messages name it
  double largest = 1e18;       // of anything that was ever built, with room
  bool zero_too = false;
  double scale = 1;                              // the column's unit in that of the member
  std::span<const std::string_view> words = {};  // of a text: all that it may be; empty: anything
};

// The table, with the rows that have no fault and those that have.
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

// `together(row, reader)` looks at the cells of a row together. Throws Error where a column that
// `fields` need is missing.
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
