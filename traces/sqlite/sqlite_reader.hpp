// Reads a foreign SQLite database row by row, without trusting its content.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace windtunnel {

// The columns of a row. Each access throws Error that names table, row and column if the value has
// another type.
class SqliteRow {
 public:
  SqliteRow(sqlite3_stmt* statement, const std::string& path, std::string_view table,
            std::int64_t row)
      : statement_(statement), path_(path), table_(table), row_(row) {}

  std::int64_t integer(int column) const;
  std::int64_t integer_or(int column, std::int64_t other) const;  // `other` if the value is null
  std::string text_or(int column, const std::string& other) const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::string name_of(int column) const;

  sqlite3_stmt* statement_;
  const std::string& path_;
  std::string_view table_;
  std::int64_t row_;
};

class SqliteReader {
 public:
  // Opens the file for reading only. Throws Error if it cannot be read or is not a database.
  explicit SqliteReader(const std::string& path);

  // Only tables count, because a view may compute without end.
  bool has_table(const std::string& name) const;
  bool has_column(const std::string& table, const std::string& column) const;
  // `table` is for messages. Throws Error if the statement does not fit the database, or if the
  // database is damaged.
  void each_row(std::string_view table, const std::string& statement,
                const std::function<void(const SqliteRow&)>& visit) const;

 private:
  void check_size() const;

  struct Close {
    void operator()(sqlite3* database) const;
  };

  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace windtunnel
