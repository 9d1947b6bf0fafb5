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

// Encodes a Plan as files. It keeps a reference to the Plan, which must satisfy validate_plan().
// The ranks of a class differ only in their groups and peers, so one file with a table of all
// members is enough to read the class back. Other readers need the files of all ranks.
class ChakraExport {
 public:
  // `scenario` says where the Plan comes from, each line as "key: value".
  ChakraExport(const Plan& plan, ChakraRanks ranks, std::vector<std::string> scenario = {});

  int files() const { return static_cast<int>(parts_.size()); }
  RankId rank(int file) const;          // the rank of the file; ascending
  std::string content(int file) const;  // the bytes of the file
  // Writes content() into a string whose memory the caller reuses for the next file.
  void put_content(int file, std::string& bytes) const;

  // These are a node's bytes before and behind the attributes that differ among the members of a
  // class. `behind` is the same for every member whose group of this task has `members` ranks.
  struct NodeBytes {
    std::string before, behind;
    std::size_t members = 0;
  };

 private:
  struct Part {
    std::int32_t rank_class = 0;
    std::int32_t first = 0;  // index of the file's first rank among the class's members
    std::int32_t count = 0;
  };

  const Plan& plan_;
  const std::vector<std::string> scenario_;
  std::vector<Part> parts_;
  std::vector<std::vector<Counterpart>> partners_;
  std::vector<std::vector<std::int32_t>> groups_of_rank_;
  std::vector<std::vector<NodeBytes>> nodes_;  // [class][task]; empty if the class is in one file
};

// Called with the number of files read and the total.
using ChakraProgress = std::function<void(size_t done, size_t all)>;

// Reads a Plan that satisfies validate_plan(). Equal ranks become one class; in a foreign trace,
// only equal ranks that neither send nor receive. `check_ranks` is called as soon as the number of
// ranks is known, and throws if there are too many. Throws Error that names the file and the byte,
// the node or the rank.
RankPlan read_chakra(std::vector<std::string> files, const ChakraProgress& progress = {},
                     const RanksCheck& check_ranks = {});

// Whether a JSON file begins like a Chakra trace.
bool is_chakra_json(const std::string& path);

// Returns the files NAME.RANK.et (or .json) of a folder, in ascending order of rank. Throws Error
// if there is none, or if the files have several NAMEs.
std::vector<std::string> chakra_files(const std::string& folder);

}  // namespace windtunnel
