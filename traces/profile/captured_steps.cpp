#include "traces/profile/captured_steps.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

struct StepWindow {
  std::string name;
  double begin_s = 0;
  double end_s = 0;
  double issued_from_s = 0;
  double issued_until_s = 0;
};

double last_end(const RankProfile& profile) {
  double end_s = 0;
  for (const GpuWork& work : profile.work) end_s = std::max(end_s, work.end_s);
  return end_s;
}

// A step lasts from the first kernel launched within its annotation to the first kernel of the next
// step; the last step lasts to the end of its own work.
std::vector<StepWindow> annotated_windows(const RankProfile& profile) {
  std::vector<StepWindow> windows;
  for (const StepSpan& span : profile.steps) {
    windows.push_back({span.name, kNotLaunched, 0, span.start_s, span.end_s});
  }
  const std::vector<double> issued = issue_times(profile);
  for (std::size_t i = 0; i < issued.size(); ++i) {
    const GpuWork& work = profile.work[i];
    const double at_s = issued[i];
    const auto next = std::ranges::upper_bound(profile.steps, at_s, {}, &StepSpan::start_s);
    if (next == profile.steps.begin()) continue;
    const auto step = next - profile.steps.begin() - 1;
    if (at_s >= profile.steps[step].end_s) continue;
    windows[step].begin_s = std::min(windows[step].begin_s, work.start_s);
    windows[step].end_s = std::max(windows[step].end_s, work.end_s);
  }
  std::erase_if(windows, [](const StepWindow& window) { return !std::isfinite(window.begin_s); });
  for (std::size_t i = 0; i + 1 < windows.size(); ++i) windows[i].end_s = windows[i + 1].begin_s;
  return windows;
}

// Steps end after each run of the optimizer's kernels. Kernels between two optimizer kernels
// (norms, scales) belong to the run, unless a matrix product or attention ends it. Work after the
// last optimizer kernel belongs to the next step, whose forward begins with an embedding or a norm.
std::vector<StepWindow> guessed_windows(const RankProfile& profile) {
  std::vector<double> starts = {profile.work.front().start_s};
  double behind_s = kNotLaunched;  // start of the work after the optimizer's last kernel
  bool optimizer = false;
  for (const GpuWork& work : profile.work) {
    if (work.kind == WorkKind::copy || work.kind == WorkKind::communication) continue;
    if (work.kind == WorkKind::optimizer) {
      optimizer = true;
      behind_s = kNotLaunched;
      continue;
    }
    behind_s = std::min(behind_s, work.start_s);
    if (optimizer && (work.kind == WorkKind::product || work.kind == WorkKind::attention)) {
      starts.push_back(behind_s);
      optimizer = false;
    }
  }
  std::vector<StepWindow> windows;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const double end_s = i + 1 < starts.size() ? starts[i + 1] : last_end(profile);
    windows.push_back({"step " + std::to_string(i + 1), starts[i], end_s, starts[i], end_s});
  }
  return windows;
}

// Counts the kernels that run between two events.
struct Running {
  int compute = 0;
  int copies = 0;
  int communication = 0;
};

struct Edge {
  double at_s;
  int change;  // +1: begins, -1: ends
  WorkKind kind;
};

int& running_of(WorkKind kind, Running& running) {
  return kind == WorkKind::communication ? running.communication
         : kind == WorkKind::copy        ? running.copies
                                         : running.compute;
}

void add_time(const Running& running, double seconds, CapturedStep& step) {
  if (running.compute > 0) {
    step.compute_s += seconds;
  } else if (running.copies > 0) {
    step.copy_s += seconds;
  } else if (running.communication > 0) {
    step.exposed_s += seconds;
  } else {
    step.idle_s += seconds;
  }
  if (running.communication > 0 && running.compute + running.copies > 0) {
    step.hidden_s += seconds;
  }
}

// Work that overlaps the window, clipped to it.
std::vector<GpuWork> work_between(const RankProfile& profile, std::size_t& from, double begin_s,
                                  double end_s) {
  const std::vector<GpuWork>& work = profile.work;
  while (from < work.size() && work[from].end_s <= begin_s) ++from;
  std::vector<GpuWork> inside;
  for (std::size_t i = from; i < work.size() && work[i].start_s < end_s; ++i) {
    if (work[i].end_s <= begin_s) continue;
    inside.push_back(work[i]);
    inside.back().start_s = std::max(work[i].start_s, begin_s);
    inside.back().end_s = std::min(work[i].end_s, end_s);
  }
  return inside;
}

void add_busy(const std::vector<GpuWork>& inside, CapturedStep& step) {
  std::vector<Edge> edges;
  edges.reserve(2 * inside.size());
  for (const GpuWork& work : inside) {
    edges.push_back({work.start_s, 1, work.kind});
    edges.push_back({work.end_s, -1, work.kind});
    step.kind_s[static_cast<std::size_t>(work.kind)] += work.end_s - work.start_s;
  }
  std::ranges::stable_sort(edges, [](const Edge& a, const Edge& b) { return a.at_s < b.at_s; });
  Running running;
  double at_s = step.begin_s;
  for (const Edge& edge : edges) {
    add_time(running, edge.at_s - at_s, step);
    running_of(edge.kind, running) += edge.change;
    at_s = edge.at_s;
  }
  add_time(running, step.end_s - at_s, step);
}

void add_host_bound(const std::vector<GpuWork>& inside, CapturedStep& step) {
  double busy_until_s = step.begin_s;
  for (const GpuWork& work : inside) {
    const bool empty_queue = std::isfinite(work.launched_s) && work.launched_s > busy_until_s;
    if (work.start_s > busy_until_s && empty_queue) {
      step.host_bound_s += work.start_s - busy_until_s;
    }
    busy_until_s = std::max(busy_until_s, work.end_s);
  }
}

void add_calls(const RankProfile& profile, const std::vector<GpuWork>& inside, CapturedStep& step) {
  std::map<std::int32_t, CapturedCall> calls;
  for (const GpuWork& work : inside) {
    if (work.call < 0) continue;
    CapturedCall& call = calls[work.call];
    call.call = profile.calls[static_cast<std::size_t>(work.call)];
    ++call.count;
    call.seconds += work.end_s - work.start_s;
  }
  for (auto& [index, call] : calls) step.calls.push_back(std::move(call));
}

}  // namespace

std::vector<double> issue_times(const RankProfile& profile) {
  std::map<std::int32_t, double> last;  // [stream]
  for (const GpuWork& work : profile.work) {
    if (std::isfinite(work.launched_s)) last[work.stream] = -kNotLaunched;
  }
  std::vector<double> issued;
  issued.reserve(profile.work.size());
  for (const GpuWork& work : profile.work) {
    const auto on_stream = last.find(work.stream);
    if (std::isfinite(work.launched_s)) on_stream->second = work.launched_s;
    issued.push_back(on_stream == last.end() ? work.start_s : on_stream->second);
  }
  return issued;
}

void leave_out_side_copies(const RankProfile& profile, std::vector<std::size_t>& work) {
  std::set<std::int32_t> computing;  // streams
  for (const std::size_t i : work) {
    const WorkKind kind = profile.work[i].kind;
    const bool computes = kind != WorkKind::copy && kind != WorkKind::communication;
    if (computes) computing.insert(profile.work[i].stream);
  }
  std::erase_if(work, [&](std::size_t i) {
    const GpuWork& each = profile.work[i];
    return each.kind == WorkKind::copy && !computing.contains(each.stream);
  });
}

CapturedRank captured_steps(const RankProfile& profile) {
  CHECK(!profile.work.empty(), "a profile that finish_profile() has seen");
  CapturedRank rank;
  std::vector<StepWindow> windows = annotated_windows(profile);
  rank.annotated = !windows.empty();
  if (!rank.annotated) windows = guessed_windows(profile);
  std::size_t from = 0;
  for (const StepWindow& window : windows) {
    if (!(window.end_s > window.begin_s)) continue;
    CapturedStep step{.name = window.name,
                      .begin_s = window.begin_s,
                      .end_s = window.end_s,
                      .issued_from_s = window.issued_from_s,
                      .issued_until_s = window.issued_until_s};
    const std::vector<GpuWork> inside = work_between(profile, from, step.begin_s, step.end_s);
    add_busy(inside, step);
    add_host_bound(inside, step);
    add_calls(profile, inside, step);
    step.kernels = static_cast<int>(inside.size());
    rank.steps.push_back(std::move(step));
  }
  if (rank.steps.empty()) throw Error(Location{profile.file}, "no step takes any time");
  return rank;
}

std::vector<std::size_t> work_of(const RankProfile& profile, const CapturedRank& rank,
                                 const CapturedStep& step) {
  std::vector<std::size_t> own;
  const std::vector<double> issued = rank.annotated ? issue_times(profile) : std::vector<double>();
  for (std::size_t i = 0; i < profile.work.size(); ++i) {
    const double at_s = rank.annotated ? issued[i] : profile.work[i].start_s;
    if (at_s >= step.issued_from_s && at_s < step.issued_until_s) own.push_back(i);
  }
  return own;
}

const CapturedStep& median_step(std::span<const CapturedStep> steps) {
  std::vector<const CapturedStep*> sorted;
  for (const CapturedStep& step : steps) sorted.push_back(&step);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle, [](const CapturedStep* a, const CapturedStep* b) {
    return a->seconds() < b->seconds();
  });
  return **middle;
}

}  // namespace windtunnel
