// The evidence that a scenario names for its own numbers (`origins:`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/base/origin.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

struct Evidence {
  Origin origin = Origin::assumed;
  std::string source;
};

// Parses "published: arXiv 2407.21783 table 5" and the like. Throws Error at `where`.
Evidence parse_evidence(const std::string& text, const Location& where);

// Parses "measured", "published", "spec" or "assumed". Throws Error with the nearest name.
Origin parse_origin(const std::string& name, const Location& where);

class EvidenceList {
 public:
  // `origins` is the scenario's map of that name, or nullptr. Throws Error for a path that is not
  // in the field table or an evidence that cannot be read.
  explicit EvidenceList(const DocumentNode* origins);

  // Returns the evidence of the longest entry that equals `path` or a prefix of it. Without such an
  // entry the number is assumed.
  Evidence of(std::string_view path) const;

 private:
  struct Row {
    std::vector<std::string> pattern;
    Evidence evidence;
  };
  std::vector<Row> rows_;
};

}  // namespace windtunnel
