// Ends that people ask for while long work runs.
#pragma once

#include <atomic>
#include <csignal>

namespace windtunnel {

// While it lives, a first SIGINT or SIGTERM asks for an end; a second one ends the process.
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
