// Translates between the public types of include/windtunnel and the implementation's types. Both
// have a Case, Error and Schedule; `core` is the implementation.
#pragma once

#include <windtunnel/windtunnel.hpp>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/reliability/saving_rule.hpp"
#include "models/results/record.hpp"
#include "scenarios/language/additions.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel_api {

namespace core = ::windtunnel;

struct Case::State {
  std::string file;
  std::string text;
  core::Overrides set;
  std::shared_ptr<const core::Additions> added;  // null: nothing
  bool file_was_read = false;  // the file may be a training program's configuration
};

// The scenario to simulate; a training program's configuration is imported.
Case::State as_scenario(const Case& the_case);

core::Case resolved(const Case& the_case);

core::ScheduleKind schedule_kind_of(const std::string& name, ScheduleGenerator generate,
                                    int chunks);

// Throws core::Error for numbers out of range and an unknown feedback.
core::CompressorKind compressor_kind_of(const std::string& name, Compressor compressor);

core::SavingRule saving_rule_of(const std::string& name, SavingRule rule);

// The figures that a record has: a point of a sweep has only iteration and campaign.
Figures figures_of(const core::Record& record);

// Adds the key at the error's place in the case's text, or the key that was set or varied.
Error public_error(const core::Error& error, const Case::State& state,
                   const core::Overrides& varied = {});
Error public_error(const core::InternalError& error);

// Returns the result of `work`, and throws its errors as the public Error. `varied` are the values
// that a sweep sets at any of its points.
template <class Work>
auto translated(const Case::State& state, Work work, const core::Overrides& varied = {}) {
  try {
    return work();
  } catch (const core::Error& error) {
    throw public_error(error, state, varied);
  } catch (const core::InternalError& error) {
    throw public_error(error);
  }
}

}  // namespace windtunnel_api
