// A function run in a forked child, its result sent back through a pipe.
#pragma once

#include <functional>
#include <string>

namespace windtunnel {

// The bytes that `body` returned in the child. What it threw is thrown again here: Error with its
// exit code, InternalError, anything else as InternalError with its text. Throws Error (exit code
// failed) that names the signal when the child died.
std::string run_in_child(const std::function<std::string()>& body);

}  // namespace windtunnel
