// What sequences of unlike lengths cost a group of GPUs that shares each of them (context
// parallelism of that degree): the job's own chunk costs, forward and backward of one pipeline
// rank. Sequences of a pack stand behind each other without padding; attention does not cross their
// ends.
//
// seconds(pack) = a + b tokens + sum of attention(length) + exposed communication of all its
// tokens. a and b: all kernels but attention, from packs of a GPU's whole and half capacity.
#pragma once

#include <vector>

#include "models/job.hpp"

namespace windtunnel {

struct DegreeCost {
  int ranks = 1;
  double capacity = 0;  // tokens of a pack that fit
  double fixed_s = 0;
  double token_s = 0;
  // Of all-to-alls, exposed, and of a ring beside attention.
  double exchange_fixed_s = 0, exchange_token_s = 0;
  double ring_fixed_s = 0, ring_token_s = 0;
  double beside_share = 0;  // of the attention that the ring may hide behind

  double pack_s(double tokens, double attention_s) const;
};

class LengthCosts {
 public:
  // `job`: transformer, its GPUs but for tp and pp to be divided into groups. `degrees` ascending;
  // `tokens_per_gpu`: what a GPU's memory holds of a pack.
  LengthCosts(const Job& job, const std::vector<int>& degrees, double tokens_per_gpu);

  int gpus() const { return gpus_; }  // ranks of tp and pp together count as one
  const std::vector<DegreeCost>& degrees() const { return degrees_; }
  // Of one sequence, on every GPU of a group.
  double attention_s(std::size_t degree, double length) const;
  // Index of the smallest degree whose packs hold such a sequence. Throws Error if none does.
  std::size_t least_degree(double length) const;

 private:
  Job job_of(int ranks, double length) const;

  Job job_;
  int gpus_ = 1;
  double layers_ = 0;  // of a pipeline rank
  std::vector<DegreeCost> degrees_;
};

}  // namespace windtunnel
