#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>

#include "models/chunk_cost.hpp"
#include "models/collective_steps.hpp"
#include "models/compression/boundary.hpp"
#include "models/network_cost.hpp"
#include "models/op_cost.hpp"
#include "models/step_work.hpp"
#include "models/tensor_ops.hpp"
#include "policies/compressed_reductions.hpp"
#include "policies/job_schedule.hpp"
#include "policies/length_plan.hpp"
#include "policies/schedules/message_validator.hpp"
#include "policies/schedules/schedule_lowering.hpp"
#include "policies/schedules/schedules.hpp"
#include "scenarios/quality_curve.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/spec_fields.hpp"
#include "traces/torch_schedule.hpp"

namespace windtunnel {
namespace {

bool supports(const GpuSpec& gpu, Precision precision) {
  try {
    return peak_flops(gpu, precision) > 0;
  } catch (const Error&) {
    return false;
  }
}

Precision resolve_precision(const Values& values, const GpuSpec& gpu) {
  const std::string& name = values.text("precision");
  const Precision precision = value_of(precisions(), name);
  if (supports(gpu, precision)) return precision;
  std::vector<std::string_view> supported;
  for (const Choice<Precision>& choice : precisions()) {
    if (supports(gpu, choice.value)) supported.push_back(choice.name);
  }
  throw Error(values.where("precision"), fmt::format("precision: {} has no {}; it has {}", gpu.name,
                                                     name, fmt::join(supported, ", ")));
}

// The file of a schedule, without messages: who needs which result says when they are sent.
void import_schedule(const Values& values, const std::string& folder, ScheduleChoice& choice) {
  if (values.stated("schedule.name")) {
    values.fail("schedule.file", "a schedule has a file or a name, not both");
  }
  for (const std::string_view key :
       {"schedule.group", "schedule.slices", "schedule.memory_limit"}) {
    if (values.stated(key)) values.fail(key, "a schedule from a file has its own");
  }
  choice.file = values.text("schedule.file");
  values.about("schedule.file", [&] {
    const TorchSchedule torch =
        read_torch_schedule((std::filesystem::path(folder) / choice.file).string());
    if (const auto fault = find_message_fault(torch.schedule)) {
      throw Error(torch.place(fault->rank, fault->position), fault->what);
    }
    choice.name = torch.schedule.name;
    choice.slices = torch.schedule.slices;
    choice.imported = std::make_shared<const Schedule>(without_messages(torch.schedule));
  });
}

ScheduleChoice resolve_schedule(const Values& values, const std::string& folder) {
  ScheduleChoice choice;
  choice.name = values.text("schedule.name");
  choice.group = static_cast<int>(values.number_or("schedule.group", 0));
  choice.defer_weights = values.flag("schedule.defer_weights");
  choice.memory_limit = values.number_or("schedule.memory_limit", 0);
  choice.recompute_share = values.number("schedule.recompute_share");
  if (values.has("schedule.file")) import_schedule(values, folder, choice);
  if (choice.imported == nullptr) {
    const int usual = schedule_kind(choice.name).usual_slices;
    choice.slices = static_cast<int>(values.number_or("schedule.slices", usual));
  }
  return choice;
}

int usual_chunks(const ScheduleChoice& choice) {
  if (choice.imported == nullptr) return schedule_kind(choice.name).usual_chunks;
  return choice.imported->chunks / choice.imported->replicas;
}

Layout resolve_layout(const Values& values, int gpus, const ScheduleChoice& schedule) {
  Layout layout;
  layout.tp = values.integer("layout.tp");
  layout.tensor = value_of(tensor_forms(), values.text("layout.tp_form"));
  layout.cp = values.integer("layout.cp");
  layout.pp = values.integer("layout.pp");
  layout.vpp =
      static_cast<int>(values.number_or("layout.vpp", layout.pp > 1 ? usual_chunks(schedule) : 1));
  layout.ep = values.integer("layout.ep");
  for (const auto& [key, member] : {std::pair{"layout.shard_ranks", &Layout::shard_ranks},
                                    std::pair{"layout.weight_ranks", &Layout::weight_ranks},
                                    std::pair{"layout.gradient_ranks", &Layout::gradient_ranks},
                                    std::pair{"layout.secondary_ranks", &Layout::secondary_ranks},
                                    std::pair{"layout.weight_bits", &Layout::weight_bits},
                                    std::pair{"layout.gradient_bits", &Layout::gradient_bits}}) {
    layout.*member = static_cast<int>(values.number_or(key, 0));
  }
  layout.sharding = value_of(shardings(), values.text("layout.sharding"));
  layout.sequence_parallel = values.flag("layout.sequence_parallel");
  layout.first_stage_layers = static_cast<int>(values.number_or("layout.stages.first", 0));
  layout.last_stage_layers = static_cast<int>(values.number_or("layout.stages.last", 0));
  for (int i = 0; i < values.length("layout.stages"); ++i) {
    layout.stage_layers.push_back(values.integer(fmt::format("layout.stages.{}", i)));
  }
  const double width = static_cast<double>(layout.tp) * layout.cp * layout.pp;
  if (values.has("layout.dp")) {
    layout.dp = values.integer("layout.dp");
  } else if (width <= gpus && gpus % static_cast<int>(width) == 0) {
    layout.dp = gpus / static_cast<int>(width);
  } else {
    throw Error(values.fault_at("layout"),
                fmt::format("layout: tp {} x cp {} x pp {} = {:.0f} does not divide the {} GPUs of "
                            "the cluster",
                            layout.tp, layout.cp, layout.pp, width, gpus));
  }
  if (width * layout.dp > 1e9) {
    throw Error(
        values.fault_at("layout"),
        fmt::format("layout: {:.0f} ranks; the cluster has {} GPUs", width * layout.dp, gpus));
  }
  return layout;
}

Batch resolve_batch(const Values& values, const TransformerSpec& model) {
  Batch batch;
  batch.global = values.integer("batch.global");
  batch.micro = values.integer("batch.micro");
  batch.sequence = static_cast<int>(values.number_or("batch.sequence", model.sequence));
  if (batch.sequence == 0) {
    throw Error(values.where("batch"), "batch has no 'sequence', and the model names none");
  }
  return batch;
}

CollectiveAlgorithm algorithm_of(CollectiveKind kind, std::string_view name) {
  for (const CollectiveAlgorithm algorithm : algorithms_of(kind)) {
    if (name == to_string(algorithm)) return algorithm;
  }
  return CollectiveAlgorithm::automatic;  // "auto": the table knows no other names
}

Communication resolve_communication(const Values& values, const std::string& folder) {
  Communication communication;
  communication.overlap = value_of(overlaps(), values.text("communication.overlap"));
  communication.bucket_bytes = values.number("communication.bucket");
  communication.first_bucket_bytes = values.number("communication.first_bucket");
  communication.partition_bytes = values.number("communication.partition");
  communication.credit_bytes = values.number("communication.credit");
  communication.aggregation = value_of(aggregations(), values.text("communication.aggregation"));
  communication.servers = static_cast<int>(values.number_or("communication.servers", 0));
  communication.fidelity = value_of(fidelities(), values.text("communication.fidelity"));
  communication.compressor = resolve_compressor(values, folder);
  communication.boundary_rank = values.number_or("communication.boundary_rank", 0);
  for (const Choice<CollectiveKind>& kind : collective_kinds()) {
    const std::string key = fmt::format("communication.collectives.{}", kind.name);
    CollectiveRule rule = {.kind = kind.value, .where = values.fault_at(key)};
    if (values.has(key + ".algorithm")) {
      rule.algorithm = algorithm_of(kind.value, values.text(key + ".algorithm"));
    }
    if (values.has(key + ".protocol")) {
      rule.protocol = value_of(protocols(), values.text(key + ".protocol"));
    }
    const bool says =
        rule.algorithm != CollectiveAlgorithm::automatic || rule.protocol != Protocol::automatic;
    if (says) communication.collectives.push_back(std::move(rule));
  }
  return communication;
}

Software resolve_software(const Values& values) {
  Software software;
  software.fusion = value_of(fusions(), values.text("software.fusion"));
  software.optimizer = value_of(optimizers(), values.text("software.optimizer"));
  software.fused_loss = values.flag("software.fused_loss");
  software.gradient_bytes = value_of(gradient_types(), values.text("software.gradients"));
  software.reduce_bytes = value_of(gradient_types(), values.text("software.reductions"));
  const std::string& copies = values.text("software.reduced_copies");
  software.reduced_copy_bytes = copies == "none" ? 0 : value_of(gradient_types(), copies);
  software.logit_bytes = values.number("software.logit_memory");
  software.flat_copies = values.flag("software.flat_copies");
  software.held_tensors = values.flag("software.held_tensors");
  software.scaled_copies = values.flag("software.scaled_copies");
  software.tp_overlap = value_of(tensor_overlaps(), values.text("software.tp_overlap.form"));
  software.domino_rows = values.integer("software.tp_overlap.rows");
  software.domino_columns = values.integer("software.tp_overlap.columns");
  for (const char* key : {"software.tp_overlap.rows", "software.tp_overlap.columns"}) {
    if (software.tp_overlap == TensorOverlap::domino || !values.stated(key)) continue;
    values.fail(key, "only form: domino cuts as told; set that form, or leave this out");
  }
  software.ep_overlap = values.flag("software.ep_overlap");
  software.ep_merged = values.flag("software.ep_merged");
  software.cuda_graphs = values.flag("software.cuda_graphs");
  software.sends = value_of(sends(), values.text("software.sends"));
  software.post_validation = values.flag("software.post_validation");
  software.shared_cores = values.flag("software.shared_cores");
  software.bucket_copies = values.flag("software.bucket_copies");
  return software;
}

// `micro` x `dp` is counted in an int from here on.
void check_batch(const Values& values, const Job& job) {
  const double per_step = static_cast<double>(job.batch.micro) * job.layout.dp;
  if (per_step <= std::numeric_limits<int>::max()) return;
  throw Error(values.fault_at("batch.global"),
              fmt::format("batch.global {} does not divide by batch.micro {} x dp {} = {:.0f}",
                          job.batch.global, job.batch.micro, job.layout.dp, per_step));
}

void check_layers(const Job& job) {
  if (job.network) check_network(job);
  check_layout(job.model, job.layout, job.batch, job.cluster.gpus(), job.cluster.node.gpus);
  check_tensor_overlap(job);
  check_boundary(job);
  if (job.lengths) check_lengths(job);
}

// What a schedule asks of its numbers.
void check_schedule(const Values& values, const Job& job) {
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
  job_schedule(job, chunk_costs(job));
}

}  // namespace

Job resolve_job(const Values& values, const EvidenceList& evidence, const std::string& folder) {
  Job job;
  resolve_model(values, folder, job);
  job.cluster = resolve_cluster(values, evidence, folder);
  job.schedule = resolve_schedule(values, folder);
  job.layout = resolve_layout(values, job.cluster.gpus(), job.schedule);
  job.batch = resolve_batch(values, job.model);
  job.precision = resolve_precision(values, job.cluster.node.gpu);
  job.recompute = value_of(recomputes(), values.text("recompute"));
  job.software = resolve_software(values);
  job.communication = resolve_communication(values, folder);
  job.calibration = resolve_calibration(values, job.cluster, folder);
  job.fold = value_of(fold_modes(), values.text("fold"));
  resolve_parallel(values, job);
  resolve_lengths(values, job);
  check_batch(values, job);
  check_layers(job);
  check_schedule(values, job);
  check_compressor(values, job);
  check_gradient_exchange(job);
  resolve_campaign(values, evidence, folder, job);
  job.steps = resolve_steps(values, folder, job);
  job.tokens = job.steps > 0 ? job.steps * tokens_per_step(job) : values.number_or("job.tokens", 0);
  job.price_usd_per_gpu_s = values.number_or("job.price", 0);
  return job;
}

}  // namespace windtunnel
