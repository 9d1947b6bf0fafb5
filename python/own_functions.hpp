// Python functions that a caller supplies: schedules, compressors, rules of when to save.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <windtunnel/windtunnel.hpp>

namespace windtunnel_python {

// These register the types that the Python functions take and return.
void bind_schedule(pybind11::module_& module);
void bind_compressor(pybind11::module_& module);
void bind_saving_rule(pybind11::module_& module);

// They throw what the function raises, and a TypeError for a result of another type.
windtunnel::ScheduleGenerator generator_of(const std::string& name, pybind11::function generate);
std::function<windtunnel::Recipe(const windtunnel::CompressorRequest&)> recipe_of(
    const std::string& name, pybind11::function recipe);
windtunnel::SavingRule rule_of(const std::string& name, pybind11::function rule);

}  // namespace windtunnel_python
