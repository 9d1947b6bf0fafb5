// Runs a function in a forked child and returns its result through a pipe.
#pragma once

#include <functional>
#include <string>

namespace windtunnel {

// Returns the bytes that `body` returned in the child. Its exceptions are rethrown here: Error with
// its exit code, InternalError, anything else as InternalError with its text. Throws Error (exit
// code failed) that names the signal if the child died.
std::string run_in_child(const std::function<std::string()>& body);

}  // namespace windtunnel
