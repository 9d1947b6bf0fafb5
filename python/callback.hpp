// Functions of Python's that the library calls, from threads of its own.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>

namespace windtunnel_python {

// A function object must be released with Python's lock held, which the pointer's deleter sees to.
std::shared_ptr<pybind11::function> shared(pybind11::function function);

// What is raised passes through, with a note that says where it was called (Python 3.11).
void add_note(pybind11::error_already_set& error, const std::string& what);

// Holds Python's lock; `what`: "compressor 'mine'".
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
