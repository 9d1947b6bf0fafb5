#include "policies/shares/replica_kind.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/plan/pipeline_stages.hpp"
#include "models/plan/state_shares.hpp"

namespace windtunnel {
namespace {

// Kinds on the same pools, which get the same share.
struct Equals {
  std::vector<int> of_kind;   // [kind] -> index into the other members
  std::vector<int> replicas;  // [index] number of replicas
  std::vector<double> unit_s;
};

Equals equal_kinds(const std::vector<ReplicaKind>& kinds, std::span<const double> unit_s) {
  Equals equals;
  std::vector<const ReplicaKind*> firsts;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const auto known = std::ranges::find_if(
        firsts, [&](const ReplicaKind* first) { return first->pools == kinds[k].pools; });
    const auto index = known - firsts.begin();
    equals.of_kind.push_back(static_cast<int>(index));
    if (known == firsts.end()) {
      firsts.push_back(&kinds[k]);
      equals.replicas.push_back(0);
      equals.unit_s.push_back(unit_s[k]);
    }
    equals.replicas[index] += kinds[k].replicas;
  }
  return equals;
}

// Returns a sequence's relative time: 1 over the least Batch::share_of_pool of the kind's pools.
double stated_s(const Job& job, const ReplicaKind& kind) {
  double share = std::numeric_limits<double>::infinity();
  for (const int pool : kind.pools) share = std::min(share, job.batch.share_of_pool[pool]);
  return 1 / share;
}

class Balancer {
 public:
  Balancer(std::span<const int> weights, std::span<const double> unit_s, double lead, int tries)
      : weights_(weights),
        unit_s_(unit_s),
        lead_(lead),
        tries_(tries),
        numbers_(weights.size(), 1),
        rate_(weights.size() + 1, 0),
        members_(weights.size() + 1, 0) {
    for (std::size_t k = weights.size(); k-- > 0;) {
      rate_[k] = rate_[k + 1] + weights[k] / unit_s[k];
      members_[k] = members_[k + 1] + weights[k];
    }
  }

  std::vector<int> best(int total) {
    search(0, total, 0);
    return best_;
  }

 private:
  // Chooses numbers for the kinds from `kind` on. The numbers of earlier kinds are chosen; the last
  // of the earlier kinds to end does so at `until_s`.
  void search(std::size_t kind, int rest, double until_s) {
    if (tries_-- <= 0) return;
    // The remaining kinds would end at this time if sequences could be divided into any parts.
    const double left = (rest + members_[kind] * lead_) / rate_[kind];
    if (std::max(until_s, left) >= best_s_) return;
    if (kind + 1 == weights_.size()) {
      if (rest % weights_[kind] != 0 || rest < weights_[kind]) return;
      numbers_[kind] = rest / weights_[kind];
      const double end_s = std::max(until_s, (numbers_[kind] + lead_) * unit_s_[kind]);
      if (end_s < best_s_) {
        best_s_ = end_s;
        best_ = numbers_;
      }
      return;
    }
    // Tries numbers from the ideal one on, upwards and downwards.
    const int most = (rest - 1) / weights_[kind];
    const int ideal = std::clamp(static_cast<int>(std::lround(left / unit_s_[kind] - lead_)), 1,
                                 std::max(1, most));
    for (int away = 0; ideal - away >= 1 || ideal + away <= most; ++away) {
      for (const int number : {ideal - away, ideal + away}) {
        if (number < 1 || number > most || (away == 0 && number != ideal)) continue;
        numbers_[kind] = number;
        search(kind + 1, rest - number * weights_[kind],
               std::max(until_s, (number + lead_) * unit_s_[kind]));
        if (away == 0) break;
      }
      if (tries_ <= 0) return;
    }
  }

  std::span<const int> weights_;
  std::span<const double> unit_s_;
  double lead_;
  int tries_;
  std::vector<int> numbers_;
  // [kind] Sequences per second that it and all later kinds make, and how many replicas these have.
  std::vector<double> rate_;
  std::vector<double> members_;
  std::vector<int> best_;
  double best_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<int> pools_of_block(const Job& job, int first_member, int ranks) {
  const Layout& layout = job.layout;
  const int members = layout.ranks() / layout.pp;
  std::vector<int> pools(layout.pp, -1);
  for (int pp = 0; pp < layout.pp; ++pp) {
    const int first = pp * members + first_member;
    for (int rank = first; rank < first + ranks;) {
      pools[pp] = slower_pool(job, pools[pp], job.cluster.pool_of(rank));
      rank += job.cluster.run_of(rank);
    }
  }
  return pools;
}

int slower_pool(const Job& job, int a, int b) {
  if (a < 0 || a == b) return b;
  const auto flops = [&](int pool) {
    return peak_flops(job.cluster.pools[pool].node.gpu, job.precision);
  };
  return flops(b) < flops(a) ? b : a;
}

std::vector<int> balanced_numbers(std::span<const int> weights, std::span<const double> unit_s,
                                  double lead, int total, int most_tries) {
  return Balancer(weights, unit_s, lead, most_tries).best(total);
}

std::vector<ReplicaKind> replica_kinds(const Job& job) {
  const Layout& layout = job.layout;
  ReplicaKind all;
  all.replicas = layout.dp;
  all.pools.assign(layout.pp, -1);
  all.microbatches = microbatches(layout, job.batch);
  all.micro = job.batch.micro;
  if (job.cluster.pools.empty()) return {all};
  const int width = layout.tp * layout.cp;
  const int block = ranks_in_step(layout);
  std::vector<ReplicaKind> kinds;
  for (int first = 0; first < layout.dp * width; first += block) {
    std::vector<int> pools = pools_of_block(job, first, block);
    if (kinds.empty() || kinds.back().pools != pools) {
      ReplicaKind& kind = kinds.emplace_back(all);
      kind.first = first / width;
      kind.replicas = 0;
      kind.pools = std::move(pools);
    }
    kinds.back().replicas += block / width;
  }
  return kinds;
}

void share_batch(const Job& job, std::span<const double> microbatch_s,
                 std::vector<ReplicaKind>& kinds) {
  const Batch& batch = job.batch;
  if (batch.shares == BatchShares::even) return;
  std::vector<double> unit_s(microbatch_s.begin(), microbatch_s.end());
  if (batch.shares == BatchShares::stated) {
    for (std::size_t k = 0; k < kinds.size(); ++k) unit_s[k] = stated_s(job, kinds[k]);
  }
  const Equals equals = equal_kinds(kinds, unit_s);
  const bool sizes = job.layout.sharding >= Sharding::zero2;
  const int count = microbatches(job.layout, batch);
  const int total = sizes ? batch.global / count : batch.global / batch.micro;
  if (sizes && batch.global % count != 0) {
    throw Error::about({"batch.shares", "batch.global"},
                       "{} sequences do not divide into {} micro-batches", batch.global, count);
  }
  // Shares that the job states are shares of the number of sequences, whatever time these take.
  const bool timed = !sizes && batch.shares == BatchShares::automatic;
  const double lead = timed ? filling_microbatches(job.layout) : 0;
  const std::vector<int> numbers = balanced_numbers(equals.replicas, equals.unit_s, lead, total);
  if (numbers.empty()) {
    throw Error::about({"batch.shares", "batch.global", "batch.micro"},
                       "{} {} cannot be divided so that all replicas of a pool get the same number "
                       "and each at least one; change batch.global or batch.micro",
                       total, sizes ? "sequences of a micro-batch" : "micro-batches");
  }
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    (sizes ? kinds[k].micro : kinds[k].microbatches) = numbers[equals.of_kind[k]];
  }
}

Job job_of_kind(const Job& job, const ReplicaKind& kind, int pool) {
  Job own = on_pool(job, pool);
  const int width = job.layout.tp * job.layout.cp;
  const int members = job.layout.ranks() / job.layout.pp;
  for (int pp = 0; pp < job.layout.pp && pool >= 0; ++pp) {
    if (kind.pools[pp] != pool) continue;
    own.cluster.part.push_back({pp * members + kind.first * width, kind.replicas * width});
  }
  for (int pp = 0; pp < job.layout.pp && pool >= 0 && uneven_state(job); ++pp) {
    own.layout.state_factors.push_back(state_factor(job, pp, pool));
  }
  own.batch.micro = kind.micro;
  own.batch.global = kind.micro * kind.microbatches * job.layout.dp;
  own.batch.shares = BatchShares::even;
  return own;
}

}  // namespace windtunnel
