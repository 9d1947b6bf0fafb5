// These are the events of a profiler's file, and the profile built from them. Only kineto.cpp and
// nsight.cpp, which read events, use this header.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "traces/profile/rank_profile.hpp"

namespace windtunnel {

// Kinds of events that are used.
enum class EventKind : std::uint8_t {
  other,
  kernel,
  copy,
  fill,
  launch,
  host_call,  // an operator of the host; used if it calls a collective
  host_span,
  gpu_span
};
EventKind kind_of_category(std::string_view category);

struct ProfileEvent {
  bool complete = false;  // "ph": "X", a span of time
  EventKind kind = EventKind::other;
  bool marks_step = false;  // marks a step, in addition to PyTorch's names for steps
  std::string name;
  double start_us = kNotLaunched;  // infinite: none
  double duration_us = 0;
  std::int64_t correlation = -1;
  std::int64_t stream = 0;
  std::int64_t device = -1;
  std::int64_t thread = -1;  // of the host, as the operating system numbers it
  // These come from a kernel of NCCL, or from the host's call.
  std::string collective;
  std::string element_type;
  std::string group;
  std::string group_axis;
  std::string group_ranks;    // "[0, 1, 2]"
  std::int64_t elements = 0;  // of the larger of the two buffers
  std::int64_t group_size = 0;
  std::int64_t source = -1;
  std::int64_t destination = -1;
};

class ProfileMaker {
 public:
  // Throws Error without a location.
  void add(const ProfileEvent& event);
  void add_group(ProcessGroup group);
  // Returns the profile with times since the first event, and launches assigned to kernels.
  RankProfile take();

  RankProfile profile;  // the caller sets rank, ranks and gpu

 private:
  void add_work(const ProfileEvent& event);
  std::int32_t name_of(const std::string& name);
  std::int32_t call_of(const ProfileEvent& event);
  std::int32_t index_of(CommunicationCall call);
  void add_host_call(const ProfileEvent& event);
  void set_calls();
  const CommunicationCall& call_at(std::int32_t index) const;
  std::optional<std::int32_t> together(const std::vector<std::int32_t>& asked);
  void count_bytes(std::size_t bytes, std::string_view what);
  void check_count(std::size_t count, std::size_t most, std::string_view what) const;
  static std::size_t held_gibibytes();
  void add_span(const ProfileEvent& event);
  std::int16_t thread_of(const ProfileEvent& event);
  void set_launches();

  struct Launch {
    std::int64_t correlation = -1;
    double at_us = 0;
    std::int16_t thread = -1;
  };
  // A call of the host; the next launch of its thread starts its kernel.
  struct HostCall {
    std::int16_t thread = -1;
    double at_us = 0;
    std::int32_t call = -1;  // in RankProfile::calls
  };
  // Returns null if the launch is not recorded.
  const Launch* launch_of(std::size_t work) const;

  std::unordered_map<std::string, std::int32_t> index_of_name_;
  std::vector<WorkKind> kind_of_name_;
  std::size_t gibibytes_ = held_gibibytes();  // of a file in memory; limits scale with it
  std::size_t kept_bytes_ = 0;                // in names and groups
  std::unordered_map<std::string, std::int32_t> index_of_call_;
  std::map<std::string, std::size_t> index_of_group_;
  std::int64_t device_ = -1;
  double first_us_ = kNotLaunched;
  std::vector<Launch> launches_;
  std::vector<HostCall> host_calls_;
  std::unordered_map<std::int64_t, std::int16_t> index_of_thread_;
  std::vector<std::int64_t> correlations_;  // of the work
  std::vector<StepSpan> gpu_steps_;
};

struct NamedCall {
  CallKind kind = CallKind::collective;
  CollectiveKind collective = CollectiveKind::all_reduce;
  bool barrier = false;  // sends no data
};

// Recognises a call by its name in PyTorch's c10d ("_allgather_base"), which is the "Collective
// name" of a kernel; returns nothing if the name is not known.
std::optional<NamedCall> call_of_c10d(std::string_view name);
// Recognises a call by a kernel's name in NCCL or RCCL ("ncclDevKernel_AllGather_RING_LL"). Sends
// and receives share one kernel, so their direction is unknown.
std::optional<NamedCall> call_of_kernel(std::string_view name);

// Returns the size of one of PyTorch's element types: 2 for "BFloat16"; 0 for an unknown type.
int element_bytes_of(std::string_view dtype);

}  // namespace windtunnel
