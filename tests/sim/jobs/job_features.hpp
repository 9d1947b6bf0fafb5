// Features of a job are listed in features.yaml; combine() runs a job with several of them.
#pragma once

#include <array>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "policies/conflicts/conflict.hpp"
#include "scenarios/language/case.hpp"
#include "tests/sim/jobs/random_job.hpp"

namespace windtunnel {

struct JobFeature {
  std::string name;
  Overrides keys;               // keys that switch the feature on
  std::vector<std::string> no;  // keys of the base job that it removes
};

// Keys of a job with all of these features, if together they need other sizes than each alone.
struct SizesTogether {
  std::vector<std::size_t> of;
  Overrides keys;
};

struct FeatureList {
  Overrides job;
  std::vector<JobFeature> features;
  std::vector<SizesTogether> sizes;
  std::vector<std::array<std::size_t, 2>> wanted;  // pairs that users ask for, by index

  std::size_t index_of(const std::string& name) const;  // CHECKs that the name exists
};
const FeatureList& job_features();

enum class Together {
  works,
  refused,
  no_job,  // features set a key to two values
};

struct Combination {
  Together together = Together::works;
  std::set<std::string> keys;       // keys that two features set differently
  const Conflict* row = nullptr;    // the row that refuses it; null: another check does
  std::string why;                  // the refusal, without its place
  std::vector<std::string> broken;  // broken invariants of the results
};

// Returns the keys that two of the features set differently; if empty, they fit into one job.
std::set<std::string> said_twice(std::span<const std::size_t> features);
// Returns the job with all of the features, as a scenario.
RandomJob job_with(std::span<const std::size_t> features);
// Runs the job, and its campaign if it has one.
Combination combine(std::span<const std::size_t> features);

// Returns the row of policies/conflicts that a message comes from, or null.
const Conflict* row_of(const Error& error);

}  // namespace windtunnel
