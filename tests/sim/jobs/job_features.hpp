// Features of a job as data (features.yaml), and what comes of putting some of them into one job.
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
  Overrides keys;               // that switch it on
  std::vector<std::string> no;  // keys of the job that it takes out
};

// Keys of a job that has all of these features, which need other sizes together than each alone.
struct SizesTogether {
  std::vector<std::size_t> of;
  Overrides keys;
};

struct FeatureList {
  Overrides job;
  std::vector<JobFeature> features;
  std::vector<SizesTogether> sizes;
  std::vector<std::array<std::size_t, 2>> wanted;  // pairs that people ask for, by index

  std::size_t index_of(const std::string& name) const;  // CHECKs that there is one
};
const FeatureList& job_features();

enum class Together {
  works,
  refused,
  no_job,  // gives one key two values
};

struct Combination {
  Together together = Together::works;
  std::set<std::string> keys;       // that two features say differently
  const Conflict* row = nullptr;    // that refuses it; null: another check does
  std::string why;                  // the message that refuses it, without its place
  std::vector<std::string> broken;  // invariants of its results
};

// The keys that two of them say differently. Empty: they can be put into one job.
std::set<std::string> said_twice(std::span<const std::size_t> features);
// The job that has them all, as a scenario.
RandomJob job_with(std::span<const std::size_t> features);
// Runs it, with its campaign where it has one.
Combination combine(std::span<const std::size_t> features);

// The row of policies/conflicts that a message comes from; null: from none.
const Conflict* row_of(const Error& error);

}  // namespace windtunnel
