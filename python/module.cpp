// The public library for Python, with the values and functions of include/windtunnel. The package
// python/windtunnel/*.py adds what Python's users expect: dicts, DataFrames, values of any type.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <windtunnel/windtunnel.hpp>

#include "python/callback.hpp"
#include "python/interruptible.hpp"
#include "python/own_functions.hpp"

namespace py = pybind11;

namespace windtunnel_python {
namespace {

const char* name_of(windtunnel::Better better) {
  switch (better) {
    case windtunnel::Better::lower:
      return "lower";
    case windtunnel::Better::higher:
      return "higher";
    case windtunnel::Better::neither:
      break;
  }
  return "neither";
}

const char* name_of(windtunnel::Error::Cause cause) {
  switch (cause) {
    case windtunnel::Error::Cause::input:
      return "input";
    case windtunnel::Error::Cause::failed:
      return "failed";
    case windtunnel::Error::Cause::defect:
      break;
  }
  return "defect";
}

// Creates windtunnel.Error, whose attributes tell the place.
void bind_error(py::module_& module) {
  static py::handle type =
      py::exception<windtunnel::Error>(module, "Error", PyExc_ValueError).release();
  type.attr("__module__") = "windtunnel";
  type.attr("__doc__") =
      "What is wrong with a case, or why a simulation failed. Its attributes: ``text`` is the "
      "message without the place; ``file``, ``line``, ``column`` and ``key`` give the place as far "
      "as it is known; ``cause`` is \"input\", \"failed\" or \"defect\".";
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const windtunnel::Error& error) {
      py::object value = type(error.what());
      value.attr("text") = error.text();
      value.attr("file") = error.file();
      value.attr("line") = error.line();
      value.attr("column") = error.column();
      value.attr("key") = error.key();
      value.attr("cause") = name_of(error.cause());
      PyErr_SetObject(type.ptr(), value.ptr());
    }
  });
}

py::dict dict_of(const windtunnel::Figure& figure) {
  py::dict dict;
  dict["key"] = figure.key;
  dict["title"] = figure.title;
  dict["value"] = figure.value;
  dict["unit"] = figure.unit;
  dict["low"] = figure.interval ? py::object(py::float_(figure.interval->low)) : py::none();
  dict["high"] = figure.interval ? py::object(py::float_(figure.interval->high)) : py::none();
  dict["better"] = name_of(figure.better);
  dict["origin"] = figure.origin;
  dict["help"] = figure.help;
  return dict;
}

py::list list_of(const windtunnel::Figures& figures) {
  py::list list;
  for (const windtunnel::Figure& figure : figures) list.append(dict_of(figure));
  return list;
}

py::dict dict_of(const windtunnel::TimedTask& task) {
  py::dict dict;
  dict["name"] = task.name;
  dict["kind"] = task.kind;
  dict["stream"] = task.stream;
  dict["iteration"] = task.iteration;
  dict["stage"] = task.stage;
  dict["microbatch"] = task.microbatch;
  dict["start_s"] = task.start_s;
  dict["end_s"] = task.end_s;
  dict["bytes"] = task.bytes;
  dict["after"] = task.after;
  return dict;
}

py::list list_of(const std::vector<windtunnel::RankTimeline>& ranks) {
  py::list list;
  for (const windtunnel::RankTimeline& rank : ranks) {
    py::list tasks;
    for (const windtunnel::TimedTask& task : rank.tasks) tasks.append(dict_of(task));
    py::dict dict;
    dict["rank"] = rank.rank;
    dict["kind"] = rank.kind;
    dict["ranks"] = rank.ranks;
    dict["tasks"] = std::move(tasks);
    list.append(std::move(dict));
  }
  return list;
}

std::function<void(const std::string&)> told(const py::object& progress) {
  if (progress.is_none()) return {};
  return [function = shared(py::function(progress))](const std::string& step) {
    const py::gil_scoped_acquire acquired;
    (*function)(step);
  };
}

// Ctrl-C ends the simulation before its next step or trial.
windtunnel::Result simulate(const windtunnel::Case& the_case, int threads, bool allow_oom,
                            const py::object& progress) {
  windtunnel::SimulateOptions options{threads, allow_oom, told(progress)};
  std::optional<windtunnel::Result> result;
  interruptible([&](std::stop_token stop) {
    options.stop = std::move(stop);
    result = windtunnel::simulate(the_case, options);
  });
  return std::move(*result);
}

void sweep(const windtunnel::Case& the_case,
           const std::vector<std::pair<std::string, std::vector<std::string>>>& vary, int threads,
           const py::object& finished, const py::object& progress) {
  std::vector<windtunnel::Varied> varied;
  for (const auto& [key, values] : vary) varied.push_back({key, values});
  windtunnel::SweepOptions options;
  options.threads = threads;
  options.progress = told(progress);
  if (!finished.is_none()) {
    options.finished = [function =
                            shared(py::function(finished))](const windtunnel::SweepPoint& point) {
      const py::gil_scoped_acquire acquired;
      (*function)(point);
    };
  }
  interruptible([&](std::stop_token stop) {
    options.stop = std::move(stop);
    windtunnel::sweep(the_case, varied, options);
  });
}

void bind_case(py::module_& module) {
  using windtunnel::Case;
  py::class_<Case>(module, "Case")
      .def_static("from_file", &Case::from_file)
      .def_static("from_text", &Case::from_text)
      .def("with_value", [](Case copy, const std::string& key,
                            const std::string& value) { return copy.set(key, value); })
      .def("with_schedule",
           [](Case copy, const std::string& name, py::function generate, int chunks) {
             return copy.add_schedule(name, generator_of(name, std::move(generate)), chunks);
           })
      .def("with_compressor",
           [](Case copy, const std::string& name, py::function recipe,
              std::map<std::string, double> numbers, std::string feedback, bool summable,
              bool fusible, bool whole_tensors) {
             return copy.add_compressor(name, {.recipe = recipe_of(name, std::move(recipe)),
                                               .numbers = std::move(numbers),
                                               .feedback = std::move(feedback),
                                               .summable = summable,
                                               .fusible = fusible,
                                               .whole_tensors = whole_tensors});
           })
      .def("with_saving_rule",
           [](Case copy, const std::string& name, py::function rule) {
             return copy.add_saving_rule(name, rule_of(name, std::move(rule)));
           })
      .def("with_snapshots",
           [](Case copy, const std::string& name,
              const std::vector<windtunnel::SnapshotTier>& tiers) {
             return copy.add_snapshots(name, tiers);
           })
      .def("with_fabric",
           [](Case copy, const std::string& name, const std::vector<windtunnel::Setting>& keys) {
             return copy.add_fabric(name, keys);
           })
      .def("with_failure",
           [](Case copy, const std::string& name, const std::vector<windtunnel::Setting>& keys) {
             return copy.add_failure(name, keys);
           })
      .def("check", &Case::check, py::call_guard<py::gil_scoped_release>())
      .def("name", &Case::name, py::call_guard<py::gil_scoped_release>())
      .def("key", &Case::key, py::call_guard<py::gil_scoped_release>())
      .def("values", [](const Case& the_case) {
        std::vector<windtunnel::ResolvedValue> values;
        {
          const py::gil_scoped_release released;
          values = the_case.values();
        }
        py::list list;
        for (const windtunnel::ResolvedValue& value : values) {
          py::dict dict;
          dict["key"] = value.key;
          dict["value"] = value.value;
          dict["origin"] = value.origin;
          dict["source"] = value.source;
          dict["is_default"] = value.is_default;
          list.append(dict);
        }
        return list;
      });
}

void bind_results(py::module_& module) {
  py::class_<windtunnel::Result>(module, "Result")
      .def("json", &windtunnel::Result::json, py::call_guard<py::gil_scoped_release>())
      .def("page", &windtunnel::Result::page, py::call_guard<py::gil_scoped_release>())
      .def("timeline", [](const windtunnel::Result& result) { return list_of(result.timeline()); })
      .def("figures", [](const windtunnel::Result& result) { return list_of(result.figures()); });
  py::class_<windtunnel::SweepPoint>(module, "SweepPoint")
      .def_readonly("index", &windtunnel::SweepPoint::index)
      .def_readonly("set", &windtunnel::SweepPoint::set)
      .def_readonly("reason", &windtunnel::SweepPoint::reason)
      .def("figures", [](const windtunnel::SweepPoint& point) { return list_of(point.figures); });
}

}  // namespace

PYBIND11_MODULE(_windtunnel, module) {
  bind_error(module);
  bind_schedule(module);
  bind_compressor(module);
  bind_saving_rule(module);
  bind_case(module);
  bind_results(module);
  module.def("simulate", &simulate);
  module.def("sweep", &sweep);
  module.def("names", &windtunnel::names, py::arg("key"),
             "The possible values of a key that takes names: ``names(\"schedule\")``. Empty for a "
             "key that takes other values; raises :class:`windtunnel.Error` for an unknown key.");
  module.def("version", &windtunnel::version, "The version and commit of this build.");
  constexpr const char* kKeysHelp =
      "All keys of a scenario, in order: ``path`` (``*`` for the index in a list), ``default``, "
      "``help``.";
  const auto all_keys = [] {
    py::list list;
    for (const windtunnel::Key& key : windtunnel::keys()) {
      py::dict dict;
      dict["path"] = key.path;
      dict["default"] = key.default_value;
      dict["help"] = key.help;
      list.append(dict);
    }
    return list;
  };
  module.def("keys", all_keys, kKeysHelp);
}

}  // namespace windtunnel_python
