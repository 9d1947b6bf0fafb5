// The exception of this library: every function may throw it, and no other of the library's own.
// Exceptions of the caller's functions (schedules, callbacks) pass through unchanged, as do those
// of the system: std::bad_alloc, and std::system_error if no thread can be started.
#pragma once

#include <stdexcept>
#include <string>
#include <windtunnel/export.hpp>

namespace windtunnel_api {

class WINDTUNNEL_API Error : public std::runtime_error {
 public:
  enum class Cause {
    input,   // the scenario, a value or a name is wrong
    failed,  // the job does not fit in memory, or the simulation was stopped
    defect,  // a fault of this library: please report it
  };

  // What is known about the place of the fault; empty or 0: unknown. Lines and columns count from
  // 1.
  struct Place {
    std::string file = {};
    int line = 0;
    int column = 0;
    std::string key = {};  // of the scenario: "layout.tp"
  };

  // what() is "FILE:LINE:COLUMN: TEXT"; for a value set by the program, "KEY: TEXT".
  Error(std::string text, Place place, Cause cause);
  ~Error() override;

  const std::string& text() const { return text_; }
  const std::string& file() const { return place_.file; }
  int line() const { return place_.line; }
  int column() const { return place_.column; }
  const std::string& key() const { return place_.key; }
  Cause cause() const { return cause_; }

 private:
  std::string text_;
  Place place_;
  Cause cause_;
};

}  // namespace windtunnel_api
