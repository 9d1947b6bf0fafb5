// Between the public types of include/windtunnel and those of the implementation, which both say
// Case, Error and Schedule: `core` is the implementation.
#pragma once

#include <optional>
#include <utility>
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
  std::shared_ptr<core::Additions> added;  // null: nothing; never changed where it is shared
  bool file_was_read = false;              // which may be the configuration of a training program
};

// What is simulated: of the configuration of a training program the scenario that it becomes.
Case::State as_scenario(const Case& the_case);

core::Case resolved(const Case& the_case);

core::ScheduleKind schedule_kind_of(const std::string& name, ScheduleGenerator generate,
                                    int chunks);

// Throws core::Error for numbers and a feedback that there are not.
core::CompressorKind compressor_kind_of(const std::string& name, Compressor compressor);

core::SavingRule saving_rule_of(const std::string& name, SavingRule rule);

// The figures of what a record has: a sweep's point knows its iteration and campaign only.
Figures figures_of(const core::Record& record);

// With the key that stands at the error's place in the case's text, or was set or varied over it.
Error public_error(const core::Error& error, const Case::State& state,
                   const core::Overrides& varied = {});
Error public_error(const core::InternalError& error);

// What `work` returns; what it throws as the public Error. `varied`: what a sweep sets at any of
// its points.
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
