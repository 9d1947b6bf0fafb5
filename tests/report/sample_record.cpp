#include "tests/report/sample_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace windtunnel {
namespace {

constexpr double kForward_s = 0.010;
constexpr double kBackward_s = 0.020;
constexpr double kMessage_s = 0.001;

enum StreamIndex : std::int16_t { kCompute, kSend, kRecv };

class Builder {
 public:
  explicit Builder(const SampleOptions& options) : pp_(options.pp), m_(options.microbatches) {
    plan_.ranks = pp_;
    for (int rank = 0; rank < pp_; ++rank) {
      RankClass rank_class;
      rank_class.name = fmt::format("pp {}", rank);
      rank_class.members = {rank};
      rank_class.streams = {{"compute", StreamOrder::in_order},
                            {"send", StreamOrder::in_order},
                            {"recv", StreamOrder::unordered}};
      rank_class.peers = {{(rank + 1) % pp_}, {(rank + pp_ - 1) % pp_}};
      plan_.classes.push_back(std::move(rank_class));
      timeline_.ranks.push_back({rank, rank, 128, {}});
      timeline_.recorded_as.push_back(rank);
    }
  }

  // In GPipe all forward passes run down the pipeline, then all backward passes run up.
  void build() {
    std::vector<double> free_s(pp_, 0.0);
    for (int mb = 0; mb < m_; ++mb) {
      double ready_s = 0;
      for (int rank = 0; rank < pp_; ++rank) {
        const double start_s = std::max(free_s[rank], ready_s);
        free_s[rank] = start_s + kForward_s;
        add(rank, TaskKind::compute, "F", mb, Category::forward, start_s, free_s[rank]);
        if (rank + 1 < pp_) ready_s = message(rank, rank + 1, mb, free_s[rank]);
      }
    }
    for (int mb = 0; mb < m_; ++mb) {
      double ready_s = 0;
      for (int rank = pp_ - 1; rank >= 0; --rank) {
        const double start_s = std::max(free_s[rank], ready_s);
        free_s[rank] = start_s + kBackward_s;
        add(rank, TaskKind::compute, "B", mb, Category::backward, start_s, free_s[rank]);
        if (rank > 0) ready_s = message(rank, rank - 1, mb + m_, free_s[rank]);
      }
    }
    timeline_.makespan_s = free_s[0];
    timeline_.iteration_end_s = {free_s[0]};
    timeline_.events = static_cast<std::uint64_t>(pp_) * m_ * 4;
    timeline_.ranks_simulated = pp_;
  }

  Plan plan_;
  Timeline timeline_;

 private:
  Task& add(int rank, TaskKind kind, const char* letter, int mb, Category category, double start_s,
            double end_s) {
    Task task;
    task.kind = kind;
    task.name = fmt::format("{}{}.{}", letter, rank, mb);
    task.stage = rank;
    task.microbatch = mb;
    task.category = category;
    if (kind == TaskKind::compute) task.cost = {{category, Origin::published, end_s - start_s}};
    plan_.classes[rank].tasks.push_back(task);
    timeline_.ranks[rank].spans.push_back({start_s, end_s});
    return plan_.classes[rank].tasks.back();
  }

  // Adds a message whose receive is posted at time 0; returns the time of its arrival.
  double message(int from, int to, int tag, double start_s) {
    const double end_s = start_s + kMessage_s;
    Task& send = add(from, TaskKind::send, "send", tag, Category::pp, start_s, end_s);
    send.stream = kSend;
    send.peer_slot = static_cast<std::int16_t>(to > from ? 0 : 1);
    send.tag = tag;
    send.bytes = 33554432;
    Task& receive = add(to, TaskKind::recv, "recv", tag, Category::pp, 0, end_s);
    receive.stream = kRecv;
    receive.peer_slot = static_cast<std::int16_t>(from > to ? 0 : 1);
    receive.tag = tag;
    receive.bytes = 33554432;
    return end_s;
  }

  int pp_;
  int m_;
};

Estimate around(double mean, double half_width) {
  Estimate estimate;
  estimate.mean = mean;
  estimate.low = mean - half_width;
  estimate.high = mean + half_width;
  estimate.p05 = mean - 5 * half_width;
  estimate.p95 = mean + 5 * half_width;
  return estimate;
}

std::vector<TierReport> sample_tiers() {
  TierReport near;
  near.name = "peers";
  near.every_s = 60;
  near.saving_s = 12.5;
  near.stall_s = 0.15;
  near.overhead = 0.0025;
  near.restore_s = 1.5;
  near.rebuild_s = 4;
  near.moved_bytes = 5e9;
  near.wire_bytes = 2.5e9;
  near.host_bytes = 120e9;
  near.survival_7d = 0.99975;
  TierReport far;
  far.name = "storage";
  far.every_s = 3600;
  far.saving_s = 95;
  far.stall_s = 27;
  far.overhead = 0.0075;
  far.restore_s = 42;
  far.moved_bytes = 5e9;
  return {near, far};
}

// The intervals are from 1 min to 4 h; the best simulated interval is longer than the formulas'.
IntervalReport sample_interval() {
  IntervalReport report;
  report.tier = "storage";
  report.mtbf_s = 11000;
  report.cost_s = 27;
  report.restart_s = 240;
  report.configured_s = 3600;
  report.young_s = 772;
  report.daly_s = 754;
  report.exact_s = 763;
  report.formula_goodput = 0.807;
  report.rsc_ettr = 0.815;
  for (const double every_s : {60, 120, 240, 480, 763, 772, 960, 1920, 3600, 7200, 14400}) {
    const double expected = 1 - 27 / every_s - every_s / 22000 - 240.0 / 11000;
    const double simulated = expected - 0.01 * std::abs(std::log(every_s / 1000));
    report.points.push_back({every_s, expected, around(simulated, 0.004)});
  }
  const auto simulated_at = [&](double every_s) {
    const auto at = [&](const IntervalReport::Point& point) { return point.every_s == every_s; };
    return std::ranges::find_if(report.points, at)->goodput.mean;
  };
  report.best_s = 960;
  report.best_goodput = simulated_at(960);
  report.young_regret = report.best_goodput - simulated_at(772);
  report.exact_regret = report.best_goodput - simulated_at(763);
  return report;
}

CampaignReport sample_campaign() {
  CampaignReport report;
  const double wall_s = 54 * 86400.0;
  report.trials = 100;
  report.goodput = around(0.93, 0.001);
  report.ettr = around(0.94, 0.001);
  report.wall_s = around(wall_s, 0);
  report.useful_s = around(0.93 * wall_s, 0.001 * wall_s);
  report.failures = {
      {"node", around(358, 4)}, {"unexpected", around(419, 4)}, {"planned", around(47, 1)}};
  const double lost[kLosses] = {0.01, 0.012, 0.006, 0.022, 0, 0.02};
  for (int i = 0; i < kLosses; ++i) {
    report.lost_s[i] = around(lost[i] * wall_s, 0.0002 * wall_s);
    report.lost[i] = around(lost[i], 0.0002);
  }
  report.survival = {{"host-memory", around(0.18, 0.01)}, {"storage", around(0.82, 0.01)}};
  report.tiers = sample_tiers();
  report.interval = sample_interval();
  report.counts[static_cast<int>(CampaignCount::failed_restarts)] = around(20.5, 1);
  report.job_days = around(77.5, 0.4);
  report.job_cost_usd = around(61e6, 3e5);
  return report;
}

void fill_iteration(Record& record, int pp) {
  IterationReport& report = record.iteration;
  report.time_s = record.timeline.makespan_s;
  report.tokens_per_s = 2048.0 * 8192 / report.time_s;
  report.tflops_per_gpu = 412.25;
  report.mfu = 0.4168;
  report.hfu = 0.4301;
  report.mfu_causal = 0.4101;
  report.hfu_causal = 0.4234;
  report.bubble = {0.25 * report.time_s, 0.125 * report.time_s, 0.25};
  const double shares[kCategories] = {0.25,   0.5, 0,       0.0625, 0.0625, 0,
                                      0.0625, 0,   0.03125, 0,      0.03125};
  for (int i = 0; i < kCategories; ++i) report.critical_path_s[i] = shares[i] * report.time_s;
  for (int rank = 0; rank < pp; ++rank) {
    GpuMemory memory;
    memory.weights = 6.3e9;
    memory.gradients = 12.6e9;
    memory.optimizer = 2.4e9;
    memory.activations = 4e9 + 36e9 * (pp - rank) / pp;
    memory.buffers = 1.2e9;
    memory.framework = 5e9;
    report.memory.push_back(memory);
  }
}

}  // namespace

Record sample_record(const SampleOptions& options) {
  Builder builder(options);
  builder.build();
  Record record;
  record.scenario = "sample";
  record.key = "0123456789abcdef";
  record.source = {"1.2.3",
                   "0123456789ab",
                   "/a/b.yaml",
                   "name: sample\n",
                   {{"layout.pp", "4"}},
                   {{.name = "a.csv", .text = "steps\n5\n", .hash = "0123456789abcdef"},
                    {.name = "large.csv", .hash = "123456789abcdef0"}},
                   true};
  record.values = {{"layout.pp", "4", false, Origin::spec, "scenario"},
                   {"fold", "auto", true, Origin::assumed, "default"}};
  record.plan = std::move(builder.plan_);
  record.timeline = std::move(builder.timeline_);
  record.ranks = 128 * options.pp;
  record.wall_s = 0.5;
  record.peak_rss_bytes = 1e8;
  record.origin = {0, 0.5, 0.25, 0.25};

  Job& job = record.job;
  job.model.name = "llama3-405b";
  job.model.layers = 126;
  job.model.hidden = 16384;
  job.model.heads = 128;
  job.model.kv_heads = 8;
  job.model.ffn_hidden = 53248;
  job.model.vocabulary = 128256;
  job.cluster.nodes = 2048;
  job.cluster.node.name = "dgx-h100";
  job.cluster.node.gpu.name = "h100";
  job.cluster.node.gpu.memory_bytes.value = 80e9;
  job.layout.tp = 8;
  job.layout.pp = options.pp;
  job.layout.dp = 128;
  job.layout.sharding = Sharding::zero1;
  job.batch = {2048, 1, 8192};
  job.schedule.name = "gpipe";
  fill_iteration(record, options.pp);
  if (options.campaign) record.campaign = sample_campaign();
  return record;
}

}  // namespace windtunnel
