#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "models/compression/compressors.hpp"
#include "models/cost/memory/gradient_buffers.hpp"
#include "models/workload/recompute_parts.hpp"
#include "policies/exchange/replica_groups.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {
namespace {

using Keys = std::vector<std::string>;

// Keys that the user wrote, without those that the named software sets.
Keys stated_of(const Values& values, const Keys& keys) {
  Keys stated;
  std::ranges::copy_if(keys, std::back_inserter(stated), [&](const std::string& key) {
    const Value* value = values.find(key);
    return values.stated(key) && (value == nullptr || value->scheme.empty());
  });
  return stated;
}

Keys stated_below(const Values& values, const std::string& map, const char* but) {
  Keys keys;
  for (const std::string& key : child_keys(map)) {
    if (key != but) keys.push_back(join_path(map, key));
  }
  return stated_of(values, keys);
}

// Modules in a list under `recompute` that the model does not have.
void add_idle_modules(const Job& job, std::vector<Note>& notes) {
  Recompute set = job.recompute;
  set.method = RecomputeMethod::all;
  set.layers = 0;
  if (job.network || has_name(set)) return;
  Keys idle;
  for (const auto& [name, module] : kChoices<RecomputeModule>) {
    if (set.states(module) && !has_module(job.model, module)) idle.emplace_back(name);
  }
  if (idle.empty()) return;
  notes.push_back(
      {"recompute", fmt::format("{} recomputes nothing, because no layer of model '{}' has it",
                                fmt::join(idle, ", "), job.model.name)});
}

// These notes are about keys of the software that the job does not use.
void add_idle_software(const Values& values, const Job& job, std::vector<Note>& notes) {
  const auto add = [&](const Keys& keys, const char* why) {
    if (!keys.empty()) notes.push_back({fmt::format("{}", fmt::join(keys, ", ")), why});
  };
  const bool attends = !job.network && job.model.layers_with(has_attention) > 0;
  if (!attends) add(stated_of(values, {"attention"}), "has no effect: no layer has attention");
  if (job.calibration.attention != nullptr) {
    add(stated_of(values, {"software.portable_attention"}),
        "has no effect: attention names the kernel");
  }
  if (job.network || job.model.layers_with(has_mlp) == 0) {
    add(stated_of(values, {"software.mlp_tiles"}),
        "has no effect: no layer has a dense MLP, and experts are not divided into tiles");
  }
  if (job.network || job.model.activation != Activation::swiglu) {
    add(stated_of(values, {"software.fp8_activation_inputs"}),
        "has no effect: no activation is gated");
  }
  if (job.precision != Precision::fp8 || !job.software.scaled_copies) {
    add(stated_of(values, {"software.weight_transposes"}),
        "has no effect: only weights that are kept in fp8 (precision: fp8, software.scaled_copies) "
        "have transposed copies");
  }
  if (job.layout.sharding == Sharding::none || !is_mixed(job.precision)) {
    add(stated_of(values, {"software.fp32_shards"}),
        "has no effect: shards in fp32 exist only if layout.sharding divides weights that compute "
        "in 16 bits");
  }
  if (bucket_elements(job) > 0) {
    add(stated_of(values, {"communication.bucket"}),
        "has no effect: communication.bucket_elements sets how many gradients a bucket has; set "
        "that and communication.bucket_elements_per_replica to 0 to count bytes");
  }
}

// The number of ranks that an axis sends among; for dp the largest group of an island that reduces
// one gradient.
int ranks_of(const Job& job, Category axis) {
  const Layout& layout = job.layout;
  switch (axis) {
    case Category::tp:
      return layout.tp;
    case Category::cp:
      return job.lengths ? layout.cp * layout.dp : layout.cp;
    case Category::ep:
      return layout.ep;
    case Category::pp:
      return layout.pp;
    default: {
      const bool experts = job.model.moe_layers() > 0;
      return std::max(layout.island_replicas(),
                      experts ? replica_groups(layout, ReplicaAxis::expert_shard).count : 1);
    }
  }
}

// Notes on an axis of one rank, which sends nothing.
void add_idle_axes(const Values& values, const Job& job, std::vector<Note>& notes) {
  const auto add = [&](Category axis, Keys keys) {
    keys = stated_of(values, keys);
    if (keys.empty()) return;
    const bool gradients = axis == Category::dp;
    notes.push_back({fmt::format("{}", fmt::join(keys, ", ")),
                     fmt::format("nothing takes it: {}",
                                 gradients ? "each gradient is on one rank only, so none is sent "
                                             "(layout.dp and cp, or those of an island, are 1)"
                                           : fmt::format("layout.{} is 1", to_string(axis)))});
  };
  for (const CompressedAxis& each : kCompressedAxes) {
    if (ranks_of(job, each.axis) > 1) continue;
    for (const std::string& place : values.items("compress")) {
      if (values.text(place + ".axis") == to_string(each.axis)) add(each.axis, {place});
    }
    const std::string collectives =
        fmt::format("communication.collectives.{}", to_string(each.axis));
    add(each.axis, {collectives + ".algorithm", collectives + ".protocol"});
  }
  const Communication& own = job.communication;
  const bool layers = std::ranges::any_of(
      job.sync, [](const SyncLevel& level) { return level.start == SyncStart::layers; });
  if (ranks_of(job, Category::dp) == 1) {
    Keys keys = {"communication.robust", "communication.servers"};
    if (compresses(own.compressors.dp)) keys.emplace_back("communication.compressor");
    if (own.aggregation != Aggregation::all_reduce) {
      keys.emplace_back("communication.aggregation");
    }
    if (own.embeddings != EmbeddingExchange::dense) keys.emplace_back("communication.embeddings");
    if (!layers && own.overlap != GradientOverlap::none) {
      keys.emplace_back("communication.overlap");
    }
    add(Category::dp, keys);
  } else if (own.overlap != GradientOverlap::priority) {
    const Keys keys = stated_of(values, {"communication.partition", "communication.credit"});
    if (!keys.empty()) {
      notes.push_back({fmt::format("{}", fmt::join(keys, ", ")),
                       "has no effect without communication.overlap: priority"});
    }
  }
}

// Keys of a feature that the scenario does not use.
void add_idle(const Values& values, const Job& job, std::vector<Note>& notes) {
  const auto add = [&](const Keys& keys, const char* why) {
    if (!keys.empty()) notes.push_back({fmt::format("{}", fmt::join(keys, ", ")), why});
  };
  if (!job.redundancy) {
    add(stated_below(values, "redundancy", "scheme"), "has no effect: the scheme is none");
  }
  if (!job.communication.robust) {
    add(stated_below(values, "communication.robust", "rule"), "has no effect: the rule is none");
  }
  if (job.campaign.length_s > 0 && job.sync.empty()) {
    add(stated_of(values, {"recovery.stream"}),
        "has no effect without islands (sync) that copy the state from each other");
  }
  if (job.campaign.length_s > 0 && job.recovery.when_no_spare != WhenNoSpare::relayout) {
    add(stated_of(values, {"recovery.relayout"}),
        "has no effect without recovery.when_no_spare: relayout");
  }
  const auto copies = [&](ReplicaAxis axis) { return replica_groups(job.layout, axis).count > 1; };
  const bool reduces = job.layout.sharding >= Sharding::zero2;
  const bool of_experts = job.model.moe_layers() > 0 && copies(ReplicaAxis::expert_across);
  if (!reduces || !(copies(ReplicaAxis::dense_across) || of_experts)) {
    add(stated_of(values, {"layout.copies_summed"}),
        "has no effect: micro-batches reduce gradients only with layout.sharding: zero2 or zero3, "
        "and shards have copies only if layout.shard_ranks or layout.expert_shard_ranks is less "
        "than the number of ranks");
  }
  add_idle_axes(values, job, notes);
  add_idle_modules(job, notes);
  add_idle_software(values, job, notes);
  const Transport transport = job.cluster.fabric.transport;
  const bool plain = transport != Transport::infiniband && transport != Transport::ici;
  if (plain && !job.calibration.network.stated) {
    add(stated_of(values, {"cluster.fabric.transport"}),
        "changes no time: with this law, rate and latency of links follow from the calibration "
        "alone; the law of NCCL uses the transport (communication.law: nccl)");
  }
  if (values.stated("volunteers")) {
    add(stated_of(values, {"communication.compressor", "compress", "communication.robust",
                           "redundancy", "sync", "cluster.jitter"}),
        "affects the figures of the job, not those of volunteers: their peers average whole "
        "gradients in every step, and each has the speed stated for it");
  }
}

}  // namespace

std::vector<Note> unused_keys(const Values& values, const Job& job) {
  std::vector<Note> notes;
  const bool engines = values.stated("rollout");  // they fail, recover and cost money, too
  if (job.campaign.length_s == 0) {
    std::vector<std::string> keys;
    for (const char* key : {"snapshots", "failures", "recovery"}) {
      if (values.stated(key) && (!engines || key == std::string_view("snapshots"))) {
        keys.emplace_back(key);
      }
    }
    if (!keys.empty()) {
      notes.push_back(
          {fmt::format("{}", fmt::join(keys, ", ")),
           "changes no figure: without campaign.length only one iteration is simulated, without "
           "failures and snapshots; add e.g. 'campaign: {length: 54 d}'"});
    }
  }
  const bool pool_price = std::ranges::any_of(
      job.cluster.pools, [](const Pool& pool) { return pool.price_usd_per_gpu_s > 0; });
  if ((values.stated("job.price") || pool_price) && job.tokens == 0 && !engines) {
    notes.push_back(
        {pool_price ? "cluster.pools.*.price" : "job.price",
         "has no effect without job.tokens or job.steps, which the cost needs; add one"});
  }
  if (values.stated("cluster.common") && !job.cluster.networks_differ()) {
    notes.push_back(
        {"cluster.common",
         "has no effect: cluster.pools.0.network and the others put all nodes in one network"});
  }
  add_idle(values, job, notes);
  return notes;
}

void refuse_unused(const Values& values, const std::string& place,
                   const std::vector<UnusedKeys>& rows) {
  for (const UnusedKeys& row : rows) {
    for (const std::string_view name : row.keys) {
      const std::string key = join_path(place, name);
      if (row.unused && values.stated(key)) values.fail(key, row.why);
    }
  }
}

}  // namespace windtunnel
