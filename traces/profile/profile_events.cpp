#include "traces/profile/profile_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>

#include "models/base/error.hpp"
#include "traces/text/input_file.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr double kLongest_us = 1e13;  // four months
// The limits of bytes, work and launches scale with the GiB of a file that may be in memory.
constexpr std::size_t kMostKeptBytes = std::size_t{256} << 20U;
// A step of a large model has 100,000 kernels, each with one or more calls of the runtime.
constexpr std::size_t kMostWork = 5'000'000;
constexpr std::size_t kMostLaunches = 4 * kMostWork;
constexpr std::size_t kMostSteps = 100'000;
constexpr std::size_t kMostMessages = 1024;  // of one kernel
constexpr std::size_t kMostPasses = 10 * kMostSteps;
constexpr std::string_view kStep = "ProfilerStep#";

struct CategoryWord {
  std::string_view name;
  EventKind kind;
};

// Names in this and earlier versions of PyTorch.
constexpr CategoryWord kCategoriesOfEvents[] = {
    {"kernel", EventKind::kernel},
    {"Kernel", EventKind::kernel},
    {"gpu_memcpy", EventKind::copy},
    {"Memcpy", EventKind::copy},
    {"gpu_memset", EventKind::fill},
    {"Memset", EventKind::fill},
    {"cuda_runtime", EventKind::launch},
    {"Runtime", EventKind::launch},
    {"cuda_driver", EventKind::launch},
    {"cpu_op", EventKind::host_call},
    {"user_annotation", EventKind::host_span},
    {"gpu_user_annotation", EventKind::gpu_span},
};

// Parses Kineto's "[0, 1, 2]"; nothing if it is abbreviated ("[0, 1, ...]") or malformed.
std::vector<RankId> ranks_of(std::string_view text) {
  std::vector<RankId> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at == '[' || *at == ']' || *at == ',' || *at == ' ') {
      ++at;
      continue;
    }
    RankId rank = -1;
    const auto parsed = std::from_chars(at, end, rank);
    if (parsed.ec != std::errc() || rank < 0) return {};
    ranks.push_back(rank);
    at = parsed.ptr;
  }
  return ranks;
}

RankId peer_of(std::int64_t rank) {
  return rank >= 0 && rank < std::numeric_limits<RankId>::max() ? static_cast<RankId>(rank) : -1;
}

std::string key_of(const CommunicationCall& call) {
  return fmt::format("{} {} {} {} {} {}", static_cast<int>(call.kind),
                     static_cast<int>(call.collective), call.bytes, call.group_size, call.peer,
                     call.group);
}

void check_times(const ProfileEvent& event) {
  if (!std::isfinite(event.start_us)) throw Error("an event of the GPU or host has no 'ts'");
  if (!(event.duration_us >= 0) || event.duration_us > kLongest_us) {
    throw Error(fmt::format("'dur' is {} microseconds", event.duration_us));
  }
}

}  // namespace

EventKind kind_of_category(std::string_view category) {
  const auto* const found = std::ranges::find_if(
      kCategoriesOfEvents, [&](const CategoryWord& known) { return known.name == category; });
  return found == std::end(kCategoriesOfEvents) ? EventKind::other : found->kind;
}

void ProfileMaker::add(const ProfileEvent& event) {
  if (!event.complete || event.kind == EventKind::other) return;
  if (event.kind == EventKind::host_call && event.collective.empty()) return;
  check_times(event);
  first_us_ = std::min(first_us_, event.start_us);
  switch (event.kind) {
    case EventKind::launch:
      check_count(launches_.size(), kMostLaunches, "launches");
      if (event.correlation > 0) {
        launches_.push_back({event.correlation, event.start_us, thread_of(event)});
      }
      break;
    case EventKind::host_call:
      add_host_call(event);
      break;
    case EventKind::host_span:
    case EventKind::gpu_span:
      add_span(event);
      break;
    default:
      add_work(event);
  }
}

// Threads beyond a plausible number count as unknown.
std::int16_t ProfileMaker::thread_of(const ProfileEvent& event) {
  constexpr std::size_t kMostThreads = 10'000;
  if (event.thread < 0) return -1;
  if (index_of_thread_.size() >= kMostThreads && !index_of_thread_.contains(event.thread)) {
    return -1;
  }
  const auto next = static_cast<std::int16_t>(index_of_thread_.size());
  return index_of_thread_.try_emplace(event.thread, next).first->second;
}

void ProfileMaker::add_span(const ProfileEvent& event) {
  if (!event.marks_step && !event.name.starts_with(kStep)) {
    const std::optional<NamedPass> pass = pass_of_range(event.name);
    if (!pass || event.kind == EventKind::gpu_span) return;
    // More ranges than this must mark single modules, not passes. The passes are then found from
    // threads.
    if (profile.passes.size() >= kMostPasses) return;
    profile.passes.push_back({*pass, event.start_us, event.start_us + event.duration_us});
    return;
  }
  std::vector<StepSpan>& steps = event.kind == EventKind::gpu_span ? gpu_steps_ : profile.steps;
  if (steps.size() >= kMostSteps) throw Error("there are too many steps");
  count_bytes(event.name.size(), "names of steps");
  steps.push_back(
      {event.name, event.start_us, event.start_us + event.duration_us, thread_of(event)});
}

void ProfileMaker::add_work(const ProfileEvent& event) {
  if (device_ < 0) device_ = event.device;
  if (event.device >= 0 && event.device != device_) {
    throw Error(fmt::format(
        "contains work of both GPU {} and GPU {}; each rank needs one GPU and its own file",
        device_, event.device));
  }
  check_count(profile.work.size(), kMostWork, "kernels");
  GpuWork work;
  work.start_s = event.start_us;  // microseconds until take()
  work.end_s = event.start_us + event.duration_us;
  work.name = name_of(event.name);
  work.stream = static_cast<std::int32_t>(event.stream);
  work.kind = event.kind == EventKind::kernel ? kind_of_name_[static_cast<std::size_t>(work.name)]
                                              : WorkKind::copy;
  if (!event.collective.empty()) work.kind = WorkKind::communication;
  if (work.kind == WorkKind::communication) work.call = call_of(event);
  profile.work.push_back(work);
  correlations_.push_back(event.correlation);
}

void ProfileMaker::count_bytes(std::size_t bytes, std::string_view what) {
  kept_bytes_ += bytes;
  if (kept_bytes_ <= gibibytes_ * kMostKeptBytes) return;
  throw Error(fmt::format("{} beyond {} MB{}", what, gibibytes_ * kMostKeptBytes >> 20U,
                          raised_limit_text(2 * gibibytes_ * kLargestWhole_bytes)));
}

void ProfileMaker::check_count(std::size_t count, std::size_t most, std::string_view what) const {
  if (count < gibibytes_ * most) return;
  throw Error(fmt::format("there are more than {} {}; capture fewer steps{}", gibibytes_ * most,
                          what, raised_limit_text(2 * gibibytes_ * kLargestWhole_bytes)));
}

// How many GiB of a file may be in memory.
std::size_t ProfileMaker::held_gibibytes() {
  return std::max<std::uint64_t>(1, read_limit(kLargestWhole_bytes) / kLargestWhole_bytes);
}

std::int32_t ProfileMaker::name_of(const std::string& name) {
  const auto [known, is_new] =
      index_of_name_.try_emplace(name, static_cast<std::int32_t>(profile.names.size()));
  if (is_new) {
    count_bytes(2 * name.size(), "different names of kernels");
    profile.names.push_back(name);
    kind_of_name_.push_back(kind_of_kernel(name));
  }
  return known->second;
}

std::int32_t ProfileMaker::call_of(const ProfileEvent& event) {
  const std::optional<NamedCall> named =
      event.collective.empty() ? call_of_kernel(event.name) : call_of_c10d(event.collective);
  if (!named) return -1;
  const double bytes = double(event.elements) * element_bytes_of(event.element_type);
  const bool told = named->barrier || bytes > 0;
  CommunicationCall call{.kind = named->kind,
                         .collective = named->collective,
                         .bytes = named->barrier ? 0
                                  : told         ? bytes
                                                 : -1,
                         .group = event.group,
                         .group_size = static_cast<int>(std::clamp<std::int64_t>(
                             event.group_size, 0, std::numeric_limits<int>::max()))};
  if (call.kind == CallKind::send) call.peer = peer_of(event.destination);
  if (call.kind == CallKind::receive) call.peer = peer_of(event.source);
  const std::size_t before = profile.calls.size();
  const std::int32_t index = index_of(std::move(call));
  if (profile.calls.size() > before && !event.group_ranks.empty()) {
    add_group({event.group, event.group_axis, ranks_of(event.group_ranks), 0});
  }
  return index;
}

std::int32_t ProfileMaker::index_of(CommunicationCall call) {
  std::string key = key_of(call);
  for (const CommunicationCall& other : call.beside) key += " + " + key_of(other);
  const auto [known, is_new] =
      index_of_call_.try_emplace(std::move(key), static_cast<std::int32_t>(profile.calls.size()));
  if (is_new) {
    count_bytes(known->first.size() + (1 + call.beside.size()) * sizeof call,
                "different collectives");
    profile.calls.push_back(std::move(call));
  }
  return known->second;
}

void ProfileMaker::add_host_call(const ProfileEvent& event) {
  if (host_calls_.size() >= kMostWork) throw Error("there are too many calls of collectives");
  if (event.group_size == 1) return;  // no launch: a group of one rank
  const std::int32_t call = call_of(event);
  if (call >= 0) host_calls_.push_back({thread_of(event), event.start_us, call});
}

void ProfileMaker::add_group(ProcessGroup group) {
  if (group.name.empty()) return;
  const auto [known, is_new] = index_of_group_.try_emplace(group.name, profile.groups.size());
  if (is_new) {
    count_bytes(2 * group.name.size() + group.axis.size() + group.ranks.size() * sizeof(RankId),
                "process groups");
    profile.groups.push_back(std::move(group));
    return;
  }
  ProcessGroup& before = profile.groups[known->second];
  if (before.ranks.empty()) count_bytes(group.ranks.size() * sizeof(RankId), "process groups");
  if (before.axis.empty()) before.axis = std::move(group.axis);
  if (before.ranks.empty()) before.ranks = std::move(group.ranks);
}

const ProfileMaker::Launch* ProfileMaker::launch_of(std::size_t work) const {
  const std::int64_t correlation = correlations_[work];
  const auto found = std::ranges::lower_bound(launches_, correlation, {}, &Launch::correlation);
  if (correlation <= 0 || found == launches_.end() || found->correlation != correlation) {
    return nullptr;
  }
  return &*found;
}

// Work whose launch is not recorded keeps kNotLaunched.
void ProfileMaker::set_launches() {
  std::ranges::sort(launches_, {}, [](const Launch& launch) {
    return std::tuple(launch.correlation, launch.at_us, launch.thread);
  });
  for (std::size_t i = 0; i < profile.work.size(); ++i) {
    const Launch* launch = launch_of(i);
    if (launch == nullptr) continue;
    profile.work[i].launched_s = launch->at_us;
    profile.work[i].thread = launch->thread;
  }
}

const CommunicationCall& ProfileMaker::call_at(std::int32_t index) const {
  return profile.calls[static_cast<std::size_t>(index)];
}

// PyTorch launches several messages, or collectives, as one kernel whose event does not list them.
// They are the calls of the host on the same thread since the last launch of communication.
void ProfileMaker::set_calls() {
  struct Launched {
    std::int16_t thread;
    double at_us;
    std::size_t work;
  };
  std::vector<Launched> launched;
  for (std::size_t i = 0; i < profile.work.size(); ++i) {
    if (profile.work[i].kind != WorkKind::communication) continue;
    if (const Launch* launch = launch_of(i)) launched.push_back({launch->thread, launch->at_us, i});
  }
  std::ranges::sort(launched, {}, [](const Launched& kernel) {
    return std::tuple(kernel.thread, kernel.at_us, kernel.work);
  });
  std::ranges::sort(host_calls_, {}, [](const HostCall& asked) {
    return std::tuple(asked.thread, asked.at_us, asked.call);
  });
  auto next = host_calls_.begin();
  for (const Launched& kernel : launched) {
    while (next != host_calls_.end() && next->thread < kernel.thread) ++next;
    std::vector<std::int32_t> asked;
    for (;
         next != host_calls_.end() && next->thread == kernel.thread && next->at_us <= kernel.at_us;
         ++next) {
      asked.push_back(next->call);
    }
    GpuWork& work = profile.work[kernel.work];
    if (work.call >= 0) {  // a collective, known from the kernel's name
      const CommunicationCall& named = call_at(work.call);
      if (named.bytes >= 0) continue;
      std::erase_if(asked, [&](std::int32_t call) {
        return call_at(call).kind != named.kind || call_at(call).collective != named.collective;
      });
    }
    work.call = together(asked).value_or(work.call);
  }
}

// Joins the calls of one kernel, which are one collective or several parallel messages. Returns
// nothing if they are neither.
std::optional<std::int32_t> ProfileMaker::together(const std::vector<std::int32_t>& asked) {
  if (asked.empty()) return std::nullopt;
  if (asked.size() == 1) return asked.front();
  if (asked.size() > kMostMessages) return std::nullopt;
  CommunicationCall all = call_at(asked.front());
  for (std::size_t i = 1; i < asked.size(); ++i) all.beside.push_back(call_at(asked[i]));
  const auto is_message = [](const CommunicationCall& c) { return c.kind != CallKind::collective; };
  if (!is_message(all) || !std::ranges::all_of(all.beside, is_message)) return std::nullopt;
  return index_of(std::move(all));
}

RankProfile ProfileMaker::take() {
  set_launches();
  set_calls();
  const auto seconds = [&](double& us) { us = (us - first_us_) * 1e-6; };
  for (GpuWork& work : profile.work) {
    seconds(work.start_s);
    seconds(work.end_s);
    seconds(work.launched_s);
  }
  if (profile.steps.empty()) profile.steps = std::move(gpu_steps_);
  for (StepSpan& step : profile.steps) {
    seconds(step.start_s);
    seconds(step.end_s);
  }
  for (PassSpan& pass : profile.passes) {
    seconds(pass.start_s);
    seconds(pass.end_s);
  }
  finish_profile(profile);
  return std::move(profile);
}

namespace {

struct CallWord {
  std::string_view word;  // letters and digits of a name, in lower case
  NamedCall call;
};

// The first row that a name begins with counts, so reducescatter comes before reduce.
constexpr CallWord kWords[] = {
    {"allreduce", {CallKind::collective, CollectiveKind::all_reduce}},
    {"allgather", {CallKind::collective, CollectiveKind::all_gather}},
    {"alltoall", {CallKind::collective, CollectiveKind::all_to_all}},
    {"reducescatter", {CallKind::collective, CollectiveKind::reduce_scatter}},
    {"reduce", {CallKind::collective, CollectiveKind::reduce}},
    {"broadcast", {CallKind::collective, CollectiveKind::broadcast}},
    {"barrier", {CallKind::collective, CollectiveKind::all_reduce, true}},
    {"gather", {CallKind::collective, CollectiveKind::gather}},
    {"send", {CallKind::send}},
    {"recv", {CallKind::receive}},
};

std::optional<NamedCall> call_of_plain(std::string_view plain) {
  for (const auto& [word, call] : kWords) {
    if (plain.starts_with(word)) return call;
  }
  return std::nullopt;
}

struct ElementType {
  std::string_view name;
  int bytes;
};

constexpr ElementType kElements[] = {
    {"float8", 1},  {"byte", 1},     {"char", 1},         {"bool", 1},           {"uint8", 1},
    {"int8", 1},    {"bfloat16", 2}, {"half", 2},         {"float16", 2},        {"short", 2},
    {"float32", 4}, {"int32", 4},    {"complexfloat", 8}, {"complexdouble", 16}, {"float64", 8},
    {"int64", 8},   {"double", 8},   {"long", 8},         {"float", 4},          {"int", 4},
};

}  // namespace

std::optional<NamedCall> call_of_c10d(std::string_view name) {
  return call_of_plain(plain_name(name));
}

std::optional<NamedCall> call_of_kernel(std::string_view name) {
  const std::string plain = plain_name(name);
  const std::size_t nccl = plain.find("ccl");
  if (nccl == std::string::npos) return std::nullopt;
  for (const std::string_view prefix : {"devkernel", "kernel"}) {
    const std::size_t at = plain.find(prefix, nccl);
    if (at == std::string::npos) continue;
    const std::optional<NamedCall> call =
        call_of_plain(std::string_view(plain).substr(at + prefix.size()));
    if (!call || call->kind != CallKind::collective) return std::nullopt;
    return call;
  }
  return std::nullopt;
}

int element_bytes_of(std::string_view dtype) {
  const std::string plain = plain_name(dtype);
  for (const auto& [name, bytes] : kElements) {
    if (plain.starts_with(name)) return bytes;
  }
  return 0;
}

}  // namespace windtunnel
