#include "traces/profile/step_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "models/base/error.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

using Times = std::vector<double>;  // issue_times()

// The part of the step to which a kernel belongs. Consecutive kernels of one part are a pass.
struct Part {
  NamedPass pass;
  std::ptrdiff_t range = -1;  // in RankProfile::passes; -1: from the thread, or no part
  bool known = false;
  bool operator==(const Part&) const = default;
};

std::vector<std::size_t> launched_kernels(const RankProfile& profile, const CapturedRank& rank,
                                          const CapturedStep& step, const Times& issued) {
  std::vector<std::size_t> kernels = work_of(profile, rank, step);
  leave_out_side_copies(profile, kernels);
  std::erase_if(kernels,
                [&](std::size_t i) { return profile.work[i].kind == WorkKind::communication; });
  std::ranges::stable_sort(kernels, {}, [&](std::size_t i) { return issued[i]; });
  return kernels;
}

// Returns for each kernel the part in whose range the host launched it.
std::vector<Part> parts_by_ranges(const RankProfile& profile,
                                  const std::vector<std::size_t>& kernels, const Times& issued) {
  std::vector<Part> parts(kernels.size());
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const double at_s = issued[kernels[k]];
    const auto next = std::ranges::upper_bound(profile.passes, at_s, {}, &PassSpan::start_s);
    if (next == profile.passes.begin()) continue;
    const auto range = std::prev(next);
    if (at_s >= range->end_s) continue;
    parts[k] = {range->pass, range - profile.passes.begin(), true};
  }
  return parts;
}

bool has_both(const std::vector<Part>& parts) {
  const auto has = [&](bool forward) {
    return std::ranges::any_of(parts, [&](const Part& part) {
      return part.known && (part.pass.kind == ActionKind::forward) == forward;
    });
  };
  return has(true) && has(false);
}

// Returns the thread of the training loop: the one that marks the step, else the first to launch.
int main_thread(const RankProfile& profile, const CapturedStep& step,
                const std::vector<std::size_t>& kernels) {
  const auto launches = [&](int thread) {
    return thread >= 0 && std::ranges::any_of(kernels, [&](std::size_t i) {
             return profile.work[i].thread == thread;
           });
  };
  const auto range = std::ranges::find(profile.steps, step.issued_from_s, &StepSpan::start_s);
  if (range != profile.steps.end() && launches(range->thread)) return range->thread;
  for (const std::size_t i : kernels) {
    if (profile.work[i].thread >= 0) return profile.work[i].thread;
  }
  return -1;
}

std::vector<Part> parts_by_threads(const RankProfile& profile, const CapturedStep& step,
                                   const std::vector<std::size_t>& kernels) {
  const int main = main_thread(profile, step, kernels);
  std::vector<Part> parts(kernels.size());
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const int thread = profile.work[kernels[k]].thread;
    if (thread < 0) continue;
    const ActionKind kind = thread == main ? ActionKind::forward : ActionKind::backward;
    parts[k] = {{kind, -1, -1}, -1, true};
  }
  return parts;
}

// Whether most kernels share a launch with others, as in a CUDA graph.
bool is_graph(const RankProfile& profile, const std::vector<std::size_t>& kernels) {
  std::map<double, std::size_t> of_launch;
  for (const std::size_t i : kernels) {
    if (std::isfinite(profile.work[i].launched_s)) ++of_launch[profile.work[i].launched_s];
  }
  std::size_t shared = 0;
  for (const auto& [at_s, count] : of_launch) shared += count > 1 ? count : 0;
  return 2 * shared > kernels.size();
}

std::string why_none(const RankProfile& profile, const std::vector<std::size_t>& kernels) {
  if (is_graph(profile, kernels)) {
    return "a CUDA graph launches the kernels with one call, which does not show to which pass "
           "they belong";
  }
  const bool any_thread =
      std::ranges::any_of(kernels, [&](std::size_t i) { return profile.work[i].thread >= 0; });
  return any_thread ? "one thread launches all kernels, and no ranges of the program ('Forward 0', "
                      "'Backward 0') show to which pass they belong"
                    : "the trace does not say which thread launched the kernels";
}

void time_pass(const RankProfile& profile, CapturedPass& pass) {
  std::vector<const GpuWork*> work;
  for (const std::size_t i : pass.work) work.push_back(&profile.work[i]);
  std::ranges::sort(work, {}, &GpuWork::start_s);
  pass.start_s = pass.end_s = work.front()->start_s;
  pass.busy_s = 0;
  for (const GpuWork* each : work) {
    pass.busy_s += std::max(0.0, each->end_s - std::max(each->start_s, pass.end_s));
    pass.end_s = std::max(pass.end_s, each->end_s);
  }
}

CapturedPass pass_of(const Part& part) {
  CapturedPass pass;
  pass.action = part.pass.kind;
  pass.stage = part.pass.stage;
  pass.microbatch = part.pass.microbatch;
  return pass;
}

// Kernels of unknown part join the kernels before them: a loss belongs to its forward. After the
// last backward, or after a forward that a range marks, they are the optimizer's, whatever their
// thread.
std::vector<CapturedPass> runs_of(const std::vector<std::size_t>& kernels,
                                  const std::vector<Part>& parts) {
  const auto first = std::ranges::find(parts, true, &Part::known);
  std::size_t behind = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const bool told = parts[k].range >= 0 || parts[k].pass.kind != ActionKind::forward;
    if (parts[k].known && told) behind = k + 1;
  }
  std::vector<CapturedPass> runs;
  Part current = *first;
  for (std::size_t k = 0; k < behind; ++k) {
    const Part& part = parts[k].known ? parts[k] : current;
    if (runs.empty() || part != current) runs.push_back(pass_of(part));
    current = part;
    runs.back().work.push_back(kernels[k]);
  }
  if (behind < kernels.size()) {
    runs.emplace_back().work.assign(kernels.begin() + static_cast<std::ptrdiff_t>(behind),
                                    kernels.end());
  }
  return runs;
}

// The launch times of pipeline messages, in order.
std::vector<double> message_launches(const RankProfile& profile) {
  std::vector<double> launches;
  for (const GpuWork& work : profile.work) {
    if (work.kind != WorkKind::communication) continue;
    const bool message =
        work.call >= 0
            ? profile.calls[static_cast<std::size_t>(work.call)].kind != CallKind::collective
            : contains_text(profile.names[static_cast<std::size_t>(work.name)], "SendRecv");
    if (message) launches.push_back(work.launched_s);
  }
  std::ranges::sort(launches);
  return launches;
}

// Positions in `work` at which passes begin, except the first.
using Cuts = std::vector<std::ptrdiff_t>;

Cuts cuts_at_messages(const std::vector<std::size_t>& work, const Times& issued,
                      const std::vector<double>& messages) {
  Cuts cuts;
  for (std::size_t k = 1; k < work.size(); ++k) {
    const auto sent = std::ranges::lower_bound(messages, issued[work[k - 1]]);
    if (sent != messages.end() && *sent < issued[work[k]]) {
      cuts.push_back(static_cast<std::ptrdiff_t>(k));
    }
  }
  return cuts;
}

// Finds `times` repetitions of the same kernels. A few kernels may precede them; these belong to
// the first repetition. Empty if there is no such division.
Cuts cuts_of_repeated(const RankProfile& profile, const std::vector<std::size_t>& work,
                      std::size_t times) {
  const auto name = [&](std::size_t k) { return profile.work[work[k]].name; };
  constexpr std::size_t kMostBefore = 256;
  for (std::size_t before = 0; before < kMostBefore && before + times <= work.size(); ++before) {
    const std::size_t period = (work.size() - before) / times;
    if (period * times != work.size() - before) continue;
    bool alike = true;
    for (std::size_t k = before; alike && k + period < work.size(); ++k) {
      alike = name(k) == name(k + period);
    }
    if (!alike) continue;
    Cuts cuts;
    for (std::size_t part = 1; part < times; ++part) {
      cuts.push_back(static_cast<std::ptrdiff_t>(before + part * period));
    }
    return cuts;
  }
  return {};
}

std::string count_text(std::span<const std::pair<ActionKind, std::size_t>> runs) {
  std::string text;
  constexpr std::size_t kMost = 12;
  for (std::size_t i = 0; i < runs.size() && i < kMost; ++i) {
    text += fmt::format("{}{}", i > 0 ? " " : "", letters_of(runs[i].first));
  }
  return text + (runs.size() > kMost ? " ..." : "");
}

}  // namespace

StepPasses step_passes(const RankProfile& profile, const CapturedRank& rank,
                       const CapturedStep& step, bool by_ranges) {
  StepPasses made;
  const Times issued = issue_times(profile);
  const std::vector<std::size_t> kernels = launched_kernels(profile, rank, step, issued);
  std::vector<Part> parts;
  if (by_ranges) parts = parts_by_ranges(profile, kernels, issued);
  made.annotated = has_both(parts);
  if (!made.annotated) parts = parts_by_threads(profile, step, kernels);
  if (!has_both(parts)) {
    made.none = why_none(profile, kernels);
    return made;
  }
  made.passes = runs_of(kernels, parts);
  for (CapturedPass& pass : made.passes) time_pass(profile, pass);
  return made;
}

std::string split_passes(const RankProfile& profile, std::span<const ActionKind> order,
                         StepPasses& passes) {
  CHECK(passes.none.empty() && !passes.annotated, "passes that threads tell apart");
  std::vector<std::pair<ActionKind, std::size_t>> due, there;
  for (const ActionKind kind : order) {
    if (due.empty() || due.back().first != kind) due.emplace_back(kind, 0);
    ++due.back().second;
  }
  for (const CapturedPass& pass : passes.passes) {
    if (pass.action) there.emplace_back(*pass.action, 1);
  }
  const auto kind = [](const auto& run) { return run.first; };
  if (!std::ranges::equal(due, there, {}, kind, kind)) {
    return fmt::format(
        "it launches {} sequences of passes ({}), but the scenario's schedule has {} ({})",
        there.size(), count_text(there), due.size(), count_text(due));
  }
  const Times issued = issue_times(profile);
  const std::vector<double> messages = message_launches(profile);
  std::vector<CapturedPass> split;
  for (std::size_t run = 0; run < due.size(); ++run) {
    const CapturedPass& whole = passes.passes[run];
    const std::size_t times = due[run].second;
    // Repetition is tried before messages, because messages may also occur within a pass, as in
    // context parallelism.
    Cuts cuts = cuts_of_repeated(profile, whole.work, times);
    if (cuts.size() + 1 != times) cuts = cuts_at_messages(whole.work, issued, messages);
    if (cuts.size() + 1 != times) {
      return fmt::format(
          "in the scenario's schedule {} {} follow each other, but no messages show where they "
          "begin, and the {} kernels are not {} times the same sequence",
          times, whole.action == ActionKind::forward ? "forwards" : "backwards", whole.work.size(),
          times);
    }
    cuts.insert(cuts.begin(), 0);
    cuts.push_back(std::ssize(whole.work));
    for (std::size_t part = 0; part < times; ++part) {
      CapturedPass& pass = split.emplace_back();
      pass.action = whole.action;
      pass.work.assign(whole.work.begin() + cuts[part], whole.work.begin() + cuts[part + 1]);
      time_pass(profile, pass);
    }
  }
  if (!passes.passes.back().action) split.push_back(std::move(passes.passes.back()));
  passes.passes = std::move(split);
  return "";
}

}  // namespace windtunnel
