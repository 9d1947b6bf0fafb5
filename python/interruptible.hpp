// Long work of the library, called from Python so that Ctrl-C ends it.
#pragma once

#include <functional>
#include <stop_token>

namespace windtunnel_python {

// Does `work` on a thread of its own and waits for it with Python's lock released, so that
// functions of the caller which it calls back can run. Where the caller is interrupted meanwhile
// (Ctrl-C, or any signal whose handler raises), asks the work to stop, waits for it and throws what
// was raised as pybind11::error_already_set. What the work throws passes through.
void interruptible(const std::function<void(std::stop_token)>& work);

}  // namespace windtunnel_python
