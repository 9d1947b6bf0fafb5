// What sequences of unlike lengths cost a group of GPUs that shares each of them (context
// parallelism of that degree): the job's own chunk costs. Sequences of a pack stand behind each
// other without padding; attention does not cross their ends.
//
// seconds(pack) = a + b tokens + sum of attention(length) + exposed communication of all its
// tokens. a and b: all kernels but attention, from packs of two sizes.
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

// What attention takes in all layers, in one direction each, on every GPU of a group; in a pipeline
// on all its ranks together.
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

// Context parallelism, by the tokens of a pack: all-to-alls, exposed, and a ring beside attention.
struct ContextCost {
  Line exchange;
  Line ring;
  double beside_share = 0;  // share of the attention that the ring may hide behind

  double ring_s(double tokens, double attention_s) const {
    return std::max(0.0, ring.at(tokens) - beside_share * attention_s);
  }
  double seconds(double tokens, double attention_s) const {
    return exchange.at(tokens) + ring_s(tokens, attention_s);
  }
};

struct DegreeCost {
  int ranks = 1;
  double capacity = 0;  // tokens of a pack that fit
  int stages = 1;       // pipeline ranks, which divide what follows
  Line other;           // all but attention and context parallelism
  ContextCost forward;
  ContextCost backward;
  // How often attention, and its communication, run forward: 2 where they are recomputed.
  double attention_runs = 1;
  double context_runs = 1;

  // What it takes on a pipeline rank, on average.
  double pack_s(double tokens, const AttentionSeconds& attention) const;
};

class LengthCosts {
 public:
  // `job`: transformer, its cp x dp GPUs to be divided into groups. `degrees` ascending;
  // `tokens_per_gpu`: what a GPU's memory holds of a pack. Costs are taken at packs of
  // `measured_per_gpu` tokens, and of half as many; 0: tokens_per_gpu.
  LengthCosts(const Job& job, const std::vector<int>& degrees, double tokens_per_gpu,
              double measured_per_gpu = 0);

  int gpus() const { return gpus_; }  // ranks of tp together count as one
  const std::vector<DegreeCost>& degrees() const { return degrees_; }
  // Where nodes are unlike, [GPU] its time over what is said here.
  void set_paces(std::vector<double> paces) { paces_ = std::move(paces); }
  double pace(int first, int ranks) const {
    if (paces_.empty()) return 1;
    return *std::max_element(paces_.begin() + first, paces_.begin() + first + ranks);
  }
  // What each sequence takes.
  std::vector<AttentionSeconds> attention(std::size_t degree,
                                          const std::vector<int>& lengths) const;
  // Index of the smallest degree whose packs hold such a sequence. Throws Error if none does.
  std::size_t least_degree(double length) const;
  // [stage] What a pack costs and keeps on one GPU: its sequences' attention, `squares` the sum of
  // their lengths' squares. Seconds are together those of pack_s() on all pipeline ranks.
  std::vector<ChunkCost> pack(std::size_t degree, double tokens, double squares,
                              const AttentionSeconds& attention) const;
  // Adds to a stage's cost the compute of its experts for `tokens` more tokens on a GPU; negative:
  // fewer.
  void add_expert_tokens(std::size_t degree, std::size_t stage, double tokens,
                         ChunkCost& chunk) const;
  // The same with this room for packs in place of the other, but on the widest groups, which take
  // what fits no narrower one.
  LengthCosts with_room(double tokens_per_gpu) const;

 private:
  static constexpr int kPasses = 4;  // forward, backward_input, backward_weight, recompute
  // Costs of a stage without attention and context parallelism.
  struct PartLine {
    Category category = Category::forward;
    Origin origin = Origin::assumed;
    Line seconds;
  };
  struct StageParts {
    std::array<std::vector<PartLine>, kPasses> passes;
    std::array<std::vector<CostPart>, kPasses> routed;  // by the experts, per token of a GPU
    double layers = 1;                                  // share of the model's
    double token_flops = 0, square_flops = 0;           // hardware_flops of a GPU
    ChunkCost whole;                                    // a pack of Parts::tokens
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
  std::vector<double> paces_;  // empty: all 1
  std::vector<DegreeCost> degrees_;
  std::vector<Parts> parts_;  // [degree]
};

// The job with its GPUs in groups of `ranks`, one sequence of `length` tokens in a micro-batch.
Job job_of_degree(const Job& job, int ranks, double length);

}  // namespace windtunnel
