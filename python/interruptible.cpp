#include "python/interruptible.hpp"

#include <pybind11/pybind11.h>

#include <chrono>
#include <future>
#include <thread>

namespace windtunnel_python {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);  // between two looks for a signal

}  // namespace

void interruptible(const std::function<void(std::stop_token)>& work) {
  std::stop_source stop;
  std::packaged_task<void()> task([&] { work(stop.get_token()); });
  std::future<void> done = task.get_future();
  bool interrupted = false;
  {
    const pybind11::gil_scoped_release released;
    const std::jthread thread(std::move(task));
    while (done.wait_for(kLook) != std::future_status::ready) {
      if (interrupted) continue;
      const pybind11::gil_scoped_acquire acquired;
      interrupted = PyErr_CheckSignals() != 0;
      if (interrupted) stop.request_stop();
    }
  }
  // The signal handler's exception is set in this thread and replaces the result of the work.
  if (interrupted) throw pybind11::error_already_set();
  done.get();
}

}  // namespace windtunnel_python
