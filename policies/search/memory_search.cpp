#include "policies/search/memory_search.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/cost/memory/tiers.hpp"
#include "models/cost/snapshot/snapshot_cost.hpp"
#include "models/workload/layer_table.hpp"
#include "models/workload/stage_parameters.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/iteration.hpp"
#include "policies/search/chunk_room.hpp"

namespace windtunnel {
namespace {

constexpr int kSteps = 16;  // a share is searched in this many steps
constexpr int kHiddenSteps = 64;
constexpr double kFreeOfCharge = 0.01;  // assumed: a step longer by this share is still as fast

Job with_offload(const Job& job, const Offload& offload) {
  Job result = job;
  result.offload = std::make_shared<const Offload>(offload);
  return result;
}

// A choice, the memory that it needs and the time that it takes.
struct Judged {
  Job job;
  double lacking_bytes = 0;  // on GPU, host or drives, whichever lacks most; at most 0 if it fits
  double step_s = std::numeric_limits<double>::infinity();
};

double lacking_on_gpu(const Job& job, const PreparedIteration& prepared) {
  const GpuMemory* worst = tightest(prepared.memory, job);
  return worst == nullptr ? 0 : -room_bytes(job, *worst);
}

// Returns the bytes that a node lacks for what is offloaded and for snapshots.
double lacking_in_tier(const Job& job, const PreparedIteration& prepared, MemoryTier tier) {
  const auto& snapshot_bytes = tier == MemoryTier::disk ? snapshot_disk_bytes : snapshot_host_bytes;
  double snapshots = 0;
  for (const double bytes :
       snapshot_bytes_per_gpu(job, prepared.chunks, held_stages(prepared.schedule))) {
    double own = 0;
    for (const SnapshotTier& snapshot : job.snapshots) {
      own += snapshot_bytes(snapshot, bytes, weight_share(job));
    }
    snapshots = std::max(snapshots, own * job.cluster.node.gpus);
  }
  return snapshots + tier_of_node(job, prepared.memory, tier).total() -
         tier_capacity(job.cluster.node, tier);
}

double lacking_bytes(const Job& job, const PreparedIteration& prepared) {
  double most = lacking_on_gpu(job, prepared);
  for (const MemoryTier tier : kTiersBesideGpu) {
    most = std::max(most, lacking_in_tier(job, prepared, tier));
  }
  return most;
}

// Returns the smallest number from 0 to `most` that works, or none. Larger numbers must work at
// least as well.
template <class Does>
std::optional<int> fewest(int most, const Does& does) {
  if (does(0)) return 0;
  if (most == 0 || !does(most)) return std::nullopt;
  int low = 0;
  int high = most;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (does(middle) ? high : low) = middle;
  }
  return high;
}

// Returns the first number from 0 to `most` that works, in at most kScanned steps. Larger numbers
// may work less well.
template <class Does>
std::optional<int> first_of(int most, const Does& does) {
  constexpr int kScanned = 64;
  const int step = std::max(1, most / kScanned);
  for (int count = 0; count <= most; count += step) {
    if (does(count)) return count;
  }
  return std::nullopt;
}

class MemorySearch {
 public:
  explicit MemorySearch(const Job& open)
      : searched_(open_parts(open)), stated_(offload_of(open)), open_(open) {}

  Job found() {
    for (const Recompute recompute : recomputes()) {
      Job job = open_;
      job.recompute = recompute;
      for (const Offload& state : states(job)) {
        if (job.network) {
          try_tables(with_offload(job, state));
        } else {
          try_shares(job, state);
        }
      }
    }
    if (!best_) {
      CHECK(fault_ != nullptr, "no choice of memory was tried");
      std::rethrow_exception(fault_);
    }
    return best_->job;
  }

 private:
  static Offload::Parts open_parts(const Job& job) {
    const Offload& offload = offload_of(job);
    return {job.recompute == Recompute::automatic, offload.optimizer == MemoryTier::automatic,
            offload.activations == MemoryTier::automatic, offload.in_chunks(), offload.hidden};
  }

  std::vector<Recompute> recomputes() const {
    if (!searched_.recompute) return {open_.recompute};
    // In a table of layers try_tables() chooses the layers to recompute.
    if (open_.network) return {Recompute::none};
    return {Recompute::none, Recompute::selective, Recompute::full};
  }

  std::vector<Offload> states(const Job& job) const {
    Offload plain = stated_;
    plain.searched = searched_;
    if (searched_.activations) plain.activations = MemoryTier::gpu;
    if (!searched_.state) return {plain};
    std::vector<Offload> all;
    for (const Offload& state : state_offloads(job)) {
      Offload next = plain;
      next.optimizer = state.optimizer;
      next.gradients = state.gradients;
      next.weights = state.weights;
      all.push_back(next);
    }
    return all;
  }

  // Tries shares with the given offload of state. Offloads the activations of as few layers as
  // possible; if none must be offloaded, the smallest possible share of the optimizer.
  void try_shares(const Job& job, const Offload& state) {
    if (searched_.hidden) return try_hidden(job, state);
    const std::vector<int> of_stages = layers_per_stage(job.model, job.layout);
    const int layers = *std::ranges::max_element(of_stages);
    const auto with_layers = [&](int away) {
      Offload next = state;
      if (away > 0) {
        next.activations = MemoryTier::host;
        next.activation_share = static_cast<double>(away) / layers;
      }
      return with_offload(job, next);
    };
    const std::optional<int> away = fewest(searched_.activations ? layers : 0,
                                           [&](int count) { return fits_gpu(with_layers(count)); });
    if (!away) return consider(with_layers(searched_.activations ? layers : 0));
    if (*away > 0 || !searched_.state || !state.updates_on_host()) {
      return consider(with_layers(*away));
    }
    const auto with_share = [&](int steps) {
      Offload next = state;
      next.optimizer_share = static_cast<double>(std::max(1, steps)) / kSteps;
      return with_offload(job, next);
    };
    const std::optional<int> share =
        fewest(kSteps, [&](int steps) { return fits_gpu(with_share(steps)); });
    consider(with_share(share.value_or(kSteps)));
  }

  // Finds the largest share of each layer's activations that lengthens the step by no more than the
  // copies of the first and last layer.
  void try_hidden(const Job& job, const Offload& state) {
    const auto with_share = [&](int steps) {
      Offload next = state;
      if (steps == 0) next.activations = MemoryTier::gpu;
      next.activation_share = steps > 0 ? static_cast<double>(steps) / kHiddenSteps : 1;
      return with_offload(job, next);
    };
    const auto step_s = [&](int steps) {
      const Job tried = with_share(steps);
      return iteration_step_s(tried, prepared(tried));
    };
    try {
      const double alone_s = step_s(0);
      const auto longer = [&](int steps) {
        return steps > kHiddenSteps || (steps > 0 && step_s(steps) > (1 + kFreeOfCharge) * alone_s);
      };
      consider(with_share(*fewest(kHiddenSteps + 1, longer) - 1));
    } catch (const Error&) {
      keep_fault();
    }
  }

  // Tries choices for a table of layers: swaps those that are most expensive to recompute, as long
  // as that pays, and recomputes the cheapest of the others until the rest fits.
  void try_tables(const Job& job) {
    const Offload& offload = offload_of(job);
    const std::vector<std::size_t> order = dearest_first(job);
    const int count = static_cast<int>(order.size());
    const int swaps = searched_.activations ? count : 0;
    const auto with_rules = [&](int swapped, int recomputed) {
      Offload next = offload;
      next.layers.assign(job.network->layers.size(), ActivationRule::keep);
      for (int i = 0; i < swapped; ++i) next.layers[order[i]] = ActivationRule::swap;
      for (int i = 0; i < recomputed; ++i) {
        next.layers[order[count - 1 - i]] = ActivationRule::recompute;
      }
      if (swapped > 0) next.activations = MemoryTier::host;
      return with_offload(job, next);
    };
    for (int step = 0; step <= kSteps; ++step) {
      const int swapped = swaps * step / kSteps;
      if (step > 0 && swapped == swaps * (step - 1) / kSteps) continue;
      const int rest = searched_.recompute ? count - swapped : 0;
      // Consecutive recomputed layers are alive together, so more of them can need more memory.
      const std::optional<int> again =
          first_of(rest, [&](int recomputed) { return fits_gpu(with_rules(swapped, recomputed)); });
      consider(with_rules(swapped, again.value_or(rest)));
    }
  }

  // Returns the layers that keep activations, by falling recomputation time per byte.
  static std::vector<std::size_t> dearest_first(const Job& job) {
    const std::vector<NetworkLayer>& layers = job.network->layers;
    const std::vector<LayerCost> costs = network_layer_costs(job);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (layers[i].kept > 0) order.push_back(i);
    }
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) {
      return costs[i].forward.seconds / layers[i].kept;
    });
    return order;
  }

  PreparedIteration prepared(const Job& job) {
    PreparedIteration iteration = prepare_checked(job, geometry_);
    geometry_ = iteration.geometry;
    return iteration;
  }

  // Looks at the GPU only, where every offload takes memory away. The host's memory is checked when
  // a choice is considered.
  bool fits_gpu(const Job& job) {
    try {
      return lacking_on_gpu(job, prepared(job)) <= 0;
    } catch (const Error&) {
      keep_fault();
      return false;
    }
  }

  void consider(const Job& open) {
    try {
      const Job job = offload_of(open).in_chunks() ? with_chunks_found(open, geometry_) : open;
      const PreparedIteration iteration = prepared(job);
      Judged judged{job, lacking_bytes(job, iteration)};
      const bool fits = judged.lacking_bytes <= 0;
      if (fits) judged.step_s = iteration_step_s(job, iteration);
      const bool better = !best_ || (fits ? judged.step_s < best_->step_s
                                          : best_->lacking_bytes > 0 &&
                                                judged.lacking_bytes < best_->lacking_bytes);
      if (better) best_ = std::move(judged);
    } catch (const Error&) {
      keep_fault();
    }
  }

  void keep_fault() {
    if (fault_ == nullptr) fault_ = std::current_exception();
  }

  const Offload::Parts searched_;
  const Offload stated_;
  const Job& open_;
  SharedGeometry geometry_;  // all candidates have the same
  std::optional<Judged> best_;
  std::exception_ptr fault_;  // first error of a candidate
};

}  // namespace

std::vector<Offload> state_offloads(const Job& job) {
  using enum MemoryTier;
  std::vector<Offload> all;
  Offload base = offload_of(job);
  if (base.searched.state) base.optimizer_share = 1;
  for (const auto& [optimizer, gradients, weights] :
       {std::array{gpu, gpu, gpu}, std::array{host, gpu, gpu}, std::array{host, host, gpu},
        std::array{host, host, host}, std::array{disk, host, host}}) {
    Offload next = base;
    next.optimizer = optimizer;
    next.gradients = gradients;
    next.weights = weights;
    next.activations = gpu;
    if (why_not(next, job).empty()) all.push_back(next);
  }
  return all;
}

bool leaves_memory_open(const Job& job) {
  return job.recompute == Recompute::automatic || leaves_open(offload_of(job));
}

Job with_memory_found(const Job& job) {
  return MemorySearch(job).found();
}

Job with_memory_open(Job job) {
  Offload offload = offload_of(job);
  const Offload::Parts& searched = offload.searched;
  if (searched.recompute) job.recompute = Recompute::automatic;
  if (searched.state) {
    offload.optimizer = offload.gradients = offload.weights = MemoryTier::automatic;
    offload.optimizer_share = 1;
  }
  if (searched.activations) {
    offload.activations = MemoryTier::automatic;
    offload.activation_share = 1;
  }
  if (searched.chunks) offload.chunks = {};
  offload.searched.hidden = false;
  if (searched.recompute || searched.activations) offload.layers.clear();
  job.offload = std::make_shared<const Offload>(std::move(offload));
  return job;
}

}  // namespace windtunnel
