// What a refusal advises, as changes that can be applied to the job it refuses.
#pragma once

#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "tests/sim/jobs/random_job.hpp"

namespace windtunnel {

// A job as it would be with one of the changes that a refusal names.
struct AdvisedJob {
  std::string change;  // "layout.pp=1"
  RandomJob job;
};

// "take none or bucketed", "set layout.pp: 1", "leave it out", "raise batch.micro": each value that
// is named, in the message's own words, on top of the job. Empty where the refusal advises nothing
// that such words say.
std::vector<AdvisedJob> advised_jobs(const RandomJob& refused, const Error& error);

// The part of the text that advises; empty: none does.
std::string advice_of(const Error& error);

// The refusal without numbers and names: the same for all jobs that it is said of.
std::string refusal_kind(const Error& error);

}  // namespace windtunnel
