// Lets the user end long work early.
#pragma once

#include <atomic>
#include <csignal>

namespace windtunnel {

// While the object exists, the first SIGINT or SIGTERM requests an end; the second ends the
// process.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static const std::atomic<bool>& asked();

 private:
  struct sigaction old_interrupt_ = {};
  struct sigaction old_terminate_ = {};
};

}  // namespace windtunnel
