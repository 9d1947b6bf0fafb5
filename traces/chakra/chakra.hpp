// Writes a Plan as MLCommons Chakra execution traces and reads it back: one file NAME.RANK.et per
// rank, or one per class. Plan -> files -> Plan gives the same value, and readers such as ASTRA-sim
// see a plain trace. Foreign traces can be read too. docs/reference/chakra.md describes how a task
// is represented, our own attributes, and the assumptions about foreign traces.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/plan/plan.hpp"
#include "traces/chakra/rank_plan.hpp"

namespace windtunnel {

enum class ChakraRanks { all, one_per_class };

// The files of a Plan, which is kept by reference and must satisfy validate_plan(). Ranks of a
// class differ only in their groups and peers. Its first rank with a table of all members (one file
// per class) is therefore enough to read the Plan back; other readers need all ranks.
class ChakraExport {
 public:
  // `scenario` describes the Plan's origin, "key: value" each.
  ChakraExport(const Plan& plan, ChakraRanks ranks, std::vector<std::string> scenario = {});

  int files() const { return static_cast<int>(parts_.size()); }
  RankId rank(int file) const;          // the rank of the file; ascending
  std::string content(int file) const;  // the bytes of the file
  // As content(), into a string that is used again for each file, so that it grows once.
  void put_content(int file, std::string& bytes) const;

  // A node's bytes before and behind the attributes that differ among members of a class. `behind`
  // holds for every member whose group of this task has `members` ranks.
  struct NodeBytes {
    std::string before, behind;
    std::size_t members = 0;
  };

 private:
  struct Part {
    std::int32_t rank_class = 0;
    std::int32_t first = 0;  // members of the class in the file
    std::int32_t count = 0;
  };

  const Plan& plan_;
  const std::vector<std::string> scenario_;
  std::vector<Part> parts_;
  std::vector<std::vector<Counterpart>> partners_;
  std::vector<std::vector<std::int32_t>> groups_of_rank_;
  std::vector<std::vector<NodeBytes>> nodes_;  // [class][task]; empty: the class is in one file
};

// Called with the number of files read and the total.
using ChakraProgress = std::function<void(size_t done, size_t all)>;

// The Plan satisfies validate_plan(); equal ranks are one class (in a foreign trace only ranks that
// neither send nor receive). `check_ranks` is called as soon as the number of ranks is known, and
// throws if there are too many. Throws Error that names the file and the byte, the node or the
// rank.
RankPlan read_chakra(std::vector<std::string> files, const ChakraProgress& progress = {},
                     const RanksCheck& check_ranks = {});

// Whether a JSON file begins like a Chakra trace.
bool is_chakra_json(const std::string& path);

// The files NAME.RANK.et, or .json, of a folder by rank. Throws Error if there are none, or several
// NAMEs.
std::vector<std::string> chakra_files(const std::string& folder);

}  // namespace windtunnel
