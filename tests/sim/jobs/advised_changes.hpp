// Advice in a refusal is read as changes that can be applied to the refused job.
#pragma once

#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "tests/sim/jobs/random_job.hpp"

namespace windtunnel {

// The refused job with one of the changes that the refusal advises.
struct AdvisedJob {
  std::string change;  // "layout.pp=1"
  RandomJob job;
};

// Reads advice such as "take none or bucketed", "set layout.pp: 1", "leave it out", "raise
// batch.micro", and returns the job with each value that it names. The result is empty if the
// refusal advises nothing in such words.
std::vector<AdvisedJob> advised_jobs(const RandomJob& refused, const Error& error);

// Returns the part of the text that gives advice, or "" if there is none.
std::string advice_of(const Error& error);

// Returns the refusal without numbers and names, which is the same for all jobs with that refusal.
std::string refusal_kind(const Error& error);

}  // namespace windtunnel
