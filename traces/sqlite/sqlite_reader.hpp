// A SQLite database that somebody else wrote, row by row: what it holds is not trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace windtunnel {

// The columns of a row. Each throws Error that names table, row and column where the value is of
// another type.
class SqliteRow {
 public:
  SqliteRow(sqlite3_stmt* statement, const std::string& path, std::string_view table,
            std::int64_t row)
      : statement_(statement), path_(path), table_(table), row_(row) {}

  std::int64_t integer(int column) const;
  std::int64_t integer_or(int column, std::int64_t other) const;  // where the value is null
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
  // Read only. Throws Error where the file cannot be read or is no database.
  explicit SqliteReader(const std::string& path);

  // A table, not a view: a view may compute without end.
  bool has_table(const std::string& name) const;
  bool has_column(const std::string& table, const std::string& column) const;
  // `table` is for messages. Throws Error where the statement does not fit the database or that is
  // broken.
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
