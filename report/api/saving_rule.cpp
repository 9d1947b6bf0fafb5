// Translates a caller's rule of when to save to the implementation.
#include <fmt/format.h>

#include <windtunnel/saving_rule.hpp>

#include "report/api/translation.hpp"

namespace windtunnel_api {

core::SavingRule saving_rule_of(const std::string& name, SavingRule rule) {
  if (!rule) throw core::Error(fmt::format("saving rule '{}' is empty", name));
  const auto every_s = [rule = std::move(rule)](const core::SavingMoment& moment) {
    return rule({.tier = moment.tier,
                 .trial = moment.trial,
                 .now_s = moment.now_s,
                 .training_s = moment.training_s,
                 .iteration = moment.iteration,
                 .iteration_s = moment.iteration_s,
                 .stall_s = moment.stall_s,
                 .complete_s = moment.complete_s,
                 .restore_s = moment.restore_s,
                 .failures = moment.failures,
                 .mtbf_s = moment.mtbf_s});
  };
  return {name, every_s};
}

}  // namespace windtunnel_api
