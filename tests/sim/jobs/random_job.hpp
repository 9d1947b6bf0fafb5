// These jobs are composed of any keys of the field table.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "models/base/error.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

// A short scenario of one of several kinds (transformer, table of layers, unlike nodes, islands,
// unequal lengths, work in idle time, power, state beside the GPU) gets up to six keys of the field
// table, each with a value that its row allows. A key that is added to the table is drawn without a
// change here. Many jobs are refused, and the refusal must name a key.
struct RandomJob {
  std::string text;
  Overrides set;

  // Returns the command line that runs the job, to investigate a failure.
  std::string to_string() const;
};
RandomJob random_job_of_keys(std::uint64_t number);

// Returns the job with each key that is accepted together with those before it. `refused` gets the
// refusals of the others.
RandomJob accepted(const RandomJob& job, const std::string& file,
                   const std::function<void(const Error&)>& refused = {});

// Makes failures so frequent that in two days most trials have some of each class.
void make_campaign_eventful(Job& job);

}  // namespace windtunnel
