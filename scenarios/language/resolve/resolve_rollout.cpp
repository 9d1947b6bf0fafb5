// Engines that generate samples for reinforcement learning, from checked values.
#include <cmath>

#include "models/cost/inference/engine_speed.hpp"
#include "models/cost/inference/weight_transfer.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/workload/layer_table.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {
namespace {

constexpr double kNormalP99 = 2.3263478740408408;  // quantile of the normal law at 0.99

LengthDistribution resolve_output(const Values& values, double room) {
  LengthDistribution output;
  const auto key = [](const char* name) { return fmt::format("rollout.output.{}", name); };
  output.buckets = resolve_buckets(values, "rollout.output");
  if (!output.buckets.empty()) return output;
  const bool by_mean = values.stated(key("mean"));
  if (by_mean == values.stated(key("median"))) {
    values.fail("rollout.output", by_mean ? "has both a median and a mean; keep one of them"
                                          : "has neither a median, a mean nor buckets; add e.g. "
                                            "'median: 2000'");
  }
  output.longest = room;
  values.fill("rollout.output", output);
  if (values.stated(key("p99"))) {
    if (by_mean || values.stated(key("sigma"))) {
      values.fail(key("p99"), "needs a median, and replaces sigma");
    }
    const double p99 = values.number(key("p99"));
    if (p99 < output.median) values.fail(key("p99"), "is below the median");
    output.sigma = std::log(p99 / output.median) / kNormalP99;
  }
  if (by_mean) {
    output.median = values.number(key("mean")) * std::exp(-output.sigma * output.sigma / 2);
  }
  return output;
}

void check_mode(const Values& values, const Job& job, const RolloutSpec& rollout) {
  if (rollout.colocated == (rollout.nodes > 0)) {
    values.fail(
        "rollout",
        rollout.colocated
            ? "colocated engines use the job's nodes; leave out nodes"
            : "states neither nodes nor 'colocated: true' for the engines; add one of them");
  }
  const bool asynchronous = rollout.mode == RolloutMode::asynchronous;
  if (rollout.colocated && rollout.mode != RolloutMode::synchronous) {
    values.fail("rollout.mode",
                "colocated engines and the job take turns on the same GPUs, which only mode "
                "synchronous supports; take synchronous, or give the engines nodes");
  }
  refuse_unused(
      values, "rollout",
      {{!asynchronous, {"staleness", "keep_cache"}, "applies to mode: asynchronous"},
       {job.cluster.pools.empty(), {"pool"}, "needs cluster.pools, and there are none"},
       {rollout.colocated,
        {"pool"},
        "has no effect, because colocated engines run on the job's nodes"},
       {!rollout.colocated, {"offload"}, "applies to colocated engines"},
       {rollout.colocated && !gathers_tensors(rollout.weights),
        {"weights"},
        "has no effect, because GPUs of colocated engines get only what they lack; leave it out, "
        "or take gather or packed (which are then equal) to send every tensor whole"}});
}

// Every GPU on which engines run must support their precision.
void check_engine_precision(const Values& values, const Job& job, const RolloutSpec& rollout) {
  const Cluster& cluster = job.cluster;
  const Precision precision = engine_precision(job, rollout.engine);
  const auto check = [&](const NodeSpec& node) {
    values.about("rollout.engine.precision", [&] { return peak_flops(node.gpu, precision); });
  };
  if (cluster.pools.empty()) check(cluster.node);
  for (const Pool& pool : cluster.pools) {
    if (rollout.colocated || pool.name == rollout.pool) check(pool.node);
  }
}

}  // namespace

std::shared_ptr<const RolloutSpec> resolve_rollout(const Values& values, const Job& job) {
  if (!values.stated("rollout")) return nullptr;
  RolloutSpec rollout;
  values.fill("rollout", rollout);
  values.fill("rollout.engine", rollout.engine);
  check_mode(values, job, rollout);
  check_engine_precision(values, job, rollout);
  const double samples = static_cast<double>(rollout.prompts) * rollout.samples;
  if (samples > 1e6) {
    values.fail("rollout.prompts",
                fmt::format("{} prompts with {} samples each are more than a million samples",
                            rollout.prompts, rollout.samples));
  }
  const int islands = job.layout.islands();
  for (const auto& [key, count] :
       {std::pair("rollout.prompts", rollout.prompts), std::pair("rollout.nodes", rollout.nodes)}) {
    if (count % islands == 0) continue;
    values.fail(key, fmt::format("{} is no multiple of the {} islands (sync), each of which has "
                                 "its own engines and prompts; take a multiple",
                                 count, islands));
  }
  const double room = job.batch.sequence - rollout.prompt_length;
  if (room < 1) {
    values.fail(
        "rollout.prompt_length",
        fmt::format("batch.sequence {} leaves no tokens for an output after the {} of a prompt",
                    job.batch.sequence, rollout.prompt_length));
  }
  rollout.output = resolve_output(values, room);
  double longest = rollout.output.buckets.empty() ? rollout.output.longest : 0;
  for (const LengthBucket& bucket : rollout.output.buckets) {
    longest = std::max(longest, bucket.longest);
  }
  if (longest > room) {
    values.fail("rollout.output", fmt::format("{:.0f} tokens after a prompt of {} are more than "
                                              "batch.sequence {}, on which the job trains",
                                              longest, rollout.prompt_length, job.batch.sequence));
  }
  values.about("rollout.output", [&] { return draw_lengths(rollout.output, 1, rollout.seed); });
  rollout_machine(job, rollout);
  return std::make_shared<const RolloutSpec>(rollout);
}

}  // namespace windtunnel
