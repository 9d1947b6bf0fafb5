#include "sim/study/volunteers/volunteer_study.hpp"

#include <algorithm>
#include <utility>

#include "models/base/units.hpp"
#include "models/cost/chunk/activations.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/volunteers/expert_calls.hpp"
#include "models/volunteers/peer_work.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "policies/shares/averaging_roles.hpp"
#include "sim/volunteers/swarm.hpp"

namespace windtunnel {
namespace {

Estimate certain(double value) {
  return {value, value, value, value, value};
}

double microbatches_of(const Job& job) {
  return double(job.batch.global) / job.batch.micro;
}

double batch_tokens(const Job& job) {
  return tokens_per_step(job) / microbatches_of(job);
}

struct PairedTrial {
  SwarmTrial own;
  SwarmTrial unmoved;  // the same trial if peers do not move between stages
};

void add_trials(const Swarm& swarm, const std::vector<PairedTrial>& trials, double tokens,
                VolunteerReport& report) {
  const auto over = [&](double (*value)(const PairedTrial&, const Swarm&), double factor,
                        double most = kInfinity) {
    std::vector<double> samples;
    for (const PairedTrial& trial : trials) samples.push_back(factor * value(trial, swarm));
    return estimate(samples, most);
  };
  report.peers = over([](const auto& trial, const Swarm&) { return trial.own.peers; }, 1);
  report.tokens_per_s = over(
      [](const auto& trial, const Swarm& of) { return trial.own.averaged / of.length_s; }, tokens);
  report.passed_tokens_per_s =
      over([](const auto& trial, const Swarm& of) { return trial.own.done / of.length_s; }, tokens);
  report.optimum_tokens_per_s = over(
      [](const auto& trial, const Swarm& of) { return trial.own.possible / of.length_s; }, tokens);
  report.optimum_share =
      over([](const auto& trial, const Swarm&) { return trial.own.done_share(); }, 1, 1);
  report.unmoved_share =
      over([](const auto& trial, const Swarm&) { return trial.unmoved.done_share(); }, 1, 1);
  report.moves_per_h = over(
      [](const auto& trial, const Swarm& of) { return trial.own.moves / of.length_s; }, kHour_s);
  report.stalled = over(
      [](const auto& trial, const Swarm& of) { return trial.own.empty_s / of.length_s; }, 1, 1);
}

// Roles of the peers of a stage if only the kinds compute whose bit is set.
struct Averaging {
  AveragingRoles roles;
  double averaging_s = 0;
  double step_s = kInfinity;  // gradients travel while the next step is computed
};

class AveragingStudy {
 public:
  using Roles = AveragingRoles (*)(const std::vector<AveragingPeers>& kinds);

  AveragingStudy(const Volunteers& volunteers, const Swarm& swarm,
                 const std::vector<StageWork>& works, const Job& job)
      : peers_(volunteers.peers), swarm_(swarm), microbatches_(microbatches_of(job)) {
    for (const StageWork& work : works) bytes_ = std::max(bytes_, work.gradient_bytes);
  }

  unsigned all_that_can() const {
    unsigned computing = 0;
    for (std::size_t kind = 0; kind < peers_.size(); ++kind) {
      if (peers_[kind].speed > 0 && peers_[kind].count > 0) computing |= 1U << kind;
    }
    return computing;
  }

  Averaging with(unsigned computing, Roles roles) const {
    std::vector<AveragingPeers> kinds;
    std::vector<int> counts;
    for (std::size_t kind = 0; kind < peers_.size(); ++kind) {
      const PeerKind& peer = peers_[kind];
      const bool computes = (computing >> kind & 1) != 0;
      kinds.push_back({double(peer.count) / swarm_.stages(), peer.up_Bps, peer.down_Bps, computes});
      counts.push_back(computes ? peer.count : 0);
    }
    Averaging result;
    if (computing_peers(kinds) <= 1) return result;  // no other peer to share a stage with
    result.roles = roles(kinds);
    if (result.roles.rate_Bps <= 0) return result;
    result.averaging_s = bytes_ / result.roles.rate_Bps;
    result.step_s = std::max(result.averaging_s, microbatches_ / balanced_rate(swarm_, counts));
    return result;
  }

 private:
  const std::vector<PeerKind>& peers_;
  const Swarm& swarm_;
  double microbatches_;
  double bytes_ = 0;
};

// With adaptive roles, peers do not compute if they delay the exchange more than they help. From
// here on this also holds for the swarm.
void add_averaging(const Volunteers& volunteers, const std::vector<StageWork>& works,
                   const Job& job, Swarm& swarm, VolunteerReport& report) {
  const AveragingStudy study(volunteers, swarm, works, job);
  const unsigned all = study.all_that_can();
  const auto add = [&](const char* name, const Averaging& averaging) {
    if (averaging.step_s == kInfinity) return;
    report.averaging_s[name] = certain(averaging.averaging_s);
    report.step_s[name] = certain(averaging.step_s);
  };
  add("all-reduce", study.with(all, all_reduce_roles));
  add("server", study.with(all, server_roles));
  unsigned chosen = all;
  Averaging best = study.with(all, adaptive_roles);
  for (unsigned some = (all - 1) & all; some != 0; some = (some - 1) & all) {
    Averaging other = study.with(some, adaptive_roles);
    if (other.step_s >= best.step_s) continue;
    best = std::move(other);
    chosen = some;
  }
  add("adaptive", best);
  if (best.averaging_s > 0) swarm.averaged_rate = microbatches_of(job) / best.averaging_s;
  for (std::size_t kind = 0; kind < swarm.rates.size(); ++kind) {
    if (((all & ~chosen) >> kind & 1) != 0) std::ranges::fill(swarm.rates[kind], 0);
  }
  if (best.step_s == kInfinity) return;
  for (std::size_t kind = 0; kind < volunteers.peers.size(); ++kind) {
    const std::string& name = volunteers.peers[kind].name;
    report.parts[name] = certain(best.roles.parts[kind]);
    if ((chosen >> kind & 1) == 0) continue;
    report.computing += (report.computing.empty() ? "" : ", ") + name;
  }
}

// A layer is visited forward and backward. Unlike peers are replaced by their mean speed, link and
// latency, weighted by the number of each kind.
CalledPeers called_peers(const Volunteers& volunteers, const std::vector<StageWork>& works,
                         const Job& job, double message_bytes) {
  CalledPeers called{.peers = 0, .visits = 2.0 * job.model.layers};
  double speed = 0;
  double link_s = 0;
  for (const PeerKind& peer : volunteers.peers) {
    if (peer.speed <= 0) continue;
    called.peers += peer.count;
    speed += peer.count * peer.speed;
    link_s += peer.count * message_bytes * (1 / peer.up_Bps + 1 / peer.down_Bps);
  }
  double model_s = 0;
  for (const StageWork& work : works) model_s += work.compute_s;
  called.compute_s = model_s / called.visits * called.peers / speed;
  called.wait_s = link_s / called.peers;
  called.experts = volunteers.calls->experts;
  return called;
}

double mean_latency_s(const Volunteers& volunteers) {
  double sum = 0;
  double peers = 0;
  for (const PeerKind& peer : volunteers.peers) {
    if (peer.speed <= 0) continue;
    sum += peer.count * peer.latency_s;
    peers += peer.count;
  }
  return sum / peers;
}

void add_calls(const Volunteers& volunteers, const std::vector<StageWork>& works, const Job& job,
               VolunteerReport& report) {
  const ExpertCalls& calls = *volunteers.calls;
  const CalledPeers idle = called_peers(volunteers, works, job, stage_boundary(job).bytes);
  const double tokens = batch_tokens(job);
  const auto at = [&](double latency_s) {  // a call and its answer: two more latencies
    CalledPeers called = idle;
    called.wait_s += answered_s(calls, 2 * latency_s);
    return called;
  };
  const auto point = [&](double latency_s) {
    const CalledPeers called = at(latency_s);
    return CallsPoint{latency_s, tokens * batches_per_s(called, calls.trainers),
                      tokens * batches_per_s(called, 1)};
  };
  const double own_s = mean_latency_s(volunteers);
  report.calls = point(own_s);
  report.saturating_trainers = saturating_batches(at(own_s));
  for (const double latency_s : {0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0}) {
    report.by_latency.push_back(point(latency_s));
  }
}

}  // namespace

VolunteerReport study_volunteers(const Volunteers& volunteers, const Job& job,
                                 const PreparedIteration& prepared, int threads) {
  const std::vector<StageWork> works = stage_works(job, prepared.chunks);
  VolunteerReport report{.trials = volunteers.trials, .stages = static_cast<int>(works.size())};
  for (const PeerKind& peer : volunteers.peers) {
    double hidden = 0;
    double unhidden = 0;
    for (const StageWork& work : works) {
      hidden += utilisation(peer, work) / static_cast<double>(works.size());
      unhidden += unhidden_utilisation(peer, work) / static_cast<double>(works.size());
    }
    report.utilisation[peer.name] = certain(hidden);
    report.unhidden_utilisation[peer.name] = certain(unhidden);
  }
  Swarm swarm = swarm_of(volunteers, works);
  add_averaging(volunteers, works, job, swarm, report);
  Swarm unmoved = swarm;
  unmoved.rebalance_s = 0;
  std::vector<PairedTrial> trials(volunteers.trials);
  for_each_index(trials.size(), threads, [&](std::size_t trial) {
    const std::vector<AttendanceChange> changes = attendance_changes(volunteers, trial);
    trials[trial] = {run_swarm(swarm, changes, trial), run_swarm(unmoved, changes, trial)};
  });
  add_trials(swarm, trials, batch_tokens(job), report);
  if (volunteers.calls) add_calls(volunteers, works, job, report);
  return report;
}

}  // namespace windtunnel
