// A RankTrace is the task list of one rank, or of all ranks that one file describes. Readers of
// Chakra's files and of profiles make it, and rank_plan.hpp joins these lists to a Plan.
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
  // This is the number of ranks of the whole Plan; 0 if the file does not state it.
  int ranks = 0;
  // Only our own files state the following properties of the Plan and of the class in it.
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
  std::int64_t absent_deps = 0;  // dependencies on nodes that the file lacks; ignored
  std::int64_t untimed = 0;      // compute nodes of the GPU without a duration; they take no time
};

// Reads one Chakra file. Throws Error that names the file and the byte.
RankTrace read_chakra_rank(const std::string& path);

// Returns the RANK of NAME.RANK.et; -1 for a name of another form.
RankId rank_of_name(const std::string& path);

// A node as its standard fields describe it. Fields that the node leaves open have the defaults of
// a new Task.
struct StandardNode {
  Task task;
  std::string group;       // pg_name
  std::int64_t peer = -1;  // comm_dst of a send, comm_src of a receive
  bool on_cpu = false;
  std::string storage = "storage";  // the stream of a store
};

// Assigns streams and slots of a Plan to the nodes of a foreign trace: work on the CPU, compute,
// memory, storage and sends have a stream each, and collectives have one per process group.
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
