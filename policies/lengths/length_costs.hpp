// What sequences of unlike lengths cost a group of GPUs that shares each of them (context
// parallelism of that degree): the job's own chunk costs, on one pipeline rank. Sequences of a pack
// stand behind each other without padding; attention does not cross their ends.
//
// seconds(pack) = a + b tokens + sum of attention(length) + exposed communication of all its
// tokens. a and b: all kernels but attention, from packs of two sizes.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

struct Line {
  double fixed = 0;
  double slope = 0;
  double at(double x) const { return fixed + slope * x; }
};

// Of all layers and one direction each, on every GPU of a group.
struct AttentionSeconds {
  double forward_s = 0;
  double backward_s = 0;

  AttentionSeconds& operator+=(const AttentionSeconds& more) {
    forward_s += more.forward_s;
    backward_s += more.backward_s;
    return *this;
  }
};

// Context parallelism, by the tokens of a pack: all-to-alls, exposed, and a ring beside attention.
struct ContextCost {
  Line exchange;
  Line ring;
  double beside_share = 0;  // of the attention that the ring may hide behind

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
  Line other;           // all but attention and context parallelism
  ContextCost forward;
  ContextCost backward;
  // How often attention, and its communication, run forward: 2 where they are recomputed.
  double attention_runs = 1;
  double context_runs = 1;

  double pack_s(double tokens, const AttentionSeconds& attention) const;
};

class LengthCosts {
 public:
  // `job`: transformer without experts, its GPUs but for tp to be divided into groups. `degrees`
  // ascending; `tokens_per_gpu`: what a GPU's memory holds of a pack. Costs are taken at packs of
  // `measured_per_gpu` tokens, and of half as many; 0: tokens_per_gpu.
  LengthCosts(const Job& job, const std::vector<int>& degrees, double tokens_per_gpu,
              double measured_per_gpu = 0);

  int gpus() const { return gpus_; }  // ranks of tp together count as one
  const std::vector<DegreeCost>& degrees() const { return degrees_; }
  // Of each sequence.
  std::vector<AttentionSeconds> attention(std::size_t degree,
                                          const std::vector<int>& lengths) const;
  // Index of the smallest degree whose packs hold such a sequence. Throws Error if none does.
  std::size_t least_degree(double length) const;
  // What a pack costs and keeps on one GPU: its sequences' attention, `squares` the sum of their
  // lengths' squares. Seconds are those of pack_s().
  ChunkCost pack(std::size_t degree, double tokens, double squares,
                 const AttentionSeconds& attention) const;

 private:
  static constexpr int kPasses = 4;  // forward, backward_input, backward_weight, recompute
  // Without attention and context parallelism.
  struct PartLine {
    Category category = Category::forward;
    Origin origin = Origin::assumed;
    Line seconds;
  };
  struct Parts {
    std::array<std::vector<PartLine>, kPasses> passes;
    Origin attention_forward = Origin::assumed;
    Origin attention_backward = Origin::assumed;
    Origin exchange = Origin::assumed;
    Origin ring = Origin::assumed;
    double token_flops = 0, square_flops = 0;  // hardware_flops of a GPU
    ChunkCost whole;                           // a pack of `tokens`
    double tokens = 0;
  };
  void measure(const Job& half, const Job& whole, DegreeCost& cost, Parts& parts) const;
  void measure_context(const Job& half, const Job& whole, DegreeCost& cost, Parts& parts) const;

  Job job_;
  int gpus_ = 1;
  std::vector<DegreeCost> degrees_;
  std::vector<Parts> parts_;  // [degree]
};

// The job with its GPUs in groups of `ranks`, one sequence of `length` tokens in a micro-batch.
Job job_of_degree(const Job& job, int ranks, double length);

}  // namespace windtunnel
