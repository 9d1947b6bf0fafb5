// The training software that a scenario names (`software: NAME`), as keys of the scenario: what
// scenarios/library/software.yaml says that it sets goes into the text as if it stood there, but
// where the scenario states something itself.
#pragma once

#include <functional>
#include <string_view>

#include "models/plan/job.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// Whether somebody stated what a choice says by `key`: the key itself, another name of it, or what
// goes with it, each of which `stated` tells.
bool states_choice(std::string_view key, const std::function<bool(std::string_view)>& stated);

// Whether the key is one of a transformer, which a table of layers has not.
bool is_of_transformer(std::string_view key);

// The values of `scenario` with what its software sets, which is then in `scenario` too. `check` is
// check_values() of it, `resolve` the parts of a Job of such values, which conditions are about.
Values with_named_software(DocumentNode& scenario,
                           const std::function<Values(const DocumentNode&)>& check,
                           const std::function<Job(const Values&)>& resolve);

}  // namespace windtunnel
