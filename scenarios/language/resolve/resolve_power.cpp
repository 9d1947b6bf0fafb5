#include <fmt/format.h>

#include "scenarios/language/library/facts/power_watts.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {
namespace {

constexpr const char* kGpuKey = "cluster.power.gpu_watts";
constexpr const char* kIdleKey = "cluster.power.idle_watts";
constexpr const char* kCapKey = "cluster.power.cap_watts";
constexpr const char* kLimitKey = "cluster.node.power_limit";

NodePower power_of(const NodeSpec& node, const Values& values, const EvidenceList& evidence) {
  NodePower power;
  const std::optional<GpuWatts> known = watts_of_gpu(node.gpu.name);
  if (!known && !(values.has(kGpuKey) && values.has(kIdleKey))) {
    values.fail(
        "cluster.power",
        fmt::format("the library has no power figures of {}; state gpu_watts and idle_watts",
                    node.gpu.name));
  }
  if (known) power = {known->peak_W, known->idle_W, {}};
  if (node.power_limit_W > 0) {
    power.gpu_W = {node.power_limit_W, node.power_limit_W, node.power_limit_W, Origin::spec,
                   kLimitKey};
  }
  power.rest_W = rest_watts_of(node);
  override_members("cluster.power", values, evidence, power);
  if (power.gpu_idle_W.value >= power.gpu_W.value) {
    values.fail(
        values.has(kIdleKey) ? kIdleKey : kGpuKey,
        fmt::format("a GPU idles at {:g} W, but its limit is {:g} W; the limit must be higher",
                    power.gpu_idle_W.value, power.gpu_W.value));
  }
  return power;
}

// These defaults may be wrong. docs/physics/power.md explains their ranges.
struct UnsureKey {
  const char* key;
  UnsureDefault unsure;
};
constexpr UnsureKey kUnsure[] = {
    {"cluster.power.communicating", {&PowerSpec::communicating, 0.05, 0.7}},
    {"cluster.power.pue", {&PowerSpec::pue, 1.05, 1.6}},
    {"cluster.power.years", {&PowerSpec::years, 3, 6}},
};

void check_cap(const PowerSpec& power, const Values& values) {
  for (const NodePower& node : power.nodes) {
    if (power.cap_W > node.gpu_idle_W.value) continue;
    values.fail(kCapKey,
                fmt::format("must be above the {:g} W of an idle GPU", node.gpu_idle_W.value));
  }
}

// `key` names the limit in the source of the changed numbers.
void lower(Calibration& calibration, double clock, const char* key) {
  if (clock == 1) return;
  for (Parameter* sustained : {&calibration.kernel_sustained, &calibration.kernel_alone,
                               &calibration.attention_sustained}) {
    for (double* each : {&sustained->value, &sustained->low, &sustained->high}) *each *= clock;
    sustained->origin = Origin::assumed;
    sustained->source += fmt::format("; multiplied by {:.4f}, the clock under {}", clock, key);
  }
  if (calibration.attention != nullptr) {
    auto slower = std::make_shared<AttentionSpeeds>(*calibration.attention);
    for (Parameter* kept : {&slower->in_step, &slower->alone}) {
      for (double* each : {&kept->value, &kept->low, &kept->high}) *each *= clock;
      kept->origin = Origin::assumed;
    }
    calibration.attention = std::move(slower);
  }
  // In a measured law the clock scales the term that grows with operations; only products have one.
  for (KernelLaw& law : calibration.kernel_laws.laws) law.flop_s /= clock;
}

}  // namespace

std::shared_ptr<const PowerSpec> resolve_power(const Values& values, const EvidenceList& evidence,
                                               const Job& job) {
  if (!values.stated("cluster.power")) return nullptr;
  auto power = std::make_shared<PowerSpec>();
  values.fill("cluster.power", *power);
  const std::vector<Pool>& pools = job.cluster.pools;
  const std::string place = "cluster.power";
  refuse_unused(values, place,
                {{!pools.empty(),
                  {"gpu_watts", "idle_watts", "node_watts"},
                  "applies to nodes of one kind; for pools the library's power figures are used"},
                 {!pools.empty(),
                  {"node_usd", "more_nodes"},
                  "applies to nodes of one kind, and this cluster has pools"}});
  for (const Pool& pool : pools) power->nodes.push_back(power_of(pool.node, values, evidence));
  if (pools.empty()) power->nodes.push_back(power_of(job.cluster.node, values, evidence));
  if (power->cap_W > 0) check_cap(*power, values);
  refuse_unused(values, place,
                {{power->node_usd == 0,
                  {"years"},
                  "has no effect without the price of a node (cluster.power.node_usd)"},
                 {power->more_nodes == 0,
                  {"row_apart"},
                  "has no effect without more nodes in a row: cluster.power.more_nodes"}});
  power->kit = network_kit_of(job.cluster);
  for (const UnsureKey& one : kUnsure) {
    if (!values.has(one.key)) power->unsure.push_back(one.unsure);
  }
  return power;
}

void lower_clocks(const PowerSpec& power, Job& job) {
  double lowest = 1;
  for (std::size_t pool = 0; pool < power.nodes.size(); ++pool) {
    const double clock = clock_under_cap(power, power.nodes[pool]);
    lowest = std::min(lowest, clock);
    if (!job.pool_calibrations.empty()) lower(job.pool_calibrations[pool], clock, kCapKey);
  }
  lower(job.calibration, lowest, kCapKey);
}

void limit_clocks(const NodeSpec& node, Calibration& calibration) {
  const double limit_W = node.power_limit_W;
  if (limit_W == 0) return;
  const std::optional<GpuWatts> known = watts_of_gpu(node.gpu.name);
  if (!known) {
    throw Error(
        fmt::format("the library has no power figures of {}, so its clock at {:g} W is unknown; "
                    "leave power_limit out",
                    node.gpu.name, limit_W));
  }
  const double sheet_W = known->peak_W.value;
  const double idle_W = known->idle_W.value;
  if (limit_W <= idle_W || limit_W > sheet_W) {
    throw Error(fmt::format(
        "{:g} W must be above the {:g} W of an idle {} and at most the {:g} W of its data sheet",
        limit_W, idle_W, node.gpu.name, sheet_W));
  }
  PowerSpec law;
  law.cap_W = limit_W;
  lower(calibration, clock_under_cap(law, {known->peak_W, known->idle_W, {}}), kLimitKey);
}

}  // namespace windtunnel
