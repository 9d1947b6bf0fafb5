// A Job from checked values. This file resolves precision, schedule, layout, batch, communication
// and software; the files next to it resolve the other parts.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include "models/cost/chunk/step_work.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/cost/parallel/expert_parallel.hpp"
#include "models/network/groups/collective_steps.hpp"
#include "models/plan/job_collective.hpp"
#include "models/plan/state_shares.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/evaluation/message_validator.hpp"
#include "policies/evaluation/schedule_lowering.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/iteration.hpp"
#include "policies/schedules/schedules.hpp"
#include "policies/search/state_balance.hpp"
#include "policies/shares/stage_balance.hpp"
#include "scenarios/language/resolve/placement.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/choices.hpp"
#include "traces/torch/torch_schedule.hpp"

namespace windtunnel {
namespace {

bool supports(const GpuSpec& gpu, Precision precision) {
  try {
    return peak_flops(gpu, precision) > 0;
  } catch (const Error&) {
    return false;
  }
}

// Reads the modules in the list at `key`.
std::uint16_t modules_at(const Values& values, const std::string& key) {
  if (values.length(key) == 0)
    values.fail(key, "names no module; to recompute nothing, use 'none'");
  Recompute sum;
  for (const std::string& path : values.items(key)) {
    sum = sum.with(value_of<RecomputeModule>(values.text(path)));
  }
  return sum.modules;
}

// Resolves the list or map; a plain name is already set.
void resolve_recompute(const Values& values, Recompute& recompute) {
  const std::string path = "recompute";
  const std::string modules = "recompute.modules";
  if (values.has(path)) return;
  const bool map = values.stated(modules) || values.stated("recompute.method") ||
                   values.stated("recompute.layers");
  if (!map) {
    recompute.modules = modules_at(values, path);
    return;
  }
  recompute = Recompute::full;
  if (values.has(modules)) {
    recompute = recompute_of(values.text(modules));
  } else if (values.stated(modules)) {
    recompute.modules = modules_at(values, modules);
  }
  values.fill(path, recompute);
  const bool counts = recompute.method != RecomputeMethod::all;
  if (counts && recompute.layers == 0) {
    values.fail(
        "recompute.method",
        fmt::format("{} also needs recompute.layers, which says which layers; add e.g. 'layers: 4'",
                    name_of(recompute.method)));
  }
  if (!counts && recompute.layers > 0) {
    values.fail("recompute.layers", "needs a recompute.method: block, uniform or every");
  }
  if (recompute.method == RecomputeMethod::uniform &&
      recompute.modules != Recompute::full.modules) {
    values.fail("recompute.method",
                "uniform keeps the inputs of whole layers, so it needs modules: full");
  }
  if (counts && (recompute.searched || recompute.modules == 0)) {
    values.fail("recompute.method", "needs modules: full, selective or a list of modules");
  }
}

void check_precision(const Values& values, const Job& job) {
  const GpuSpec& gpu = job.cluster.node.gpu;
  if (supports(gpu, job.precision)) return;
  std::vector<std::string_view> supported;
  for (const Choice<Precision>& choice : kChoices<Precision>) {
    if (supports(gpu, choice.value)) supported.push_back(choice.name);
  }
  values.fail("precision", fmt::format("{} does not have {}; it has {}", gpu.name,
                                       name_of(job.precision), fmt::join(supported, ", ")));
}

// Reads a schedule's file. It lists no messages: dependencies between results imply them.
void import_schedule(const Values& values, NamedFiles& files, ScheduleChoice& choice) {
  if (values.stated("schedule.name")) {
    values.fail("schedule.file", "state either a file or a name of a schedule, not both");
  }
  refuse_unused(values, "schedule",
                {{true,
                  {"group", "slices", "memory_limit"},
                  "a schedule from a file already contains this; leave it out"}});
  values.about("schedule.file", [&] {
    const TorchSchedule torch =
        parse_torch_schedule(files.text(choice.file), files.path(choice.file));
    if (const auto fault = find_message_fault(torch.schedule)) {
      throw Error(torch.place(fault->rank, fault->position), fault->what);
    }
    choice.name = torch.schedule.name;
    choice.slices = torch.schedule.slices;
    choice.imported = std::make_shared<const Schedule>(without_messages(torch.schedule));
  });
}

ScheduleChoice resolve_schedule(const Values& values, NamedFiles& files, const OwnSchedules& own) {
  ScheduleChoice choice;
  values.fill("schedule", choice);
  choice.own = own_named(own, choice.name);
  if (!choice.file.empty()) {
    import_schedule(values, files, choice);
  } else if (!values.has("schedule.slices")) {
    choice.slices = schedule_kind(choice).usual_slices;
  }
  return choice;
}

int usual_chunks(const ScheduleChoice& choice) {
  if (choice.imported == nullptr) return schedule_kind(choice).usual_chunks;
  return choice.imported->chunks / choice.imported->directions;
}

// Two keys set the activations between the halves of a layer; they must not contradict each other.
void resolve_activations(const Values& values, Layout& layout) {
  const char* key = "layout.signatures.activations";
  if (!values.has(key)) return;
  const bool split = values.text(key) == "S(0)";
  if (values.stated("layout.sequence_parallel") && split != layout.sequence_parallel) {
    values.fail(key, fmt::format("is {}, but layout.sequence_parallel is {}; leave one of them out",
                                 values.text(key), layout.sequence_parallel));
  }
  layout.sequence_parallel = split;
}

Layout resolve_layout(const Values& values, int gpus, const ScheduleChoice& schedule) {
  Layout layout;
  values.fill("layout", layout);
  resolve_activations(values, layout);
  if (!values.has("layout.vpp") && layout.pp > 1) layout.vpp = usual_chunks(schedule);
  const std::vector<double> stages = values.numbers("layout.stages");
  layout.stage_layers.assign(stages.begin(), stages.end());
  const double width = static_cast<double>(layout.tp) * layout.cp * layout.pp;
  if (!values.has("layout.dp")) {
    if (width > gpus || gpus % static_cast<int>(width) != 0) {
      values.fail("layout",
                  fmt::format("tp {} x cp {} x pp {} = {:.0f} does not divide the {} GPUs "
                              "of the cluster",
                              layout.tp, layout.cp, layout.pp, width, gpus));
    }
    layout.dp = gpus / static_cast<int>(width);
  }
  if (width * layout.dp > 1e9) {
    values.fail("layout",
                fmt::format("{:.0f} ranks; the cluster has {} GPUs", width * layout.dp, gpus));
  }
  return layout;
}

Batch resolve_batch(const Values& values, const TransformerSpec& model) {
  Batch batch;
  batch.sequence = model.sequence;
  values.fill("batch", batch);
  if (batch.sequence == 0) {
    throw Error(
        values.where("batch"),
        "batch has no 'sequence', and the model has no default; add e.g. batch.sequence: 4096");
  }
  if (batch.sequence <= model.text_tokens) {
    throw Error(values.fault_at("batch.sequence"),
                fmt::format("batch.sequence: {} tokens leave none for an image after the {} of the "
                            "text (model.text_tokens)",
                            batch.sequence, model.text_tokens));
  }
  check_tower_room(values, model, batch.sequence);
  if (batch.sequence <= model.source_tokens) {
    throw Error(values.fault_at("batch.sequence"),
                fmt::format("batch.sequence: {} tokens leave none for the decoder after the {} "
                            "that the encoder reads (model.source_tokens)",
                            batch.sequence, model.source_tokens));
  }
  return batch;
}

CollectiveAlgorithm algorithm_of(CollectiveKind kind, std::string_view name) {
  for (const CollectiveAlgorithm algorithm : algorithms_of(kind)) {
    if (name == to_string(algorithm)) return algorithm;
  }
  return CollectiveAlgorithm::automatic;  // "auto" is the only other name that the table admits
}

CollectiveAlgorithm algorithm_of(Category axis, std::string_view name) {
  for (const CollectiveKind kind : kinds_of_axis(axis)) {
    const CollectiveAlgorithm algorithm = algorithm_of(kind, name);
    if (algorithm != CollectiveAlgorithm::automatic) return algorithm;
  }
  return CollectiveAlgorithm::automatic;
}

// Adds the rule of a kind of collective or of an axis, if the scenario states one.
void add_collective_rule(const Values& values, const std::string& key, CollectiveRule rule,
                         const auto& algorithm, Communication& communication) {
  rule.where = values.fault_at(key);
  if (values.has(key + ".algorithm")) rule.algorithm = algorithm(values.text(key + ".algorithm"));
  if (values.has(key + ".protocol")) {
    rule.protocol = value_of<Protocol>(values.text(key + ".protocol"));
  }
  const bool says =
      rule.algorithm != CollectiveAlgorithm::automatic || rule.protocol != Protocol::automatic;
  if (says) communication.collectives.push_back(std::move(rule));
}

Communication resolve_communication(const Values& values, NamedFiles& files,
                                    const OwnCompressors& own) {
  Communication communication;
  values.fill("communication", communication);
  communication.compressors = resolve_compressors(values, files, own);
  for (const Choice<CollectiveKind>& kind : kChoices<CollectiveKind>) {
    add_collective_rule(
        values, fmt::format("communication.collectives.{}", kind.name), {.kind = kind.value},
        [&](std::string_view name) { return algorithm_of(kind.value, name); }, communication);
  }
  for (const Category axis : kCollectiveAxes) {
    add_collective_rule(
        values, fmt::format("communication.collectives.{}", to_string(axis)), {.axis = axis},
        [&](std::string_view name) { return algorithm_of(axis, name); }, communication);
  }
  return communication;
}

Software resolve_software(const Values& values) {
  Software software;
  values.fill("software", software);
  refuse_unused(values, "software.tp_overlap",
                {{software.tp_overlap != TensorOverlap::domino,
                  {"rows", "columns"},
                  "only form: domino uses this key; set form: domino, or leave it out"}});
  if (software.dispatch_program == DispatchProgram::step &&
      software.dispatch_gang != DispatchGang::none) {
    values.fail("software.dispatch.gang",
                "with program: step all ranks begin a step together, after the gradient norm; set "
                "program: pass, or leave it out");
  }
  const bool central =
      software.dispatch_latency_s > 0 || software.dispatch_gang != DispatchGang::none;
  refuse_unused(
      values, "software.dispatch",
      {{!central,
        {"mode", "program"},
        "has no effect: without software.dispatch.latency every host starts its own programs"}});
  return software;
}

// Checks that `micro` x `dp` fits into an int.
void check_batch(const Values& values, const Job& job) {
  const double per_step = static_cast<double>(job.batch.micro) * job.layout.dp;
  if (per_step <= std::numeric_limits<int>::max()) return;
  throw Error(values.fault_at("batch.global"),
              fmt::format("batch.global {} is not a multiple of batch.micro {} x dp {} = {:.0f}",
                          job.batch.global, job.batch.micro, job.layout.dp, per_step));
}

void check_tiles(const Values& values, const Job& job) {
  constexpr const char* kKey = "software.mlp_tiles";
  const int tiles = job.software.mlp_tiles;
  if (tiles == 1 || job.network) return;
  const double tokens = double(job.batch.micro) * job.batch.sequence / job.layout.cp;
  if (tiles > tokens) {
    values.fail(kKey, fmt::format("is {}, but a GPU has only {:.0f} tokens of a micro-batch", tiles,
                                  tokens));
  }
}

void check_gradients(const Values& values, const Job& job) {
  const int count = microbatches(job.layout, job.batch);
  if (job.software.gradient_bytes > 0 || count == 1) return;
  values.fail("software.gradients",
              fmt::format("is none, but the gradients of {} micro-batches must be summed; state a "
                          "type, or set batch.micro: {}",
                          count, count * job.batch.micro));
}

// A pool without a price would silently be free if another pool has a price.
void check_prices(const Values& values, const Job& job) {
  const auto priced = [](const Pool& pool) { return pool.price_usd_per_gpu_s > 0; };
  const std::vector<Pool>& pools = job.cluster.pools;
  if (values.stated("job.price") || std::ranges::none_of(pools, priced)) return;
  const auto without = std::ranges::find_if_not(pools, priced);
  if (without == pools.end()) return;
  throw Error(
      values.fault_at(fmt::format("cluster.pools.{}", without - pools.begin())),
      fmt::format(
          "pool '{}' has no price, but others have; add one, or job.price for pools without",
          without->name));
}

// Reads and checks keys that need cluster.pools.
void check_unlike_nodes(const Values& values, Job& job) {
  job.batch.share_of_pool = values.numbers("batch.shares");
  if (!job.batch.share_of_pool.empty()) job.batch.shares = BatchShares::stated;
  if (job.cluster.pools.empty()) return;
  if (job.batch.shares == BatchShares::stated &&
      job.batch.share_of_pool.size() != job.cluster.pools.size()) {
    values.fail("batch.shares",
                fmt::format("lists {} shares for {} pools", job.batch.share_of_pool.size(),
                            job.cluster.pools.size()));
  }
  check_prices(values, job);
}

void resolve_state_shares(const Values& values, Job& job) {
  const std::string key = "layout.shard_shares";
  std::vector<double>& shares = job.layout.state_of_pool;
  shares = values.numbers(key);
  if (!shares.empty()) job.layout.state = StateShares::stated;
  if (job.layout.state == StateShares::even) return;
  if (job.layout.state == StateShares::automatic) {
    shares = balanced_state(job);
    return;
  }
  if (shares.size() != job.cluster.pools.size()) {
    values.fail(
        key, fmt::format("lists {} shares for {} pools", shares.size(), job.cluster.pools.size()));
  }
  const bool even = std::ranges::all_of(shares, [&](double each) { return each == shares[0]; });
  if (even) shares.clear();
}

std::vector<int> balanced_layers(const Values& values, const Job& job) {
  const std::string key = "layout.stages";
  if (values.stated(key + ".first") || values.stated(key + ".last")) {
    values.fail(
        key,
        "auto also chooses the layers of the first and the last stage; leave first and last out");
  }
  if (job.network) {
    values.fail(key, fmt::format("'{}' is a table of layers, which has one stage", job.model.name));
  }
  if (job.layout.pp == 1)
    values.fail(key, "there is only one pipeline rank, so auto has nothing to divide");
  // Checks the rest of the layout first, with all layers on the first stage.
  Layout tried = job.layout;
  tried.stage_layers.assign(tried.stages(), 0);
  tried.stage_layers.front() = job.model.layers;
  check_layout(job.model, tried, job.batch, job.cluster.gpus(), job.cluster.node.gpus);
  return balanced_stages(job);
}

// Limits the number of passes to simulate.
void check_passes(const Values& values, const Job& job) {
  constexpr double kMostForwards = 1e6;  // tens of seconds of simulation
  const int ranks = job.layout.pp;
  const int chunks = job.layout.vpp;
  const int count = microbatches(job.layout, job.batch);
  const double forwards = static_cast<double>(ranks) * chunks * count * job.schedule.slices;
  if (forwards > kMostForwards) {
    throw Error(values.fault_at("batch.global"),
                fmt::format("batch.global: {} micro-batches on {} pipeline ranks of {} chunks are "
                            "more than {:.0f} forward passes; raise batch.micro",
                            count, ranks, chunks, kMostForwards));
  }
}

LengthDistribution resolve_distribution(const Values& values, const Batch& batch) {
  LengthDistribution distribution;
  distribution.buckets = resolve_buckets(values, "batch.lengths");
  if (!distribution.buckets.empty()) return distribution;
  if (!values.has("batch.lengths.median")) {
    values.fail("batch.lengths", "has neither a median nor buckets; add e.g. 'median: 2000'");
  }
  distribution.longest = batch.sequence;
  values.fill("batch.lengths", distribution);
  return distribution;
}

}  // namespace

std::vector<LengthBucket> resolve_buckets(const Values& values, const std::string& path) {
  const std::string list = path + ".buckets";
  refuse_unused(values, path,
                {{values.length(list) > 0,
                  {"median", "mean", "sigma", "p99", "longest"},
                  "buckets already have bounds; keep one of the two"}});
  return values.filled_items<LengthBucket>(list);
}

// The job has passed all checks except that its schedule is possible; preparing the iteration
// checks that.
std::shared_ptr<const PreparedIteration> resolve_iteration(const Job& job, const std::string& table,
                                                           const Prepare& prepare) {
  if (prepare) return prepare(job, table);
  return std::make_shared<const PreparedIteration>(prepare_checked(job));
}

Job resolve_parts(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                  const OwnKinds& own) {
  Job job;
  values.fill("", job);
  resolve_recompute(values, job.recompute);
  values.fill("campaign", job.campaign);
  resolve_model(values, files, job);
  job.cluster = resolve_cluster(values, evidence, files);
  job.schedule = resolve_schedule(values, files, own.schedules);
  job.layout = resolve_layout(values, job.cluster.gpus(), job.schedule);
  job.layout.order = resolve_order(values, job.layout);
  place_ranks(values, job.layout, job.cluster);
  keep_to_pools_in_use(job.cluster);
  job.batch = resolve_batch(values, job.model);
  check_precision(values, job);
  job.software = resolve_software(values);
  job.communication = resolve_communication(values, files, own.compressors);
  return job;
}

Job resolve_job(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                const OwnKinds& own) {
  Job job = resolve_parts(values, evidence, files, own);
  job.pool_calibrations = resolve_pool_calibrations(values, job.cluster, files);
  job.calibration = resolve_job_calibration(values, job, files);
  check_expert_routing(job);
  resolve_lengths(values, job);
  resolve_sync(values, files, own.compressors, job);
  resolve_redundancy(values, job);
  resolve_offload(values, evidence, job);
  resolve_robust(values, job);
  resolve_training(values, job);
  check_batch(values, job);
  check_unlike_nodes(values, job);
  // Checks of features assume a valid layout; with automatic balance the layers of a stage are not
  // known yet.
  const bool balances = job.layout.balance == StageBalance::automatic;
  if (!balances) check_layers(job);
  Asked asked(job);
  asked.stated = [&](std::string_view key) { return values.stated(key); };
  check_conflicts(asked);
  if (balances) {
    job.layout.stage_layers = balanced_layers(values, job);
    check_layers(job);
  }
  check_tiles(values, job);
  check_gradients(values, job);
  check_passes(values, job);
  check_compressors(values, job);
  resolve_state_shares(values, job);
  resolve_filling(values, job);
  resolve_input(values, job);
  resolve_campaign(values, evidence, files, own.saving_rules, job);
  find_memory(job);
  job.steps = resolve_steps(values, files, job);
  if (job.steps > 0) job.tokens = job.steps * tokens_per_step(job);
  return job;
}

void resolve_lengths(const Values& values, Job& job) {
  UnequalLengths lengths;
  values.fill("", lengths);
  if (!values.stated("batch.lengths")) {
    if (lengths.policy == LengthPolicy::fixed) return;
    values.fail("layout.length_policy",
                "balances sequences of unequal length, but batch.lengths is missing; add it");
  }
  lengths.distribution = resolve_distribution(values, job.batch);
  job.lengths = std::move(lengths);
}

}  // namespace windtunnel
