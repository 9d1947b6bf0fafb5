// Cost of sequences of different lengths on a group of GPUs that shares each sequence (context
// parallelism of that degree), from the job's chunk costs. The sequences of a pack are concatenated
// without padding; attention does not cross their ends.
//
// seconds(pack) = a + b tokens + sum of attention(length) + exposed communication of the pack's
// tokens. a and b describe all kernels except attention, and are fitted to packs of two sizes.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

struct Line {
  double fixed = 0;
  double slope = 0;
  double at(double x) const { return fixed + slope * x; }
};

// Time of attention over all layers, by direction, on every GPU of a group. In a pipeline it is
// summed over the pipeline ranks.
struct AttentionSeconds {
  double forward_s = 0;
  double backward_s = 0;

  AttentionSeconds& operator+=(const AttentionSeconds& more) {
    forward_s += more.forward_s;
    backward_s += more.backward_s;
    return *this;
  }
  AttentionSeconds of_share(double share) const { return {share * forward_s, share * backward_s}; }
};

// Cost of context parallelism by the tokens of a pack: exposed all-to-alls, and a ring that
// overlaps attention.
struct ContextCost {
  Line exchange;
  Line ring;
  double beside_share = 0;  // share of the attention's time that can hide the ring

  double ring_s(double tokens, double attention_s) const {
    return std::max(0.0, ring.at(tokens) - beside_share * attention_s);
  }
  double seconds(double tokens, double attention_s) const {
    return exchange.at(tokens) + ring_s(tokens, attention_s);
  }
};

struct DegreeCost {
  int ranks = 1;
  double capacity = 0;  // largest number of tokens in a pack
  int stages = 1;       // pipeline ranks, which divide the following costs
  Line other;           // everything except attention and context parallelism
  ContextCost forward;
  ContextCost backward;
  // How often attention, and its communication, run forward in a step: 2 if recomputed.
  double attention_runs = 1;
  double context_runs = 1;

  // Returns the mean time of a pack on a pipeline rank.
  double pack_s(double tokens, const AttentionSeconds& attention) const;
};

class LengthCosts {
 public:
  // `job`: its cp x dp GPUs are divided into groups. `degrees` ascend; `tokens_per_gpu`: tokens of
  // a pack that fit in a GPU's memory. Costs are computed at packs of `measured_per_gpu` tokens and
  // of half as many; 0: tokens_per_gpu.
  LengthCosts(const Job& job, const std::vector<int>& degrees, double tokens_per_gpu,
              double measured_per_gpu = 0);

  int gpus() const { return gpus_; }  // a tp group counts as one
  const std::vector<DegreeCost>& degrees() const { return degrees_; }
  // If nodes differ, each GPU has a factor by which these costs are multiplied.
  void set_paces(std::vector<double> paces) { paces_ = std::move(paces); }
  double pace(int first, int ranks) const {
    if (paces_.empty()) return 1;
    return *std::max_element(paces_.begin() + first, paces_.begin() + first + ranks);
  }
  // Returns the attention time of each sequence.
  std::vector<AttentionSeconds> attention(std::size_t degree,
                                          const std::vector<int>& lengths) const;
  // Returns the index of the smallest degree whose packs can hold a sequence of this length. Throws
  // Error if there is none.
  std::size_t least_degree(double length) const;
  // Returns [stage] cost and memory of a pack on a GPU. `attention`: that of its sequences;
  // `squares`: sum of their squared lengths. The seconds add up to pack_s() over all pipeline
  // ranks.
  std::vector<ChunkCost> pack(std::size_t degree, double tokens, double squares,
                              const AttentionSeconds& attention) const;
  // Adds to a stage's cost the experts' time for `tokens` more tokens on a GPU; negative: fewer.
  void add_expert_tokens(std::size_t degree, std::size_t stage, double tokens,
                         ChunkCost& chunk) const;
  // Limits packs to `tokens_per_gpu`. The widest groups keep their limit, because they must take
  // the sequences that fit on no narrower group.
  LengthCosts with_room(double tokens_per_gpu) const;

 private:
  static constexpr int kPasses = 4;  // forward, backward_input, backward_weight, recompute
  // A part of a stage's cost, neither attention nor context parallelism, by tokens of a pack.
  struct PartLine {
    Category category = Category::forward;
    Origin origin = Origin::assumed;
    Line seconds;
  };
  struct StageParts {
    std::array<std::vector<PartLine>, kPasses> passes;
    std::array<std::vector<CostPart>, kPasses> routed;  // time of experts, per token on a GPU
    double layers = 1;                                  // of the model that are in the stage
    double token_flops = 0, square_flops = 0;           // hardware_flops of a GPU
    ChunkCost whole;                                    // cost of a pack of Parts::tokens
  };
  struct Parts {
    std::vector<StageParts> stages;
    Origin attention_forward = Origin::assumed;
    Origin attention_backward = Origin::assumed;
    Origin exchange = Origin::assumed;
    Origin ring = Origin::assumed;
    double tokens = 0;
  };
  void measure(const Job& half, const Job& whole, DegreeCost& cost, Parts& parts) const;
  void measure_stage(const ChunkCost& half, double half_tokens,
                     const std::array<AttentionSeconds, 2>& attention, DegreeCost& cost,
                     const Parts& parts, StageParts& stage) const;
  void measure_routed(const Job& whole, std::size_t first_layer, std::size_t layers,
                      StageParts& stage) const;
  void measure_context(const Job& half, const Job& whole, DegreeCost& cost, Parts& parts) const;
  ChunkCost stage_cost(const DegreeCost& cost, const Parts& parts, const StageParts& stage,
                       double tokens, double squares, const AttentionSeconds& attention) const;

  Job job_;
  int gpus_ = 1;
  std::vector<double> paces_;  // empty: every factor is 1
  std::vector<DegreeCost> degrees_;
  std::vector<Parts> parts_;  // [degree]
};

// Puts the job's GPUs in groups of `ranks`, with a sequence of `length` tokens per micro-batch.
Job job_of_degree(const Job& job, int ranks, double length);

}  // namespace windtunnel
