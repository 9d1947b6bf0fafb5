// Applies the training software that a scenario names (`software: NAME`): the keys that
// scenarios/library/software.yaml sets for it are added to the scenario, except those that the
// scenario states itself.
#pragma once

#include <functional>
#include <string_view>

#include "models/plan/job.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// Whether the user stated the key, a synonym of it, or a key that goes with it, so that a choice
// must not set it. `stated` tells whether a key is stated.
bool states_choice(std::string_view key, const std::function<bool(std::string_view)>& stated);

// Whether the key describes a transformer, and so does not apply to a table of layers.
bool is_of_transformer(std::string_view key);

// Adds to `scenario` what its software sets, and returns the values of the result. `check` is
// check_values(); `resolve` makes the parts of a Job from values, for conditions about the job.
Values with_named_software(DocumentNode& scenario,
                           const std::function<Values(const DocumentNode&)>& check,
                           const std::function<Job(const Values&)>& resolve);

}  // namespace windtunnel
