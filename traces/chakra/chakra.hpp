// A Plan as MLCommons Chakra execution traces and back: one file NAME.RANK.et per rank, or one per
// class. Plan -> files -> Plan gives the same value, and readers such as ASTRA-sim find a plain
// trace. Foreign traces are read too. docs/reference/chakra.md says what a task is in a trace,
// which attributes are ours, and what is assumed of foreign traces.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/plan/plan.hpp"

namespace windtunnel {

enum class ChakraRanks { all, one_per_class };

// The files of a Plan, which is kept by reference and satisfies validate_plan. The ranks of a class
// differ in their groups and peers only, so its first rank with the table of all members (one per
// class) is enough to read it back; other readers want all ranks.
class ChakraExport {
 public:
  // `scenario`: what the Plan was made from, "key: value" each.
  ChakraExport(const Plan& plan, ChakraRanks ranks, std::vector<std::string> scenario = {});

  int files() const { return static_cast<int>(parts_.size()); }
  RankId rank(int file) const;          // whose trace it is; ascending
  std::string content(int file) const;  // its bytes
  // The same in a string that may have held another file: of thousands it grows once.
  void put_content(int file, std::string& bytes) const;

 private:
  struct Part {
    std::int32_t rank_class = 0;
    std::int32_t first = 0;  // members of the class that the file stands for
    std::int32_t count = 0;
  };

  const Plan& plan_;
  const std::vector<std::string> scenario_;
  std::vector<Part> parts_;
  std::vector<std::vector<Counterpart>> partners_;
  std::vector<std::vector<std::int32_t>> groups_of_rank_;
};

struct ChakraImport {
  Plan plan;
  bool foreign = false;               // no file has our attributes
  std::vector<std::string> scenario;  // as it was exported; empty: not known
  int captured = 0;              // ranks with a trace of their own; the others run as the first
  std::int64_t absent_deps = 0;  // on nodes that are not in their file, which hold nothing up
  std::int64_t untimed = 0;      // compute nodes of GPUs without a duration, which take none
};

// Called with the number of files read and that of all.
using ChakraProgress = std::function<void(size_t done, size_t all)>;

// The Plan satisfies validate_plan; equal ranks are one class (of a foreign trace those that
// neither send nor receive). `check_ranks` is called once it is known how many ranks there are, and
// throws where that is too many. Throws Error that names the file and the byte, the node or the
// rank.
ChakraImport read_chakra(std::vector<std::string> files, const ChakraProgress& progress = {},
                         const std::function<void(int ranks)>& check_ranks = {});

// Whether the file begins as a Chakra trace in JSON, and not as the JSON of something else.
bool is_chakra_json(const std::string& path);

// The files NAME.RANK.et, or .json, of a folder by rank. Throws Error when there is none or when
// they have several NAMEs.
std::vector<std::string> chakra_files(const std::string& folder);

}  // namespace windtunnel
