#include "traces/sqlite/sqlite_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "models/base/error.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

int bind(sqlite3_stmt* statement, int at, const SqlValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return sqlite3_bind_int64(statement, at, *whole);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return sqlite3_bind_double(statement, at, *number);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return sqlite3_bind_text(statement, at, text->c_str(), static_cast<int>(text->size()),
                             SQLITE_TRANSIENT);
  }
  return sqlite3_bind_null(statement, at);
}

// Where to write a database: next to its final place or, if that storage can only write files from
// beginning to end (buckets mounted as folders), in the folder for temporary files.
std::string workplace_of(const std::string& path) {
  std::string beside = fmt::format("{}.{}.tmp", path, getpid());
  const int file = open(beside.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  const bool any_order =
      file >= 0 && pwrite(file, "b", 1, 4096) == 1 && pwrite(file, "a", 1, 0) == 1;
  const bool works = file >= 0 && close(file) == 0 && any_order;
  std::error_code ignored;
  fs::remove(beside, ignored);
  if (works) return beside;
  // A new file with an unpredictable name, because others may write to this folder.
  std::string temporary = fs::temp_directory_path(ignored) / "windtunnel-XXXXXX";
  const int there = mkstemp(temporary.data());
  if (there < 0 || ::close(there) != 0) return beside;
  return temporary;
}

}  // namespace

void SqliteFile::Close::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

SqliteFile::SqliteFile(const std::string& path) : path_(path), temporary_(workplace_of(path)) {
  sqlite3* database = nullptr;
  const int opened = sqlite3_open(temporary_.c_str(), &database);
  database_.reset(database);
  if (opened != SQLITE_OK) fail();
  // No journal and no syncs are needed, because nothing reads the file before it is complete.
  execute("PRAGMA journal_mode = OFF");
  execute("PRAGMA synchronous = OFF");
}

SqliteFile::~SqliteFile() {
  if (!database_) return;
  database_.reset();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void SqliteFile::fail() const {
  throw Error(Location{path_}, fmt::format("cannot write: {}", sqlite3_errmsg(database_.get())),
              ExitCode::failed);
}

void SqliteFile::execute(const std::string& statement) {
  if (sqlite3_exec(database_.get(), statement.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail();
  }
}

void SqliteFile::insert(const std::string& statement,
                        const std::vector<std::vector<SqlValue>>& rows) {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(database_.get(), statement.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
    fail();
  }
  const std::unique_ptr<sqlite3_stmt, Finalize> owner(prepared);
  execute("BEGIN");
  for (const std::vector<SqlValue>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (bind(prepared, static_cast<int>(i) + 1, row[i]) != SQLITE_OK) fail();
    }
    if (sqlite3_step(prepared) != SQLITE_DONE) fail();
    sqlite3_reset(prepared);
  }
  execute("COMMIT");
}

void SqliteFile::close() {
  if (sqlite3_close(database_.get()) != SQLITE_OK) fail();
  static_cast<void>(database_.release());
  put_in_place(temporary_, path_);
}

std::string sql_name(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace windtunnel
