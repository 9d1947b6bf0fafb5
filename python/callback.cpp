#include "python/callback.hpp"

namespace py = pybind11;

namespace windtunnel_python {

std::shared_ptr<py::function> shared(py::function function) {
  return {new py::function(std::move(function)), [](py::function* kept) {
            const py::gil_scoped_acquire acquired;
            delete kept;
          }};
}

void add_note(py::error_already_set& error, const std::string& what) {
  if (py::hasattr(error.value(), "add_note")) error.value().attr("add_note")("in " + what);
}

void fail_returned(const std::string& what, const std::string& due, const py::object& returned) {
  throw py::type_error(what + " must return " + due + ", not " +
                       py::repr(returned).cast<std::string>().substr(0, 80));
}

}  // namespace windtunnel_python
