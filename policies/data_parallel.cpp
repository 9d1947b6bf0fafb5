#include "policies/data_parallel.hpp"

#include <algorithm>

#include "models/job_collective.hpp"
#include "models/memory.hpp"

namespace windtunnel {
namespace {

// How much longer kernels of `work_s` take when a collective runs beside them for `beside_s`: in
// that time they get through 1 / (1 + slowdown) of it.
double lost_s(double work_s, double beside_s, double slowdown) {
  return std::min(slowdown * work_s, std::max(0.0, beside_s) * slowdown / (1 + slowdown));
}

// In the middle of a row of actions: beside a piece run the gather of the next one and the
// reduction of the one before.
void stretch_units(Pieces& pieces, double action_s, double slowdown) {
  const std::size_t n = pieces.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double work_s = pieces[i].share * action_s;
    if (work_s <= 0) continue;
    const double beside_s =
        seconds_of(pieces[(i + 1) % n].gathers) + seconds_of(pieces[(i + n - 1) % n].reductions);
    pieces[i].stretch = 1 + lost_s(work_s, beside_s, slowdown) / work_s;
  }
}

// Beside a piece run the reductions of those before it that are not through.
void stretch_buckets(Pieces& pieces, double action_s, double slowdown) {
  double now_s = 0;
  double channel_s = 0;
  for (Piece& piece : pieces) {
    const double work_s = piece.share * action_s;
    const double longer_s = work_s + lost_s(work_s, channel_s - now_s, slowdown);
    if (work_s > 0) piece.stretch = longer_s / work_s;
    now_s += longer_s;
    channel_s = std::max(channel_s, now_s) + seconds_of(piece.reductions);
  }
}

// Gathers run from `begin_s` to `end_s`, those of the pieces from `channel_s` on; the action can
// start at `now_s`.
void stretch_gathered(Pieces& pieces, double action_s, double now_s, double channel_s, double end_s,
                      double slowdown) {
  for (Piece& piece : pieces) {
    channel_s += seconds_of(piece.gathers);
    now_s = std::max(now_s, channel_s);
    const double work_s = piece.share * action_s;
    const double longer_s = work_s + lost_s(work_s, end_s - now_s, slowdown);
    piece.stretch = work_s > 0 ? longer_s / work_s : 1;
    now_s += longer_s;
  }
}

double gather_s(const Pieces& pieces) {
  double seconds = 0;
  for (const Piece& piece : pieces) seconds += seconds_of(piece.gathers);
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

Pieces joined(const Pieces& forward, double forward_s, const Pieces& backward, double backward_s) {
  const double both_s = forward_s + backward_s;
  const double part = both_s > 0 ? forward_s / both_s : 0.5;
  Pieces pieces = forward;
  for (Piece& piece : pieces) piece.share *= part;
  const Piece& first = backward.front();
  const double share = (1 - part) * first.share;
  Piece& last = pieces.back();
  std::size_t next = 0;
  if (last.reductions.empty() && first.gathers.empty()) {
    const double whole = last.share + share;
    if (whole > 0) last.stretch = (last.share * last.stretch + share * first.stretch) / whole;
    last.share = whole;
    last.reductions = first.reductions;
    next = 1;
  }
  for (; next < backward.size(); ++next) {
    pieces.push_back(backward[next]);
    pieces.back().share *= 1 - part;
  }
  return pieces;
}

DataParallel::DataParallel(const Job& job, const Schedule& schedule,
                           const std::vector<ChunkCost>& units, double slowdown)
    : job_(job),
      schedule_(schedule),
      units_(units),
      rank_of_(schedule.rank_of_stage),
      seconds_(schedule.model_stages()),
      reduces_(schedule.stages(), false),
      overlaps_(job.communication.overlap == GradientOverlap::bucketed),
      slowdown_(slowdown),
      network_(job) {
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
  if (active() && overlaps_ && gathers_early()) stretch_first_forwards();
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
  return (a == b || !end) && layers[a] == layers[b] &&
         chunk(stage).parameters == chunk(other).parameters &&
         chunk(stage).expert_parameters == chunk(other).expert_parameters &&
         reduces_[stage] == reduces_[other] &&
         network_.same_shapes(rank_of_[stage], rank_of_[other]);
}

double DataParallel::updated_parameters(int pp) const {
  double parameters = 0;
  for (int stage = 0; stage < schedule_.stages(); ++stage) {
    if (rank_of_[stage] != pp) continue;
    const double experts = chunk(stage).expert_parameters;
    parameters +=
        (chunk(stage).parameters - experts) / network_.lattice(ReplicaAxis::dense_shard).count +
        experts / network_.lattice(ReplicaAxis::expert_shard).count;
  }
  return parameters;
}

StageTraffic DataParallel::make(int stage, int first_layer, int layers) const {
  const ChunkCost& held = chunk(stage);
  StageTraffic traffic;
  for (Pieces* pieces :
       {&traffic.first_forward, &traffic.forward, &traffic.backward, &traffic.backward_input,
        &traffic.backward_weight, &traffic.last_backward, &traffic.last_backward_weight}) {
    pieces->resize(1);
  }
  if (!active() || held.parameters <= 0) return traffic;
  if (by_schedule_) {
    const Amount all{held.parameters - held.expert_parameters, held.expert_parameters};
    add_gathers(rank_of_[stage], all, traffic.unshard);
    add_reductions(rank_of_[stage], all, reduces_[stage] ? traffic.reduce_grad : traffic.at_end);
    return traffic;
  }
  const auto tensors = stage_tensors(job_, schedule_.model_stage(stage), first_layer, layers, held,
                                     embeddings_together(job_, schedule_));
  if (job_.layout.sharding == Sharding::zero3) {
    add_units(stage, cut_by_layer(tensors), traffic);
  } else if (overlaps_) {
    add_buckets(stage, cut_by_bucket(tensors), traffic);
  } else {
    add_whole(stage, traffic);
  }
  return traffic;
}

// In the order of the backward pass.
std::vector<DataParallel::Cut> DataParallel::cut_by_bucket(
    const std::vector<StageTensor>& tensors) const {
  std::vector<Cut> cuts;
  double begin = 0;
  for (const GradientBucket& bucket : gradient_buckets(tensors, reduce_bytes_per_parameter(job_),
                                                       job_.communication.bucket_bytes)) {
    // Buckets that become ready together (an embedding after the last layer) are one cut; the
    // shares are sums, equal up to rounding.
    if (cuts.empty() || bucket.ready_share > begin + 1e-9) {
      cuts.push_back({bucket.ready_share - begin, {}, {}});
      begin = bucket.ready_share;
    }
    (bucket.expert ? cuts.back().amount.experts : cuts.back().amount.dense) += bucket.parameters;
  }
  return cuts;
}

std::vector<DataParallel::Cut> DataParallel::cut_by_layer(
    const std::vector<StageTensor>& tensors) const {
  std::vector<Cut> cuts;
  int layer = -2;
  double left = 1;
  for (const StageTensor& tensor : tensors) {
    if (tensor.layer != layer) {
      // The embedding has no time of its own.
      if (cuts.empty() || tensor.work > 0) cuts.push_back({});
      layer = tensor.layer;
    }
    cuts.back().share += tensor.work;
    left -= tensor.work;
    Amount& amount = tensor.layer < 0 ? cuts.back().root : cuts.back().amount;
    (tensor.expert ? amount.experts : amount.dense) += tensor.parameters;
  }
  cuts.back().share += left;  // rounding; all of it where nothing carries time
  return cuts;
}

// zero1 and zero2 without overlap.
void DataParallel::add_whole(int stage, StageTraffic& traffic) const {
  const int pp = rank_of_[stage];
  const double experts = chunk(stage).expert_parameters;
  const Amount all{chunk(stage).parameters - experts, experts};
  add_gathers(pp, all, traffic.first_forward.front().gathers);
  if (job_.layout.sharding != Sharding::zero2) {
    add_reductions(pp, all, traffic.at_end);
    return;
  }
  add_reductions(pp, all, traffic.backward.front().reductions);
  traffic.backward_weight = traffic.last_backward = traffic.last_backward_weight = traffic.backward;
}

void DataParallel::add_buckets(int stage, const std::vector<Cut>& cuts,
                               StageTraffic& traffic) const {
  const int pp = rank_of_[stage];
  const double weight_s = seconds(stage).backward_weight_s;
  Pieces pieces(cuts.size());
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    pieces[i].share = cuts[i].share;
    add_reductions(pp, cuts[i].amount, pieces[i].reductions);
  }
  traffic.last_backward_weight = traffic.last_backward = pieces;
  stretch_buckets(traffic.last_backward, seconds(stage).backward_input_s + weight_s, slowdown_);
  stretch_buckets(traffic.last_backward_weight, weight_s, slowdown_);
  if (job_.layout.sharding == Sharding::zero2) {
    traffic.backward = traffic.last_backward;
    traffic.backward_weight = traffic.last_backward_weight;
  }
  if (job_.layout.sharding == Sharding::none) return;
  traffic.first_forward.clear();
  for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
    Piece& piece = traffic.first_forward.emplace_back();
    piece.share = cut->share;
    add_gathers(pp, cut->amount, piece.gathers);
  }
}

void DataParallel::add_units(int stage, const std::vector<Cut>& cuts, StageTraffic& traffic) const {
  const int pp = rank_of_[stage];
  Amount root;
  for (const Cut& cut : cuts) root.dense += cut.root.dense;
  Pieces input(cuts.size());
  Pieces weight(cuts.size());
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    input[i].share = weight[i].share = cuts[i].share;
    add_gathers(pp, cuts[i].amount, input[i].gathers);
    add_reductions(pp, cuts[i].amount, weight[i].reductions);
  }
  traffic.forward = {input.rbegin(), input.rend()};
  std::vector<Transfer> first;
  add_gathers(pp, root, first);
  auto& gathers = traffic.forward.front().gathers;
  gathers.insert(gathers.begin(), first.begin(), first.end());
  add_reductions(pp, root, weight.back().reductions);
  traffic.backward = input;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    traffic.backward[i].reductions = weight[i].reductions;
  }
  traffic.backward_input = std::move(input);
  traffic.backward_weight = std::move(weight);
  if (overlaps_) {
    const double input_s = seconds(stage).backward_input_s;
    const double weight_s = seconds(stage).backward_weight_s;
    stretch_units(traffic.forward, seconds(stage).forward_s, slowdown_);
    stretch_units(traffic.backward, input_s + weight_s, slowdown_);
    stretch_units(traffic.backward_input, input_s, slowdown_);
    stretch_units(traffic.backward_weight, weight_s, slowdown_);
  }
  traffic.first_forward = traffic.forward;
  traffic.last_backward = traffic.backward;
  traffic.last_backward_weight = traffic.backward_weight;
}

// A stage's first forward cannot start before the forwards of the stages before it are through. By
// then most gathers are.
void DataParallel::stretch_first_forwards() {
  if (slowdown_ <= 0) return;
  std::vector<double> end_s(job_.layout.pp, 0);  // of all gathers
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
      StageTraffic own = stage(s);
      stretch_gathered(own.first_forward, forward_s, earliest_s, channel_s[rank], end_s[rank],
                       slowdown_);
      of_stage_[s] = static_cast<int>(traffic_.size());
      traffic_.push_back(std::move(own));
    }
    channel_s[rank] += gathers_s;
    earliest_s += forward_s;
  }
}

}  // namespace windtunnel
