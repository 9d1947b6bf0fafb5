#include "policies/exchange/data_parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/plan/job_collective.hpp"
#include "models/workload/training.hpp"
#include "policies/exchange/contention.hpp"
#include "policies/exchange/host_copies.hpp"

namespace windtunnel {
namespace {

// If a stage has more partitions, several are merged into one that takes as long as they do.
constexpr double kMostPartitions = 2000;

double gather_s(const Segments& segments) {
  double seconds = 0;
  for (const Segment& segment : segments) seconds += seconds_of(segment.gathers);
  return seconds;
}

}  // namespace

double overlapped_slowdown(const Job& job) {
  return job.calibration.overlap_slowdown.value;
}

bool embeddings_together(const Job& job, const Schedule& schedule) {
  if (!job.model.tied_embeddings || schedule.ranks == 1) return false;
  const int of_replica = schedule.model_stages();
  for (int last = of_replica - 1; last < schedule.stages(); last += of_replica) {
    if (schedule.rank_of_stage[last] == schedule.rank_of_stage.front()) return true;
  }
  return false;
}

DataParallel::DataParallel(const Job& job, const Schedule& schedule,
                           const std::vector<ChunkCost>& units, double slowdown,
                           SharedGeometry geometry)
    : job_(job),
      schedule_(schedule),
      units_(units),
      rank_of_(schedule.rank_of_stage),
      seconds_(schedule.model_stages()),
      reduces_(schedule.stages(), false),
      overlaps_(job.communication.overlap != GradientOverlap::none &&
                job.communication.overlap != GradientOverlap::blocking),
      slowdown_(slowdown),
      geometry_(geometry_of(job, std::move(geometry))),
      network_(geometry_->network()),
      exchange_(job, network_) {
  crosses_ = active() && crosses_iterations(job.communication.overlap);
  read_schedule();
  const std::vector<int> layers = layers_per_stage(job.model, job.layout);
  int first_layer = 0;
  for (int s = 0; s < schedule.stages(); ++s) {
    const int at = schedule.model_stage(s);
    if (at == 0) first_layer = 0;
    int known = -1;
    for (int other = 0; other < s && known < 0; ++other) {
      if (equal(s, other, layers)) known = of_stage_[other];
    }
    if (known < 0) {
      known = static_cast<int>(traffic_.size());
      traffic_.push_back(make(s, first_layer, layers[at]));
    }
    of_stage_.push_back(known);
    first_layer += layers[at];
  }
  own_first_.assign(schedule.stages(), -1);
  if (active() && overlaps_ && gathers_early()) stretch_first_forwards();
  look_for_kernels();
}

void DataParallel::look_for_kernels() {
  const auto look = [&](const std::vector<Transfer>& transfers) {
    for (const Transfer& transfer : transfers) {
      has_kernels_ |= !transfer.kernels.empty();
      has_second_channel_ |= transfer.second_channel;
    }
  };
  for (const StageTraffic& traffic : traffic_) {
    for (const Segments* segments : traffic.all()) {
      for (const Segment& segment : *segments) {
        look(segment.gathers);
        look(segment.reductions);
      }
    }
    for (const auto* own : {&traffic.at_end, &traffic.unshard, &traffic.reduce_grad}) look(*own);
  }
}

void DataParallel::read_schedule() {
  const int slices = schedule_.slices;
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    const ChunkCost& cost = units_[unit];
    Seconds& mean = seconds_[unit / slices];
    const double recompute_s = schedule_.explicit_recompute ? 0 : total_seconds(cost.recompute);
    mean.forward_s += total_seconds(cost.forward) / slices;
    mean.backward_input_s += (recompute_s + total_seconds(cost.backward_input)) / slices;
    mean.backward_weight_s += total_seconds(cost.backward_weight) / slices;
  }
  if (job_.layout.sharding != Sharding::zero3) return;
  for (const auto& actions : schedule_.actions) {
    for (const Action& action : actions) {
      by_schedule_ |= action.kind == ActionKind::unshard;
      if (action.kind == ActionKind::reduce_grad) reduces_[action.stage] = true;
    }
  }
}

// Whether two stages have equal traffic.
bool DataParallel::equal(int stage, int other, const std::vector<int>& layers) const {
  const int a = schedule_.model_stage(stage);
  const int b = schedule_.model_stage(other);
  const int last = schedule_.model_stages() - 1;
  const bool end = a == 0 || a == last || b == 0 || b == last;
  const auto first_layer = [&](int of) {
    return std::accumulate(layers.begin(), layers.begin() + of, 0);
  };
  return (a == b || !end) && layers[a] == layers[b] &&
         chunk(stage).parameters == chunk(other).parameters &&
         chunk(stage).expert_parameters == chunk(other).expert_parameters &&
         chunk(stage).frozen_parameters == chunk(other).frozen_parameters &&
         (job_.training == nullptr || trained_alike(job_.training.get(), job_.model.layers,
                                                    first_layer(a), first_layer(b), layers[a])) &&
         reduces_[stage] == reduces_[other] &&
         network_.same_shapes(rank_of_[stage], rank_of_[other]);
}

double DataParallel::updated_parameters(int pp) const {
  double parameters = 0;
  for (int stage = 0; stage < schedule_.stages(); ++stage) {
    if (rank_of_[stage] != pp) continue;
    const double experts = chunk(stage).expert_parameters;
    parameters +=
        (chunk(stage).parameters - experts) / network_.groups(ReplicaAxis::dense_shard).count +
        experts / network_.groups(ReplicaAxis::expert_shard).count;
  }
  return parameters;
}

StageTraffic DataParallel::make(int stage, int first_layer, int layers) const {
  const ChunkCost& held = chunk(stage);
  const bool offloads = offload_of(job_).any();
  Tensors tensors;
  if (active() || offloads) {
    tensors = stage_tensors(job_, schedule_.model_stage(stage), first_layer, layers, held,
                            embeddings_together(job_, schedule_));
  }
  StageTraffic traffic = exchanges(stage, tensors);
  if (!offloads || tensors.empty()) return traffic;
  const std::vector<StagePiece> pieces =
      stage_pieces(job_, tensors, average_slice(stage), first_layer, layers);
  traffic.evicted_at_end =
      add_host_copies(job_, pieces, {!traffic.at_end.empty() || by_schedule_, crosses_}, traffic);
  return traffic;
}

double DataParallel::offloaded_bytes(int stage) const {
  const std::size_t first = std::size_t(schedule_.model_stage(stage)) * schedule_.slices;
  double bytes = 0;
  for (int slice = 0; slice < schedule_.slices; ++slice) {
    bytes += units_[first + slice].offloaded_bytes / schedule_.slices;
  }
  return bytes;
}

// Returns the cost of the stage's first slice, with an average slice's bytes that leave the GPU.
ChunkCost DataParallel::average_slice(int stage) const {
  ChunkCost average = chunk(stage);
  std::vector<double>& moved = average.offloaded_of_layers;
  const std::size_t first = std::size_t(schedule_.model_stage(stage)) * schedule_.slices;
  for (int slice = 1; slice < schedule_.slices; ++slice) {
    const std::vector<double>& own = units_[first + slice].offloaded_of_layers;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += own[i];
  }
  for (double& bytes : moved) bytes /= schedule_.slices;
  return average;
}

Amount DataParallel::gathered_amount(int stage, const Tensors& tensors) const {
  const ChunkCost& held = chunk(stage);
  const bool frozen = job_.layout.sharding == Sharding::zero3;
  const double experts = held.expert_parameters + (frozen ? held.frozen_experts : 0);
  double all = held.parameters + (frozen ? held.frozen_parameters : 0);
  for (const StageTensor& tensor : tensors) {
    all -= tensor.parameters + tensor.frozen - exchange_.gathered_parameters(tensor);
  }
  return {all - experts, experts};
}

StageTraffic DataParallel::exchanges(int stage, const Tensors& tensors) const {
  StageTraffic traffic;
  for (Segments* segments : traffic.all()) segments->resize(1);
  if (!active() || tensors.empty()) return traffic;  // nothing is trained, and nothing is sharded
  if (is_zeroth_order(job_.training.get())) {
    if (job_.layout.sharding == Sharding::zero3) {
      add_units(stage, tensors, cut_by_layer(tensors), traffic);
    }
    add_at_end(stage, tensors, traffic.at_end);
  } else if (by_schedule_) {
    add_gathers(rank_of_[stage], gathered_amount(stage, tensors), traffic.unshard);
    add_at_end(stage, tensors, reduces_[stage] ? traffic.reduce_grad : traffic.at_end);
  } else if (job_.layout.sharding == Sharding::zero3) {
    add_units(stage, tensors, cut_by_layer(tensors), traffic);
  } else if (job_.communication.overlap != GradientOverlap::none) {
    add_buckets(stage, tensors, cut_by_bucket(stage, tensors), traffic);
  } else {
    add_whole(stage, tensors, traffic);
  }
  return traffic;
}

std::vector<GradientBucket> DataParallel::buckets_of(int stage, const Tensors& tensors) const {
  const int pp = rank_of_[stage];
  switch (job_.communication.overlap) {
    case GradientOverlap::mg_wfbp:
    case GradientOverlap::asc: {
      const std::array laws = {exchange_.law(pp, false), exchange_.law(pp, true)};
      const double backward_s = seconds(stage).backward_input_s + seconds(stage).backward_weight_s;
      return merged_buckets(tensors, exchange_.sizes(tensors, pp), backward_s, laws);
    }
    case GradientOverlap::wfbp:
    case GradientOverlap::priority:
      return gradient_buckets(tensors, exchange_.sizes(tensors, pp), 0);
    default:
      return exchange_.buckets(tensors, pp);
  }
}

// Cuts the backward pass where buckets become ready.
DataParallel::Cuts DataParallel::cut_by_bucket(int stage, const Tensors& tensors) const {
  const GradientOverlap overlap = job_.communication.overlap;
  const bool joins = overlap == GradientOverlap::bucketed || overlap == GradientOverlap::dear;
  double forward_work = 0;
  for (const StageTensor& tensor : tensors) forward_work += tensor.forward_work;
  Cuts cuts;
  double begin = 0;
  for (GradientBucket& bucket : buckets_of(stage, tensors)) {
    // Buckets that become ready together (that of an embedding with that of the last layer) are one
    // cut. The shares are sums, which are equal only up to rounding.
    if (cuts.empty() || bucket.ready_share > begin + 1e-9) {
      cuts.emplace_back().share = bucket.ready_share - begin;
      begin = bucket.ready_share;
    }
    Cut& cut = cuts.back();
    (bucket.expert ? cut.amount.experts : cut.amount.dense) += bucket.parameters;
    (bucket.expert ? cut.gathered.experts : cut.gathered.dense) +=
        exchange_.gathered_parameters(tensors, bucket.tensors);
    for (const int tensor : bucket.tensors) cut.forward_share += tensors[tensor].forward_work;
    const auto same = std::ranges::find(cut.buckets, bucket.expert, &GradientBucket::expert);
    if (joins && same != cut.buckets.end()) {
      same->parameters += bucket.parameters;
      same->tensors.insert(same->tensors.end(), bucket.tensors.begin(), bucket.tensors.end());
    } else {
      cut.buckets.push_back(std::move(bucket));
    }
  }
  for (Cut& cut : cuts) {
    if (joins) std::ranges::stable_sort(cut.buckets, {}, &GradientBucket::expert);
    cut.forward_share = forward_work > 0 ? cut.forward_share / forward_work : cut.share;
  }
  return cuts;
}

DataParallel::Cuts DataParallel::cut_by_layer(const Tensors& tensors) const {
  Cuts cuts;
  int layer = -2;
  double left = 1;
  for (int i = 0; i < std::ssize(tensors); ++i) {
    const StageTensor& tensor = tensors[i];
    if (tensor.layer != layer) {
      // The embedding takes no time, so it joins the cut before it.
      if (cuts.empty() || tensor.work > 0) cuts.emplace_back().buckets.resize(2);
      layer = tensor.layer;
    }
    Cut& cut = cuts.back();
    cut.share += tensor.work;
    left -= tensor.work;
    Amount& amount = tensor.layer < 0 ? cut.root : cut.gathered;
    (tensor.expert ? amount.experts : amount.dense) += exchange_.gathered_parameters(tensor);
    if (tensor.parameters <= 0) continue;
    GradientBucket& bucket = tensor.layer < 0 ? cut.root_bucket : cut.buckets[tensor.expert];
    bucket.parameters += tensor.parameters;
    bucket.expert = tensor.expert;
    bucket.tensors.push_back(i);
  }
  cuts.back().share += left;  // an error of rounding, or everything if no tensor takes time
  for (Cut& cut : cuts) {
    std::erase_if(cut.buckets, [](const GradientBucket& bucket) { return bucket.tensors.empty(); });
  }
  return cuts;
}

// Reduces all gradients of the stage at once. In a step without gradients the ranks exchange one
// number, from which all draw the same directions.
void DataParallel::add_at_end(int stage, const Tensors& tensors, std::vector<Transfer>& to,
                              StageAction action) const {
  const bool number = is_zeroth_order(job_.training.get());
  for (const bool expert : {false, true}) {
    GradientBucket all{.parameters = 0, .expert = expert};
    for (int i = 0; i < std::ssize(tensors); ++i) {
      const bool own = (tensors[i].expert && !number) == expert;
      if (own && tensors[i].parameters > 0) all.tensors.push_back(i);
    }
    const double experts = chunk(stage).expert_parameters;
    all.parameters = expert ? experts : chunk(stage).parameters - experts;
    if (!all.tensors.empty()) exchange_.append(tensors, all, rank_of_[stage], to, 1, action);
  }
}

// Adds the traffic of zero1 and zero2 without overlap.
void DataParallel::add_whole(int stage, const Tensors& tensors, StageTraffic& traffic) const {
  add_gathers(rank_of_[stage], gathered_amount(stage, tensors),
              traffic.first_forward.front().gathers);
  if (job_.layout.sharding != Sharding::zero2) {
    add_at_end(stage, tensors, traffic.at_end);
    return;
  }
  add_at_end(stage, tensors, traffic.backward.front().reductions, StageAction::backward);
  add_at_end(stage, tensors, traffic.last_backward.front().reductions);
  traffic.backward_weight = traffic.backward;
  traffic.last_backward_weight = traffic.last_backward;
}

void DataParallel::add_buckets(int stage, const Tensors& tensors, const Cuts& cuts,
                               StageTraffic& traffic) const {
  const int pp = rank_of_[stage];
  const GradientOverlap overlap = job_.communication.overlap;
  const double weight_s = seconds(stage).backward_weight_s;
  const bool each = job_.layout.sharding == Sharding::zero2;  // micro-batches reduce singly
  Segments segments(cuts.size()), forward(cuts.size());
  Segments earlier(each ? cuts.size() : 0);  // those before the last micro-batch
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const std::size_t place = cuts.size() - 1 - i;
    segments[i].share = cuts[i].share;
    if (each) earlier[i].share = cuts[i].share;
    forward[place].share = cuts[i].forward_share;
    for (const GradientBucket& bucket : cuts[i].buckets) {
      if (each) {
        exchange_.append(tensors, bucket, pp, earlier[i].reductions, 1, StageAction::backward);
      }
      if (overlap == GradientOverlap::priority) continue;
      if (overlap == GradientOverlap::dear) {
        exchange_.append_scatter(tensors, bucket, pp, segments[i].reductions);
        exchange_.append_gather(tensors, bucket, pp, forward[place].gathers);
      } else {
        exchange_.append(tensors, bucket, pp, segments[i].reductions);
      }
    }
    if (overlap == GradientOverlap::priority) continue;
    if (crosses_) {
      add_update(pp, cuts[i], forward[place]);
    } else {
      add_gathers(pp, cuts[i].gathered, forward[place].gathers);
    }
  }
  if (overlap == GradientOverlap::priority) add_partitions(stage, tensors, cuts, segments, forward);
  // Reductions that go to servers, or are summed in nodes first, already use both streams.
  const bool on_both = std::ranges::any_of(segments, [](const Segment& segment) {
    return std::ranges::any_of(segment.reductions, &Transfer::second_channel);
  });
  const double backward_s = seconds(stage).backward_input_s + weight_s;
  const auto placed = [&](Segments own, Segments& backward, Segments& weights) {
    if (overlap == GradientOverlap::asc && !on_both) {
      run_two_at_once(own, backward_s, exchange_.law(pp, false).alpha_s);
    }
    weights = backward = std::move(own);
    if (!overlaps_) return;
    slow_down_buckets(backward, backward_s, slowdown_);
    slow_down_buckets(weights, weight_s, slowdown_);
  };
  placed(std::move(segments), traffic.last_backward, traffic.last_backward_weight);
  if (each) placed(std::move(earlier), traffic.backward, traffic.backward_weight);
  if (job_.layout.sharding != Sharding::none || crosses_)
    traffic.first_forward = std::move(forward);
}

// Adds what happens between the arrival of a cut's gradients and its forward segment: the rank
// updates its parameters (only its shard, if the state is sharded); then weights are gathered.
void DataParallel::add_update(int pp, const Cut& cut, Segment& to) const {
  const bool sharded = job_.layout.sharding != Sharding::none;
  const auto shards = [&](ReplicaAxis axis) { return sharded ? network_.groups(axis).count : 1; };
  const double parameters = cut.amount.dense / shards(ReplicaAxis::dense_shard) +
                            cut.amount.experts / shards(ReplicaAxis::expert_shard);
  if (parameters <= 0) return;
  const Offload& offload = offload_of(job_);
  to.on_host_parameters = offload.updates_on_host() ? offload.optimizer_share * parameters : 0;
  if (const double here = parameters - to.on_host_parameters; here > 0) {
    Transfer update{.kernels = update_cost(here, job_)};
    to.gathers.push_back(std::move(update));
  }
  if (!sharded) return;
  std::vector<Transfer> gathers;
  add_gathers(pp, cut.gathered, gathers);
  for (Transfer& gather : gathers) gather.starts_row = false;
  std::ranges::move(gathers, std::back_inserter(to.gathers));
}

// With overlap: priority, partitions are sent by urgency. The ones that do not start during the
// backward pass are sent before the segments of the forward pass.
void DataParallel::add_partitions(int stage, const Tensors& tensors, const Cuts& cuts,
                                  Segments& backward, Segments& forward) const {
  struct Part {
    std::size_t cut;
    std::vector<Transfer> row;
  };
  const double backward_s = seconds(stage).backward_input_s + seconds(stage).backward_weight_s;
  const std::vector<double> sizes = exchange_.sizes(tensors, rank_of_[stage]);
  const double partition_bytes = job_.communication.partition_bytes;
  const double apart_bytes =
      std::max(partition_bytes, std::accumulate(sizes.begin(), sizes.end(), 0.0) / kMostPartitions);
  std::vector<Part> parts;
  std::vector<Partition> partitions;
  double ready_s = 0;
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    ready_s += cuts[c].share * backward_s;
    for (const GradientBucket& bucket : cuts[c].buckets) {
      double bytes = 0;  // bytes that are sent; of an embedding table only its rows
      for (const int tensor : bucket.tensors) bytes += sizes[tensor];
      const double all = std::max(1.0, std::ceil(bytes / partition_bytes));
      const double count = std::max(1.0, std::ceil(bytes / apart_bytes));
      const auto row_of = [&](double share) {
        std::vector<Transfer> row;
        exchange_.append(tensors, bucket, rank_of_[stage], row, share);
        return row;
      };
      Part part{c, row_of(1 / count)};
      if (part.row.empty()) continue;
      double longer_s = job_.calibration.partition_launch_s.value * all / count;
      if (all > count) {
        longer_s += seconds_of(row_of(1 / all)) * all / count - seconds_of(part.row);
      }
      part.row.front().longer_s += longer_s;
      parts.insert(parts.end(), static_cast<std::size_t>(count), part);
      partitions.insert(partitions.end(), static_cast<std::size_t>(count),
                        {ready_s, seconds_of(part.row), bytes / count});
    }
  }
  std::size_t issued_with = 0;  // the latest cut of the partitions issued so far
  for (const ScheduledPartition& next :
       priority_order(partitions, job_.communication.credit_bytes)) {
    const Part& part = parts[next.partition];
    issued_with = std::max(issued_with, part.cut);
    const bool in_time = next.issued_s < (1 - 1e-9) * backward_s;
    auto& to =
        in_time ? backward[issued_with].reductions : forward[cuts.size() - 1 - part.cut].gathers;
    to.insert(to.end(), part.row.begin(), part.row.end());
  }
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    add_update(rank_of_[stage], cuts[c], forward[cuts.size() - 1 - c]);
  }
}

void DataParallel::add_units(int stage, const Tensors& tensors, const Cuts& cuts,
                             StageTraffic& traffic) const {
  const int pp = rank_of_[stage];
  const bool by_tensor = job_.software.tensor_gathers;
  // A step without a backward pass has two forward passes: both gather, and nothing is reduced.
  const bool back = !is_zeroth_order(job_.training.get());
  const int times = back ? 1 : 2;
  const auto gather = [&](const Amount& amount, std::vector<Transfer>& to, StageAction action) {
    for (int pass = 0; pass < times; ++pass) add_gathers(pp, amount, to, action);
  };
  Amount root;
  GradientBucket root_bucket;
  for (const Cut& cut : cuts) {
    root.dense += cut.root.dense;
    root_bucket.parameters += cut.root_bucket.parameters;
    const auto& held = cut.root_bucket.tensors;
    root_bucket.tensors.insert(root_bucket.tensors.end(), held.begin(), held.end());
  }
  const auto gathered = [&](StageAction action) {
    Segments segments(cuts.size());
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      segments[i].share = cuts[i].share;
      gather(cuts[i].gathered, segments[i].gathers, action);
      if (!by_tensor) continue;
      split_transfers(collective_costs(), network_, pp, tensor_shares(tensors, cuts[i].buckets),
                      segments[i].gathers);
    }
    return segments;
  };
  const auto forward = [&](StageAction action) {
    Segments segments = gathered(action);
    std::ranges::reverse(segments);
    std::vector<Transfer> first;
    gather(root, first, action);
    auto& gathers = segments.front().gathers;
    gathers.insert(gathers.begin(), first.begin(), first.end());
    return segments;
  };
  const auto reduced = [&](Segments segments, StageAction action) {
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      segments[i].share = cuts[i].share;
      for (const GradientBucket& bucket : cuts[i].buckets) {
        std::vector<Transfer> row;
        exchange_.append(tensors, bucket, pp, row, 1, action);
        if (by_tensor)
          split_transfers(collective_costs(), network_, pp, tensor_shares(tensors, {bucket}), row);
        std::ranges::move(row, std::back_inserter(segments[i].reductions));
      }
    }
    if (root_bucket.parameters > 0) {
      exchange_.append(tensors, root_bucket, pp, segments.back().reductions, 1, action);
    }
    return segments;
  };
  traffic.first_forward = forward(StageAction::first_forward);
  traffic.forward = forward(StageAction::forward);
  if (back) {
    const Segments gathers = gathered(StageAction::backward);
    traffic.backward = reduced(gathers, StageAction::backward);
    traffic.backward_input = gathers;
    traffic.backward_weight = reduced(Segments(cuts.size()), StageAction::backward);
    traffic.last_backward = reduced(gathers, StageAction::last_backward);
    traffic.last_backward_weight = reduced(Segments(cuts.size()), StageAction::last_backward);
  }
  if (overlaps_) slow_down_passes(seconds(stage), traffic);
}

void DataParallel::slow_down_passes(const Seconds& own, StageTraffic& traffic) const {
  const double backward_s = own.backward_input_s + own.backward_weight_s;
  slow_down_units(traffic.first_forward, own.forward_s, slowdown_);
  slow_down_units(traffic.forward, own.forward_s, slowdown_);
  slow_down_units(traffic.backward, backward_s, slowdown_);
  slow_down_units(traffic.backward_input, own.backward_input_s, slowdown_);
  slow_down_units(traffic.backward_weight, own.backward_weight_s, slowdown_);
  slow_down_units(traffic.last_backward, backward_s, slowdown_);
  slow_down_units(traffic.last_backward_weight, own.backward_weight_s, slowdown_);
}

// A stage's first forward cannot start before the earlier stages have run theirs. By then most
// gathers have ended.
void DataParallel::stretch_first_forwards() {
  if (slowdown_ <= 0) return;
  std::vector<double> end_s(job_.layout.pp, 0);  // [pipeline rank] end of all its gathers
  for (int s = 0; s < schedule_.stages(); ++s)
    end_s[rank_of_[s]] += gather_s(stage(s).first_forward);
  std::vector<double> channel_s(job_.layout.pp, 0);
  double earliest_s = 0;
  for (int s = 0; s < schedule_.stages(); ++s) {
    const int rank = rank_of_[s];
    if (schedule_.model_stage(s) == 0) earliest_s = 0;
    const double forward_s = seconds(s).forward_s;
    const double gathers_s = gather_s(stage(s).first_forward);
    if (earliest_s < end_s[rank]) {
      own_first_[s] = static_cast<int>(first_forwards_.size());
      slow_down_gathered(first_forwards_.emplace_back(stage(s).first_forward), forward_s,
                         earliest_s, channel_s[rank], end_s[rank], slowdown_);
    }
    channel_s[rank] += gathers_s;
    earliest_s += forward_s;
  }
}

}  // namespace windtunnel
