// The task list of one rank from a trace, or of all ranks of its file. Readers of Chakra's files
// and of profiles make it, and rank_plan.hpp joins these lists to a Plan.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/plan/plan.hpp"

namespace windtunnel {

inline constexpr RankId kMostRanks = 10'000'000;  // of a job

struct ProcessGroup {
  std::string name;
  std::string axis;           // pg_desc
  std::vector<RankId> ranks;  // empty: all ranks
  std::uint64_t all = 0;      // the number of ranks if `ranks` is empty; 0: not known
  bool operator==(const ProcessGroup&) const = default;
};

struct RankTrace {
  std::string file;
  bool own = false;  // has our attributes
  // In the whole Plan; 0: not in the file.
  int ranks = 0;
  // Position in the Plan, which only our own files state.
  int iterations = 1;
  int in_step = 1;
  std::vector<UnevenExchange> exchanges;
  std::vector<std::string> scenario;
  std::int32_t class_index = 0;
  std::int32_t first_member = 0;
  // Group numbers are indices into Plan::groups in our own files, and into group_names in others.
  RankClass rank_class;
  std::vector<std::string> group_names;
  std::vector<ProcessGroup> declared;
  std::int64_t absent_deps = 0;  // on nodes that are missing in the file; ignored
  std::int64_t untimed = 0;      // compute nodes of the GPU without a duration; they take no time
};

// Reads one Chakra file into the task list of its rank or ranks.

// Throws Error that names file and byte.
RankTrace read_chakra_rank(const std::string& path);

// The RANK of NAME.RANK.et; -1 for a name of another form.
RankId rank_of_name(const std::string& path);

// Assigns streams and slots of a Plan to the nodes of a foreign trace: work on the CPU, compute,
// memory, storage and sends have a stream each, and collectives one per process group.

// A node as its standard fields describe it. Fields that they leave open are those of a new Task.
struct StandardNode {
  Task task;
  std::string group;       // pg_name
  std::int64_t peer = -1;  // comm_dst of a send, comm_src of a receive
  bool on_cpu = false;
  std::string storage = "storage";  // the stream of a store
};

class ForeignTasks {
 public:
  // Appends tasks to `rank`, which must outlive this object.
  explicit ForeignTasks(RankTrace& rank) : rank_(rank) {}

  // Throws Error without a location.
  void append(StandardNode node, std::vector<TaskIndex> after);

 private:
  std::int16_t stream(const std::string& name, StreamOrder order);
  std::int16_t peer_slot(std::int64_t peer, const char* missing);
  std::int16_t group_slot(const std::string& name);

  RankTrace& rank_;
  std::map<std::string, std::int16_t> streams_;
  std::map<std::int64_t, std::int16_t> peers_;
  std::map<std::string, std::int16_t> groups_;
  std::vector<std::int32_t> next_sequence_;
};

}  // namespace windtunnel
