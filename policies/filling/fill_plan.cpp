#include "policies/filling/fill_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/plan/kernel_pace.hpp"
#include "models/results/iteration_report.hpp"
#include "models/results/memory_timeline.hpp"
#include "policies/evaluation/plan_evaluation.hpp"
#include "policies/filling/filling_cost.hpp"
#include "policies/filling/idle_periods.hpp"

namespace windtunnel {
namespace {

constexpr std::int16_t kKernels = 0;  // stream of the kernels of every rank (policies/tasks)
constexpr double kLeast_s = 2e-9;     // resolution of the engine's clock
constexpr int kBehindAll = -1000000;  // a priority below all others, if kernels run by priority

struct Period {
  IdlePeriod idle;
  double left_s = 0;   // the part of `idle.least_s` that no piece has taken yet
  double stretch = 1;  // factor on the time of kernels that overlap a collective
};

// Pieces of one work that run one after another behind a task.
struct Run {
  TaskIndex behind = -1;
  int work = 0;
  std::int64_t pieces = 0;
  double seconds = 0;
  int iteration = 0;
  bool exposed = false;
  double unused_bytes = 0;  // how far the activations are below their peak at that time
};

// What is known of the ranks of a class, which stand for one another.
struct Place {
  std::vector<Period> periods;
  double peak_bytes = 0;                                        // of what tasks allocate
  double room_bytes = std::numeric_limits<double>::infinity();  // bytes that are free at that peak
  double slowdown = 1;                                          // of the slowest member
  double mean_slowdown = 0;                                     // mean in the reported iteration
  std::vector<double> held_bytes;  // [work] bytes that the work keeps here; below 0: it has no room
  std::vector<Run> runs;
  int pp = 0;
};

// The factor by which the kernels of a recorded rank take longer in an iteration.
class Paces {
 public:
  Paces(const Plan& plan, const Cluster& cluster, std::span<const double> stated)
      : machine_(plan, cluster), stated_(stated) {}

  double operator()(const RankTimeline& rank, int iteration) {
    if (!stated_.empty()) return stated_[rank.rank_class];
    return machine_.slowdowns(rank.rank)[machine_.place(0, iteration)];
  }

 private:
  KernelPace machine_;
  std::span<const double> stated_;
};

class Filler {
 public:
  Filler(const Job& job, const std::vector<GpuMemory>& memory, const Plan& plan,
         const Timeline& timeline, std::span<const double> slowdowns)
      : job_(job), filling_(*job.filling), memory_(memory), plan_(plan), timeline_(timeline) {
    for (const FillingWork& work : filling_.work) costs_.push_back(filling_cost(job, work));
    Paces paces(plan, job.cluster, slowdowns);
    const auto pace = [&](const RankTimeline& rank, int iteration) {
      return paces(rank, iteration);
    };
    const double until_s = foreground_end_s(plan, timeline, plan.iterations - 1);
    const auto idle = idle_periods(plan, timeline, kKernels, until_s, pace);
    const int of_pp = job.layout.ranks() / job.layout.pp;
    places_.resize(plan.classes.size());
    for (std::size_t c = 0; c < places_.size(); ++c) {
      Place& place = places_[c];
      place.pp = plan.classes[c].members.front() / of_pp;
      for (const IdlePeriod& each : idle[c]) add_period(each, place);
      if (!memory.empty()) place.room_bytes = room_bytes(job, memory[place.pp]);
      // Replicas on unlike nodes are filled separately.
      columns_[plan.classes[c].members.front() % of_pp].push_back(static_cast<int>(c));
    }
    for (const RankTimeline& rank : timeline.ranks) {
      Place& place = places_[rank.rank_class];
      const double own = memory_timeline(plan.classes[rank.rank_class], rank).peak_bytes;
      place.peak_bytes = std::max(place.peak_bytes, own);
      for (int i = 0; i < plan.iterations; ++i) {
        place.slowdown = std::max(place.slowdown, pace(rank, i));
      }
      const double members = static_cast<double>(plan.classes[rank.rank_class].members.size());
      place.mean_slowdown +=
          rank.multiplicity / members * pace(rank, reported_window(job, plan).last);
    }
  }

  FilledPlan fill() {
    for (int work = 0; work < std::ssize(filling_.work); ++work) hold(work);
    for (int work = 0; work < std::ssize(filling_.work); ++work) {
      if (filling_.work[work].need == FillingNeed::nothing) continue;
      for (const auto& [first, column] : columns_) {
        for (int i = 0; i < plan_.iterations; ++i) fill_needed(work, column, i);
      }
    }
    for (int work = 0; work < std::ssize(filling_.work); ++work) {
      if (filling_.work[work].need != FillingNeed::nothing) continue;
      for (Place& place : places_) take(work, kAll, kAll, place);
    }
    FilledPlan filled{plan_, report()};
    for (std::size_t c = 0; c < places_.size(); ++c) insert(places_[c], filled.plan.classes[c]);
    return filled;
  }

 private:
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

  void add_period(const IdlePeriod& idle, Place& place) const {
    Period period{.idle = idle};
    period.left_s = std::max(0.0, idle.least_s * (1 - filling_.margin) - kLeast_s);
    if (idle.communicates) period.stretch = std::max(1.0, job_.calibration.overlap_slowdown.value);
    place.periods.push_back(period);
  }

  // ---- memory ----

  // Reserves the memory that this work keeps on a rank during training, wherever it fits. Earlier
  // work is served first.
  void hold(int work) {
    const FillingCost& cost = costs_[work];
    bool any = false;
    double most_bytes = 0;
    for (Place& place : places_) {
      most_bytes = std::max(most_bytes, place.room_bytes);
      const bool fits = cost.resident_bytes <= place.room_bytes;
      place.held_bytes.push_back(fits ? cost.resident_bytes : -1);
      if (fits) place.room_bytes -= cost.resident_bytes;
      any = any || fits;
    }
    if (any || filling_.work[work].need == FillingNeed::nothing) return;
    throw Error::of_key(fmt::format("filling.work.{}.resident", work),
                        ": {} keeps {} on a GPU, but training leaves at most {} free on any GPU",
                        filling_.work[work].name, format_memory(cost.resident_bytes),
                        format_memory(most_bytes));
  }

  bool has_room(int work, const Place& place, const Period& period) const {
    if (place.held_bytes[work] < 0) return false;
    const double unused_bytes = place.peak_bytes - period.idle.alive_bytes;
    return costs_[work].working_bytes <= place.room_bytes + unused_bytes;
  }

  // ---- idle periods ----

  // Returns how many more pieces fit into the period.
  std::int64_t fits(int work, const Place& place, const Period& period) const {
    if (!has_room(work, place, period)) return 0;
    const double piece_s = costs_[work].piece_s * period.stretch;
    const double left_s = period.left_s - filling_.work[work].switch_s;
    return left_s < piece_s ? 0 : static_cast<std::int64_t>(left_s / piece_s * (1 - 1e-12));
  }

  std::int64_t capacity(int work, const Place& place, int iteration) const {
    std::int64_t pieces = 0;
    for (const Period& period : place.periods) {
      if (period.idle.iteration == iteration) pieces += fits(work, place, period);
    }
    return pieces;
  }

  // Puts up to `pieces` pieces into the periods of one iteration or, with kAll, of any.
  void take(int work, std::int64_t pieces, std::int64_t iteration, Place& place) const {
    for (Period& period : place.periods) {
      if (pieces == 0) return;
      if (iteration != kAll && period.idle.iteration != iteration) continue;
      const std::int64_t own = std::min(pieces, fits(work, place, period));
      if (own == 0) continue;
      const double seconds = filling_.work[work].switch_s +
                             static_cast<double>(own) * costs_[work].piece_s * period.stretch;
      period.left_s -= seconds;
      if (pieces != kAll) pieces -= own;
      place.runs.push_back({period.idle.behind, work, own, seconds, period.idle.iteration, false,
                            place.peak_bytes - period.idle.alive_bytes});
    }
  }

  // ---- work that a step needs ----

  // Returns the units that one GPU of each pipeline rank computes together with its counterparts:
  // the GPUs of a pipeline rank divide the units.
  std::int64_t needed_units(int work, const std::vector<int>& column, int iteration) const {
    const FillingWork& own = filling_.work[work];
    double units = own.units;
    if (own.need == FillingNeed::microbatch) {
      std::set<int> microbatches;
      for (const Task& task : plan_.classes[column.front()].tasks) {
        if (task.iteration != iteration || !task.action) continue;
        microbatches.insert(task.microbatch / std::max(1, job_.schedule.slices));
      }
      units *= static_cast<double>(microbatches.size());
    }
    return std::llround(std::ceil(units / (job_.layout.tp * job_.layout.cp) - 1e-9));
  }

  // Assigns whole units so that the rank with the longest exposed work is exposed as briefly as
  // possible.
  void fill_needed(int work, const std::vector<int>& column, int iteration) {
    struct Share {
      int place = 0;
      std::int64_t capacity = 0;
      std::int64_t pieces = 0;
      double piece_s = 0;
    };
    std::vector<Share> shares;
    for (const int c : column) {
      const Place& place = places_[c];
      if (place.held_bytes[work] < 0) continue;
      shares.push_back(
          {c, capacity(work, place, iteration), 0, costs_[work].piece_s * place.slowdown});
    }
    const std::int64_t units = needed_units(work, column, iteration);
    CHECK(!shares.empty() || units == 0, "{} has no rank", filling_.work[work].name);
    const int pieces = costs_[work].pieces;
    const auto cost = [&](const Share& share) {
      const std::int64_t beyond = share.pieces + pieces - share.capacity;
      return std::pair(static_cast<double>(std::max<std::int64_t>(0, beyond)) * share.piece_s,
                       beyond);
    };
    for (std::int64_t unit = 0; unit < units; ++unit) {
      std::ranges::min_element(shares, {}, cost)->pieces += pieces;
    }
    for (const Share& share : shares) {
      Place& place = places_[share.place];
      const std::int64_t hidden = std::min(share.pieces, share.capacity);
      take(work, hidden, iteration, place);
      if (share.pieces > hidden) expose(work, share.pieces - hidden, iteration, share.place);
    }
  }

  void expose(int work, std::int64_t pieces, int iteration, int at) {
    const RankClass& owner = plan_.classes[at];
    TaskIndex last = -1;
    double end_s = -1;
    for (const RankTimeline& rank : timeline_.ranks) {
      if (rank.rank_class != at || last >= 0) continue;
      for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
        if (owner.tasks[t].stream != kKernels || owner.tasks[t].iteration != iteration) continue;
        if (rank.spans[t].end_s < end_s) continue;
        end_s = rank.spans[t].end_s;
        last = t;
      }
    }
    const double seconds =
        filling_.work[work].switch_s + static_cast<double>(pieces) * costs_[work].piece_s;
    places_[at].runs.push_back({last, work, pieces, seconds, iteration, true});
  }

  // ---- the plan ----

  // Inserts the runs behind their tasks; later indices move on.
  void insert(const Place& place, RankClass& owner) const {
    if (place.runs.empty()) return;
    std::vector<std::vector<const Run*>> behind(owner.tasks.size() + 1);
    for (const bool exposed : {false, true}) {
      for (const Run& run : place.runs) {
        if (run.exposed == exposed) behind[run.behind + 1].push_back(&run);
      }
    }
    std::vector<TaskIndex> moved(owner.tasks.size());
    TaskIndex next = static_cast<TaskIndex>(behind.front().size());
    for (std::size_t t = 0; t < moved.size(); ++t) {
      moved[t] = next;
      next += 1 + static_cast<TaskIndex>(behind[t + 1].size());
    }
    const bool by_priority = owner.streams[kKernels].order == StreamOrder::by_priority;
    std::vector<Task> tasks;
    tasks.reserve(next);
    const auto add_runs = [&](std::size_t at) {
      for (const Run* run : behind[at]) {
        tasks.push_back(task_of(*run));
        if (at > 0) tasks.back().after = {moved[at - 1]};
        if (by_priority) tasks.back().priority = kBehindAll;
      }
    };
    add_runs(0);
    for (std::size_t t = 0; t < owner.tasks.size(); ++t) {
      tasks.push_back(std::move(owner.tasks[t]));
      for (TaskIndex& before : tasks.back().after) before = moved[before];
      add_runs(t + 1);
    }
    owner.tasks = std::move(tasks);
  }

  Task task_of(const Run& run) const {
    const FillingCost& cost = costs_[run.work];
    Task task;
    task.kind = TaskKind::compute;
    task.name = fmt::format("{} x{}{}", filling_.work[run.work].name, run.pieces,
                            run.exposed ? " exposed" : "");
    task.stream = kKernels;
    task.iteration = static_cast<std::int16_t>(run.iteration);
    task.category = Category::filling;
    task.origin = cost.origin;
    task.cost = {{Category::filling, cost.origin, run.seconds}};
    return task;
  }

  // ---- the report ----

  FillingReport report() const {
    FillingReport report;
    const int iteration = reported_window(job_, plan_).last;
    const int of_pp = job_.layout.ranks() / job_.layout.pp;
    report.ranks.resize(job_.layout.pp);
    for (std::size_t work = 0; work < filling_.work.size(); ++work) {
      const FillingCost& cost = costs_[work];
      FilledWork& own = report.work.emplace_back();
      own.name = filling_.work[work].name;
      own.piece_s = cost.piece_s;
      own.unit_s = cost.piece_s * cost.pieces;
      own.flops = cost.flops;
      own.needed = filling_.work[work].need != FillingNeed::nothing;
    }
    for (std::size_t c = 0; c < places_.size(); ++c) {
      const Place& place = places_[c];
      const auto members = static_cast<double>(plan_.classes[c].members.size());
      FilledRank& rank = report.ranks[place.pp];
      for (const Period& period : place.periods) {
        if (period.idle.iteration == iteration) add_idle(place, period, members / of_pp, rank);
      }
      if (!memory_.empty()) {
        rank.memory_bytes = std::max(rank.memory_bytes, most_bytes(place, memory_[place.pp]));
      }
      for (const Run& run : place.runs) {
        if (run.iteration != iteration) continue;
        FilledWork& work = report.work[run.work];
        const double units = members * static_cast<double>(run.pieces) / costs_[run.work].pieces;
        work.done += units;
        if (run.exposed) {
          work.exposed += units;
          work.exposed_s = std::max(work.exposed_s, run.seconds * place.slowdown);
        } else {
          rank.filled_s += members / of_pp * run.seconds * place.mean_slowdown;
        }
      }
    }
    for (int work = 0; work < std::ssize(report.work); ++work) {
      report.work[work].left_out = left_out(work, iteration);
    }
    return report;
  }

  // Returns the peak memory in bytes, with the resident data of the work that runs there and the
  // memory of a piece.
  double most_bytes(const Place& place, const GpuMemory& training) const {
    std::set<int> works;
    double piece_bytes = 0;
    for (const Run& run : place.runs) {
      works.insert(run.work);
      piece_bytes = std::max(piece_bytes, costs_[run.work].working_bytes - run.unused_bytes);
    }
    double held_bytes = 0;
    for (const int work : works) held_bytes += place.held_bytes[work];
    return training.total() + held_bytes + piece_bytes;
  }

  // Counts what is left of a period: memory is missing, or the rest is too short for a piece.
  void add_idle(const Place& place, const Period& period, double share, FilledRank& rank) const {
    rank.idle_s += share * period.idle.seconds;
    bool room = false;
    for (int work = 0; work < std::ssize(filling_.work); ++work) {
      room = room || has_room(work, place, period);
    }
    (room ? rank.short_s : rank.memory_s) += share * period.left_s * place.mean_slowdown;
  }

  std::string left_out(int work, int iteration) const {
    std::set<int> full;
    bool is_short = false;
    bool is_left = false;
    for (const Place& place : places_) {
      if (place.held_bytes[work] < 0) full.insert(place.pp);
      for (const Period& period : place.periods) {
        if (period.idle.iteration != iteration || period.left_s <= 0) continue;
        const bool room = has_room(work, place, period);
        if (!room) full.insert(place.pp);
        is_short = is_short || room;
        is_left = is_left || fits(work, place, period) > 0;
      }
    }
    if (is_left) return {};
    std::string text;
    if (is_short) text = "idle periods are too short for another piece";
    if (!full.empty()) {
      text += fmt::format("{}pipeline rank{} {} without memory for it", text.empty() ? "" : "; ",
                          full.size() > 1 ? "s" : "", ranks_text(full));
    }
    return text;
  }

  static std::string ranks_text(const std::set<int>& ranks) {
    if (ranks.size() > 2 && *ranks.rbegin() - *ranks.begin() + 1 == std::ssize(ranks)) {
      return fmt::format("{} to {}", *ranks.begin(), *ranks.rbegin());
    }
    std::string text;
    for (const int rank : ranks) text += fmt::format("{}{}", text.empty() ? "" : ", ", rank);
    return text;
  }

  const Job& job_;
  const Filling& filling_;
  const std::vector<GpuMemory>& memory_;
  const Plan& plan_;
  const Timeline& timeline_;
  std::vector<FillingCost> costs_;           // [work]
  std::vector<Place> places_;                // [class]
  std::map<int, std::vector<int>> columns_;  // classes of replicas that are alike, by the first
};

}  // namespace

FilledPlan fill_plan(const Job& job, const std::vector<GpuMemory>& memory, const Plan& plan,
                     const Timeline& timeline, std::span<const double> slowdowns) {
  return Filler(job, memory, plan, timeline, slowdowns).fill();
}

Timeline evaluate_filled(const Job& job, const std::vector<GpuMemory>& memory, Plan& plan,
                         std::span<const double> slowdowns) {
  const auto evaluated = [&] {
    return slowdowns.empty() ? evaluate_plan(plan, job.cluster)
                             : evaluate_plan(plan, job.cluster, slowdowns);
  };
  Timeline timeline = evaluated();
  if (!job.filling) return timeline;
  plan = fill_plan(job, memory, plan, timeline, slowdowns).plan;
  return evaluated();
}

}  // namespace windtunnel
