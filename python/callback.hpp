// Calls of Python functions by the library, from the library's own threads.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>

namespace windtunnel_python {

// The pointer's deleter takes Python's lock, which is required to release a function object.
std::shared_ptr<pybind11::function> shared(pybind11::function function);

// Adds a note to an exception of the function, which says where it was called (Python 3.11).
void add_note(pybind11::error_already_set& error, const std::string& what);

// The caller must hold Python's lock. `what`: "compressor 'mine'".
template <class Argument>
pybind11::object call(const std::string& what, const pybind11::function& function,
                      const Argument& argument) {
  try {
    return function(argument);
  } catch (pybind11::error_already_set& error) {
    add_note(error, what);
    throw;
  }
}

// "x must return ..., not None"
[[noreturn]] void fail_returned(const std::string& what, const std::string& due,
                                const pybind11::object& returned);

}  // namespace windtunnel_python
