// Long work of the library, called from Python so that Ctrl-C ends it.
#pragma once

#include <functional>
#include <stop_token>

namespace windtunnel_python {

// Runs `work` on a new thread and waits for it with Python's lock released, so that the work can
// call Python functions. If a signal handler raises meanwhile (Ctrl-C), requests the work to stop,
// waits for it, and throws the handler's exception as pybind11::error_already_set. Exceptions of
// the work pass through.
void interruptible(const std::function<void(std::stop_token)>& work);

}  // namespace windtunnel_python
