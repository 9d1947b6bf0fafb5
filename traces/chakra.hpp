// A Plan as MLCommons Chakra execution traces and back: one file NAME.RANK.et per rank, or one per
// class. Plan -> files -> Plan gives the same value; readers such as ASTRA-sim find a plain trace.
//
// Messages and fields: chakra_wire.hpp. Attribute names: the feeder of mlcommons/chakra
// (src/feeder/et_feeder_node.cpp, 02da5d0) and ASTRA-sim (astra-sim/workload/Workload.cc, 0383c20).
//
//   task                node
//   compute, encode     COMP_NODE, is_cpu_op = false
//   send, recv          COMM_SEND_NODE, COMM_RECV_NODE with comm_src, comm_dst, comm_tag, comm_size
//   collective          COMM_COLL_NODE with comm_type, comm_size, pg_name. comm_size is the buffer
//                       that a rank hands in: for a gather its share of Task::bytes
//   copy, store         MEM_STORE_NODE (MEM_LOAD_NODE towards the GPU) with tensor_size
//   after               data_deps; ctrl_deps name the task before on a stream in order
//   cost                duration_micros, rounded
//   groups of the rank  one METADATA_NODE as PyTorch writes process groups: a JSON list of
//                       pg_name, pg_desc (the axis), ranks (none: all). pg_name is the index in
//                       Plan::groups plus 1, because ASTRA-sim takes "0" for all ranks
//
// What these do not say stands in attributes "windtunnel.FIELD" after the names of Task
// (visit_task_fields in chakra_fields.hpp), written only where they differ from what a reader of
// the standard fields would take; what belongs to the class, in attributes of the GlobalMetadata.
//
// A foreign trace, one without those, is read with these assumptions:
// - Its rank is in its name, NAME.RANK.et; the ranks are 0 .. n-1 and rank r runs on GPU r.
// - A node starts when its data_deps and ctrl_deps have ended. Work on the CPU, compute, memory,
//   storage and sends have a stream each, which takes of what is ready the first in the file;
//   collectives have one per process group, in order; receives wait beside all others.
// - Compute, storage and memory nodes take duration_micros, charged to forward (nothing says what
//   for) with origin assumed; a memory node without a duration moves tensor_size over PCIe.
// - Sends and collectives take what the network gives them, as flows; durations of those in the
//   trace hold the wait for the others and are not used. add_latencies() adds launch and steps.
// - A group has the ranks that a METADATA_NODE lists, or else those whose files name it; without
//   pg_name it is all ranks that name none. A barrier is an all-reduce of nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/calibration.hpp"
#include "models/cluster.hpp"
#include "models/plan.hpp"

namespace windtunnel {

enum class ChakraRanks { all, one_per_class };

// The files of a Plan, which is kept by reference and satisfies validate_plan. The ranks of a class
// differ in their groups and peers only, so its first rank with the table of all members (one per
// class) is enough to read it back; other readers want all ranks.
class ChakraExport {
 public:
  ChakraExport(const Plan& plan, ChakraRanks ranks);

  int files() const { return static_cast<int>(parts_.size()); }
  RankId rank(int file) const;          // whose trace it is; ascending
  std::string content(int file) const;  // its bytes

 private:
  struct Part {
    std::int32_t rank_class = 0;
    std::int32_t first = 0;  // members of the class that the file stands for
    std::int32_t count = 0;
  };

  const Plan& plan_;
  std::vector<Part> parts_;
  std::vector<std::vector<Counterpart>> partners_;
  std::vector<std::vector<std::int32_t>> groups_of_rank_;
};

struct ChakraImport {
  Plan plan;
  bool foreign = false;  // no file has our attributes
};

// Called with the number of files read and that of all.
using ChakraProgress = std::function<void(size_t done, size_t all)>;

// The Plan satisfies validate_plan; equal ranks are one class (of a foreign trace those that
// neither send nor receive). Throws Error that names the file and the byte, the node or the rank.
ChakraImport read_chakra(std::vector<std::string> files, const ChakraProgress& progress = {});

// The files NAME.RANK.et of a folder by rank. Throws Error when there is none or when they have
// several NAMEs.
std::vector<std::string> chakra_files(const std::string& folder);

// Gives sends and collectives without a cost, as those of foreign traces are, the latency that they
// have on this machine.
void add_latencies(Plan& plan, const Cluster& cluster, const Calibration& calibration);

}  // namespace windtunnel
