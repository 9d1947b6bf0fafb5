// What one bucket of gradients becomes: a row of transfers, each with its kernels and a collective,
// that reduces the bucket as it is, compressed (models/compression/recipe.hpp), or by way of
// parameter servers (Li et al., OSDI 2014; BytePS, Jiang et al., OSDI 2020). Each step of a recipe
// is a transfer whose kernels wait for the transfer before; kernels take the compute stream and
// neither slow collectives down nor are slowed down by them. Sums are scattered where the training
// state is sharded; what is no sum goes among all replicas, and each takes its shard.
//
// What servers send, and which overlaps, compressors and shardings go together:
// docs/physics/gradients.md.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "policies/exchange/gradient_overlap.hpp"
#include "policies/exchange/gradient_tensors.hpp"
#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

// Gradients of one iteration reach the weights in the next one's forward pass: no rank waits for
// all gradients, and there is no common norm.
bool crosses_iterations(GradientOverlap overlap);

// Whether gradients are not simply summed, because of a compressor or a robust rule.
bool has_recipe(const Job& job);

// Bytes on one GPU beside gradients and buckets.
struct CompressorMemory {
  double state = 0;    // kept from step to step: errors, factors
  double buffers = 0;  // while all tensors are under way at once
};

class GradientExchange {
 public:
  // Keeps references.
  GradientExchange(const Job& job, const ReplicaNetwork& network);

  const CollectiveCosts& collective_costs() const { return costs_; }

  // [tensor] Bytes that buckets are sized by: compressed ones, where the compressor's buffers can
  // be fused, else those of the gradients.
  std::vector<double> sizes(const std::vector<StageTensor>& tensors, int pp) const;
  // Buckets of bucket_bytes of gradients each, the first of first_bucket_bytes. Compressed buckets
  // hold as many gradients, on average.
  std::vector<GradientBucket> buckets(const std::vector<StageTensor>& tensors, int pp) const;
  // The time to reduce a bucket by its bytes. With a compressor: an all-reduce of what it sends.
  ReductionLaw law(int pp, bool expert) const;
  // Whether an embedding is sent as rows, because a step touches few of them
  // (models/cost/chunk/embedding_exchange.hpp).
  bool goes_as_rows(const StageTensor& tensor) const;
  // The parameters of these tensors whose weights are gathered where the training state is sharded;
  // a table whose columns are looked up at their owners (EmbRace) is not.
  double gathered_parameters(const std::vector<StageTensor>& tensors,
                             const std::vector<int>& of_them) const;
  double gathered_parameters(const StageTensor& tensor) const;

  CompressorMemory memory(const std::vector<StageTensor>& tensors, int pp) const;

  // `share`: of the bucket's tensors, a partition. Behind what `to` has already, a row of its own.
  void append(const std::vector<StageTensor>& tensors, const GradientBucket& bucket, int pp,
              std::vector<Transfer>& to, double share = 1,
              StageAction action = StageAction::last_backward) const;
  // DeAR's halves (Zhang et al. 2023, arXiv 2302.12445); what is scattered over shards, and rows of
  // embeddings, have none but the first.
  void append_scatter(const std::vector<StageTensor>& tensors, const GradientBucket& bucket, int pp,
                      std::vector<Transfer>& to) const;
  void append_gather(const std::vector<StageTensor>& tensors, const GradientBucket& bucket, int pp,
                     std::vector<Transfer>& to) const;

 private:
  struct Axes;
  // `whole`: nothing is scattered over shards.
  Axes axes(int pp, bool expert, bool whole) const;
  bool is_halved(const Transfer& first) const;  // a row that begins with it, by DeAR
  std::vector<Transfer> row(const std::vector<StageTensor>& tensors, const GradientBucket& bucket,
                            int pp, double share,
                            StageAction action = StageAction::last_backward) const;
  Recipe recipe_of(const std::vector<TensorShape>& shapes, const ReducingGroup& group) const;
  std::vector<Transfer> compressed(const std::vector<TensorShape>& shapes, int pp, bool expert,
                                   StageAction action) const;
  std::vector<TensorShape> parts_of(const std::vector<TensorShape>& shapes, int members) const;
  std::vector<Transfer> compressed_across(const std::vector<TensorShape>& shapes, const Axes& axes,
                                          int pp, bool expert, StageAction action) const;
  struct Hop {
    ReplicaAxis axis;
    CollectiveKind kind;
    double bytes;
  };
  std::vector<Hop> hops_of(const RecipeStep& step, const Axes& axes, bool expert) const;
  std::vector<Transfer> of_recipe(const Recipe& recipe, const Axes& axes, int pp,
                                  bool expert) const;
  std::vector<Transfer> served(double parameters, int pp, bool expert,
                               StageAction action = StageAction::last_backward) const;
  void append_served(int pp, ReplicaAxis axis, double bytes, int times,
                     std::vector<Transfer>& row) const;
  double momentum_bytes(double elements) const;
  Transfer transfer(int pp, ReplicaAxis axis, CollectiveKind kind, double bytes,
                    CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic) const;
  void add_copies(double parameters, std::vector<Transfer>& row) const;

  const Job& job_;
  const ReplicaNetwork& network_;
  const CollectiveCosts costs_;
  const bool compresses_;
  const bool across_;  // between places only
  const bool whole_;   // what is compressed is not scattered
  const bool copies_;  // into buckets and back
  const double element_bytes_;
};

}  // namespace windtunnel
