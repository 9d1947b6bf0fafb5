// One point to simulate: a scenario with its --set and --vary values applied and every name
// resolved against the library.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/plan/job.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {

// One resolved value for --explain.
struct ResolvedValue {
  std::string key;    // "cluster.fabric.pod_oversubscription"
  std::string value;  // as text with its unit
  bool is_default = false;
  Origin origin = Origin::assumed;
  std::string source;
  std::optional<double> number = {};  // exactly, in base units; of a word there is none
  Dimension dimension = Dimension::number;
  Scope scope = Scope::iteration;
};

struct Case {
  std::string scenario;  // its `name`
  std::string key;       // stable: hash of the resolved values
  std::string table;     // the same of those that decide its iterations, but not its campaign
  std::map<std::string, std::string> set;  // overrides applied
  Job job;
  // prepare_iteration() of the job; null: of a Case that was not read from a scenario.
  std::shared_ptr<const PreparedIteration> prepared = nullptr;
  std::vector<ResolvedValue> values = {};
};

using Overrides = std::vector<std::pair<std::string, std::string>>;  // KEY, YAML value

struct Additions;  // scenarios/language/additions.hpp

// Reads, checks and resolves. Throws Error with file:line:column. Overrides are reported with the
// location "--set KEY=VALUE".
Case load_case(const std::string& path, const Overrides& overrides = {});
// The same from text; `file` is the name used in messages, `added` what the calling program brings.
Case parse_case(const std::string& text, const std::string& file, const Overrides& overrides = {},
                const std::shared_ptr<const Additions>& added = nullptr,
                const Prepare& prepare = {});

}  // namespace windtunnel
