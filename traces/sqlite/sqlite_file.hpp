// Writes a new SQLite database in one go, for queries by the user.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

struct sqlite3;

namespace windtunnel {

using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;

class SqliteFile {
 public:
  // Writes to a temporary file that close() moves to `path`; without close() nothing remains. The
  // same statements and rows give the same bytes. All functions throw Error (failed) with SQLite's
  // reason.
  explicit SqliteFile(const std::string& path);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  void execute(const std::string& statement);
  // `statement` has a ? for each value of a row.
  void insert(const std::string& statement, const std::vector<std::vector<SqlValue>>& rows);
  void close();

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  [[noreturn]] void fail() const;

  std::string path_;
  std::string temporary_;
  std::unique_ptr<sqlite3, Close> database_;
};

// Quotes a name for a statement: "snapshots.0.every" with its quotes.
std::string sql_name(const std::string& name);

}  // namespace windtunnel
