#include "traces/sqlite/sqlite_reader.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "models/base/error.hpp"
#include "traces/sqlite/sqlite_file.hpp"
#include "traces/text/input_file.hpp"

namespace windtunnel {
namespace {

// SQLite's texts and blobs are limited to the range of int.
constexpr std::uint64_t kMostOfSqlite = std::numeric_limits<int>::max();

std::uint64_t longest_value() {
  return std::min(read_limit(kLongestLine_bytes), kMostOfSqlite);
}

struct FinalizeRead {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using ReadStatement = std::unique_ptr<sqlite3_stmt, FinalizeRead>;

}  // namespace

std::int64_t SqliteRow::integer(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER) {
    fail(fmt::format("'{}' is not a whole number", name_of(column)));
  }
  return sqlite3_column_int64(statement_, column);
}

std::int64_t SqliteRow::integer_or(int column, std::int64_t other) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL ? other : integer(column);
}

std::string SqliteRow::text_or(int column, const std::string& other) const {
  const int type = sqlite3_column_type(statement_, column);
  if (type == SQLITE_NULL) return other;
  if (type != SQLITE_TEXT) fail(fmt::format("'{}' is no text", name_of(column)));
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string SqliteRow::name_of(int column) const {
  return sqlite3_column_name(statement_, column);
}

void SqliteRow::fail(const std::string& what) const {
  throw Error(Location{path_}, fmt::format("table {}, row {}: {}", table_, row_, what));
}

void SqliteReader::Close::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

SqliteReader::SqliteReader(const std::string& path) : path_(path) {
  const InputFile regular(path);  // refuses a pipe, on which SQLite would wait
  sqlite3* database = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
  database_.reset(database);
  if (opened != SQLITE_OK) {
    throw Error(Location{path}, fmt::format("cannot be read: {}", sqlite3_errmsg(database)));
  }
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, static_cast<int>(longest_value()));
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  check_size();
}

// Refuses a truncated page, whose missing end SQLite would read as zeros.
void SqliteReader::check_size() const {
  std::int64_t bytes = 1;
  for (const char* of : {"page_count", "page_size"}) {
    each_row(of, fmt::format("PRAGMA {}", of),
             [&](const SqliteRow& row) { bytes *= row.integer(0); });
  }
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path_, ignored);
  if (std::cmp_greater(bytes, size)) {
    throw Error(Location{path_},
                fmt::format("has only {} bytes of {}, so it is cut off", size, bytes));
  }
}

bool SqliteReader::has_table(const std::string& name) const {
  bool found = false;
  each_row("sqlite_master", "SELECT name, type FROM sqlite_master WHERE type = 'table'",
           [&](const SqliteRow& row) { found = found || row.text_or(0, "") == name; });
  return found;
}

bool SqliteReader::has_column(const std::string& table, const std::string& column) const {
  bool found = false;
  each_row(table, fmt::format("PRAGMA table_info({})", sql_name(table)),
           [&](const SqliteRow& row) { found = found || row.text_or(1, "") == column; });
  return found;
}

void SqliteReader::each_row(std::string_view table, const std::string& statement,
                            const std::function<void(const SqliteRow&)>& visit) const {
  const auto fail = [&] {
    const bool limited =
        sqlite3_errcode(database_.get()) == SQLITE_TOOBIG && longest_value() < kMostOfSqlite;
    throw Error(Location{path_},
                fmt::format("table {}: {}{}", table, sqlite3_errmsg(database_.get()),
                            limited ? raised_limit_text(2 * longest_value()) : ""));
  };
  sqlite3_stmt* prepared = nullptr;
  const int made = sqlite3_prepare_v2(database_.get(), statement.c_str(), -1, &prepared, nullptr);
  const ReadStatement owner(prepared);
  if (made != SQLITE_OK) fail();
  for (std::int64_t row = 1;; ++row) {
    const int step = sqlite3_step(prepared);
    if (step == SQLITE_DONE) return;
    if (step != SQLITE_ROW) fail();
    visit(SqliteRow(prepared, path_, table, row));
  }
}

}  // namespace windtunnel
