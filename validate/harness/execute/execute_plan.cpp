#include "validate/harness/execute/execute_plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <tuple>

#include "models/base/error.hpp"
#include "models/plan/kernel_pace.hpp"
#include "validate/harness/execute/forked_run.hpp"
#include "validate/harness/execute/rank_run.hpp"
#include "validate/harness/execute/testbed.hpp"
#include "validate/harness/ranks/own_core.hpp"
#include "validate/harness/ranks/rank_sockets.hpp"

namespace windtunnel {
namespace {

class PlanExecution {
 public:
  PlanExecution(const Plan& plan, const Cluster& cluster, const ExecuteOptions& options)
      : plan_(plan),
        cluster_(cluster),
        options_(options),
        links_(cluster, copies_over_pcie(plan)),
        works_(plan, cluster, options.calibration, options.pool_calibrations, links_),
        templates_(class_templates(plan)),
        of_rank_(class_of_rank(plan)),
        buckets_(static_cast<std::size_t>(links_.count()) * sizeof(LinkClocks::Bucket)),
        strangers_(static_cast<std::size_t>(plan.ranks) * sizeof(Strangers)) {
    std::size_t spans = 0;
    for (const ClassMember& at : of_rank_) {
      first_span_.push_back(spans);
      spans += plan.classes[at.rank_class].tasks.size();
    }
    spans_ = std::make_unique<SharedMemory>(std::max<std::size_t>(1, spans) * sizeof(Span));
    std::fill_n(spans_of(0), spans, Span{kNotYet, kNotYet});
    for (RankId rank = 0; rank < plan.ranks; ++rank) new (strangers_of(rank)) Strangers(0);
    for (LinkId link = 0; link < links_.count(); ++link) new (bucket(link)) LinkClocks::Bucket(0);
  }

  PlanRun run() {
    if (options_.testbed) {
      run_on(Testbed(cluster_, options_.scale));
    } else {
      const ForkedRanks ports(plan_.ranks);
      if (options_.nccl) device_ports_.emplace(plan_.ranks);
      run_forked(
          plan_.ranks, "rank",
          [&](int rank, const ForkedProcess& process) {
            run_rank(rank, process, [&] { return ports.connect(rank); });
          },
          rules());
    }
    PlanRun execution;
    execution.timeline = timeline();
    for (RankId rank = 0; rank < plan_.ranks; ++rank) execution.strangers += *strangers_of(rank);
    return execution;
  }

 private:
  using Strangers = std::atomic<std::int32_t>;
  static constexpr double kNotYet = std::numeric_limits<double>::quiet_NaN();

  LinkClocks::Bucket* bucket(LinkId link) const {
    return reinterpret_cast<LinkClocks::Bucket*>(buckets_.data()) + link;
  }
  Strangers* strangers_of(RankId rank) const {
    return reinterpret_cast<Strangers*>(strangers_.data()) + rank;
  }
  WatchRules rules() {
    return {.standstill_s = options_.standstill_s,
            .where = [this] { return standing_at(); },
            .at_start = [this] { device_ports_.reset(); }};
  }
  Span* spans_of(RankId rank) const {
    return reinterpret_cast<Span*>(spans_->data()) + first_span_[rank];
  }

  void run_on(const Testbed& testbed) {
    constexpr int kFirstPort = 20000;
    constexpr double kMeetS = 60;
    std::vector<RankAddress> addresses;
    for (RankId rank = 0; rank < plan_.ranks; ++rank) {
      addresses.push_back({testbed.address(cluster_.node_of(rank)), kFirstPort + rank});
    }
    const std::uint64_t secret = run_secret();
    run_forked(
        plan_.ranks, "rank",
        [&](int rank, const ForkedProcess& process) {
          testbed.enter(cluster_.node_of(rank));
          run_rank(rank, process, [&] { return meet_ranks(rank, addresses, secret, kMeetS); });
        },
        rules());
  }

  void run_rank(RankId rank, const ForkedProcess& process,
                const std::function<MetRanks()>& connect) {
    wake_exactly();
    const LinkClocks links(links_, bucket(0), !options_.testbed);
    std::optional<SignsOfLife> signs(std::in_place, process);
    if (options_.kernels) take_device(*options_.kernels, rank);
    RankSetup setup = setup_of(rank, links);
    std::optional<DeviceCollectives> device;
    int strangers = 0;
    if (device_ports_) {
      const MetRanks met = device_ports_->connect(rank);
      close(met.listener);
      device_ports_.reset();
      strangers = met.strangers;
      device.emplace(rank, met.sockets);
      setup.device = &*device;
    }
    RankWire wire(rank, connect(), options_.testbed);
    signs.reset();
    const std::int64_t start_ns = process.wait_for_start();
    const RunClock clock(start_ns, options_.scale.times, 2 * plan_.ranks <= usable_cores(),
                         process.sleeps_until_ns());
    RankRun run(setup, wire, clock, spans_of(rank),
                [&](const std::exception& error) { process.fail(error); });
    run.run(
        [&](bool through) {
          *strangers_of(rank) = strangers + wire.strangers();
          return process.all_through(through);
        },
        [&] { process.step(); });
  }

  RankSetup setup_of(RankId rank, const LinkClocks& links) const {
    RankSetup setup;
    setup.plan = &plan_;
    setup.rank_class = of_rank_[rank].rank_class;
    setup.member = of_rank_[rank].member;
    setup.tasks_of = &templates_[setup.rank_class];
    setup.links = &links;
    setup.scale = options_.scale;
    KernelPace pace(plan_, cluster_);
    const std::span<const double> slowdowns = pace.slowdowns(rank);
    const RankClass& rank_class = plan_.classes[setup.rank_class];
    if (options_.kernels) setup.kernels.resize(rank_class.streams.size());
    for (std::size_t t = 0; t < rank_class.tasks.size(); ++t) {
      const Task& task = rank_class.tasks[t];
      if (options_.kernels && task.kind == TaskKind::compute && !setup.kernels[task.stream]) {
        setup.kernels[task.stream] = std::make_unique<StreamKernels>(*options_.kernels);
      }
      const double slowdown = slowdowns[pace.place(static_cast<TaskIndex>(t), task.iteration)];
      setup.seconds.push_back(plain_seconds(task, slowdown));
      setup.amount_factor.push_back(slowed_by_node(task.kind) ? slowdown : 1);
      setup.works.emplace_back();
      if (task.kind != TaskKind::collective) continue;
      const std::int32_t group = rank_class.groups[task.group_slot][setup.member];
      setup.works.back() = works_.of(task, group, rank);
    }
    return setup;
  }

  // Among tasks that have begun and not ended, describes one that waits for no other rank if
  // possible, and else the one that began first.
  std::string standing_at() const {
    std::string said = "no task is running";
    std::tuple<bool, double> least = {true, std::numeric_limits<double>::infinity()};
    for (RankId rank = 0; rank < plan_.ranks; ++rank) {
      const std::vector<Task>& tasks = plan_.classes[of_rank_[rank].rank_class].tasks;
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        const Span span = spans_of(rank)[t];
        const TaskKind kind = tasks[t].kind;
        const std::tuple key = {kind == TaskKind::recv || kind == TaskKind::collective,
                                span.start_s};
        if (std::isnan(span.start_s) || !std::isnan(span.end_s) || key >= least) continue;
        least = key;
        said = fmt::format("rank {} is in {} '{}'", rank, name_of(kind), tasks[t].name);
      }
    }
    return said;
  }

  Timeline timeline() const {
    Timeline timeline;
    timeline.iteration_end_s.assign(static_cast<std::size_t>(plan_.iterations), 0);
    for (RankId rank = 0; rank < plan_.ranks; ++rank) {
      RankTimeline recorded;
      recorded.rank = rank;
      recorded.rank_class = of_rank_[rank].rank_class;
      const std::vector<Task>& tasks = plan_.classes[recorded.rank_class].tasks;
      recorded.spans.assign(spans_of(rank), spans_of(rank) + tasks.size());
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        double& end_s = timeline.iteration_end_s[static_cast<std::size_t>(tasks[t].iteration)];
        end_s = std::max(end_s, recorded.spans[t].end_s);
        timeline.makespan_s = std::max(timeline.makespan_s, recorded.spans[t].end_s);
      }
      timeline.recorded_as.push_back(rank);
      timeline.ranks.push_back(std::move(recorded));
    }
    timeline.ranks_simulated = plan_.ranks;
    return timeline;
  }

  const Plan& plan_;
  const Cluster& cluster_;
  const ExecuteOptions& options_;
  LinkTable links_;
  CollectiveWorks works_;
  std::vector<ClassTemplate> templates_;
  std::vector<ClassMember> of_rank_;
  SharedMemory buckets_;
  SharedMemory strangers_;               // [rank]
  std::vector<std::size_t> first_span_;  // [rank]
  std::unique_ptr<SharedMemory> spans_;
  std::optional<ForkedRanks> device_ports_;  // with which ranks find each other for NCCL
};

}  // namespace

PlanRun execute_plan(const Plan& plan, const Cluster& cluster, const ExecuteOptions& options) {
  if (plan.ranks > kMostExecutedRanks) {
    throw Error(fmt::format("there are {} ranks, but at most {} can be executed, one process each",
                            plan.ranks, kMostExecutedRanks));
  }
  if (options.nccl) {
    CHECK(!options.testbed, "NCCL finds its own network");
    check_device_collectives(plan);
  }
  return PlanExecution(plan, cluster, options).run();
}

CarriedBytes bytes_to_carry(const Plan& plan, const Cluster& cluster,
                            const ExecuteOptions& options) {
  const LinkTable links(cluster, copies_over_pcie(plan));
  const CollectiveWorks works(plan, cluster, options.calibration, options.pool_calibrations, links);
  return carried_bytes(plan, works, links);
}

}  // namespace windtunnel
