// One event of a profiler's file, and the profile that events add up to. For kineto.cpp and
// nsight.cpp alone, which find them.
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

// Which events count.
enum class EventKind : std::uint8_t {
  other,
  kernel,
  copy,
  fill,
  launch,
  host_call,  // an operator of the host; counts if it is a call of a collective
  host_span,
  gpu_span
};
EventKind kind_of_category(std::string_view category);

struct ProfileEvent {
  bool complete = false;  // "ph": "X", a span of time
  EventKind kind = EventKind::other;
  bool marks_step = false;  // of a span, beside those that PyTorch names
  std::string name;
  double start_us = kNotLaunched;  // infinite: the event has none
  double duration_us = 0;
  std::int64_t correlation = -1;
  std::int64_t stream = 0;
  std::int64_t device = -1;
  std::int64_t thread = -1;  // of the host, as the system numbers it
  // Of a kernel of NCCL, or of the host's call.
  std::string collective;
  std::string element_type;
  std::string group;
  std::string group_axis;
  std::string group_ranks;    // "[0, 1, 2]"
  std::int64_t elements = 0;  // of the larger of both buffers
  std::int64_t group_size = 0;
  std::int64_t source = -1;
  std::int64_t destination = -1;
};

class ProfileMaker {
 public:
  // Throws Error without a place.
  void add(const ProfileEvent& event);
  void add_group(ProcessGroup group);
  // Times since the first event, launches with their kernels.
  RankProfile take();

  RankProfile profile;  // rank, ranks and gpu are the caller's

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
  // What the host asked for; the kernel comes with the next launch of its thread.
  struct HostCall {
    std::int16_t thread = -1;
    double at_us = 0;
    std::int32_t call = -1;  // in RankProfile::calls
  };
  // Null: not recorded.
  const Launch* launch_of(std::size_t work) const;

  std::unordered_map<std::string, std::int32_t> index_of_name_;
  std::vector<WorkKind> kind_of_name_;
  std::size_t gibibytes_ = held_gibibytes();  // of a file that may be held: limits go with them
  std::size_t kept_bytes_ = 0;                // of names and groups
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

}  // namespace windtunnel
