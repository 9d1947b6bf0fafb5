// Turns one bucket of gradients into a sequence of transfers, each with its kernels and a
// collective. The bucket is reduced as it is, compressed (models/compression/recipe.hpp), or sent
// through parameter servers (Li et al., OSDI 2014; BytePS, Jiang et al., OSDI 2020). Each step of a
// recipe is a transfer whose kernels wait for the previous transfer. These kernels run on the
// compute stream; they neither slow collectives nor are slowed by them. If the training state is
// sharded, sums are scattered over the shards; other results go to all replicas, and each takes its
// shard.
// What servers send, and which overlaps, compressors and shardings can be combined:
// docs/physics/gradients.md.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "policies/exchange/gradient_overlap.hpp"
#include "policies/exchange/gradient_tensors.hpp"
#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

// Whether an iteration's gradients may arrive as late as the next forward pass: then no rank waits
// for all gradients, and there is no common norm.
bool crosses_iterations(GradientOverlap overlap);

// Whether a compressor or a robust rule replaces the plain sum of gradients.
bool has_recipe(const Job& job);

// The bytes that a compressor needs on one GPU in addition to gradients and buckets.
struct CompressorMemory {
  double state = 0;    // kept between steps: residual errors, low-rank factors
  double buffers = 0;  // while all tensors are in flight
};

class GradientExchange {
 public:
  // Keeps references.
  GradientExchange(const Job& job, const ReplicaNetwork& network);

  const CollectiveCosts& collective_costs() const { return costs_; }

  // Returns for each tensor the bytes by which buckets are filled: compressed bytes if the
  // compressor's buffers can be fused, otherwise those of the gradients. An embedding that is sent
  // as rows counts with its rows.
  std::vector<double> sizes(const std::vector<StageTensor>& tensors, int pp) const;
  // Fills buckets with bucket_bytes of gradients each, the first with first_bucket_bytes.
  // Compressed buckets hold the same amount of gradients on average.
  std::vector<GradientBucket> buckets(const std::vector<StageTensor>& tensors, int pp) const;
  // Returns the time to reduce a bucket by its bytes. With a compressor these are compressed bytes.
  ReductionLaw law(int pp, bool expert) const;
  // Whether an embedding is sent as rows, because a step touches few of them
  // (models/cost/chunk/embedding_exchange.hpp).
  bool goes_as_rows(const StageTensor& tensor) const;
  // Returns how many parameters of these tensors are gathered if the training state is sharded.
  // Tables whose columns are looked up at their owners (EmbRace) are not gathered.
  double gathered_parameters(const std::vector<StageTensor>& tensors,
                             const std::vector<int>& of_them) const;
  double gathered_parameters(const StageTensor& tensor) const;

  CompressorMemory memory(const std::vector<StageTensor>& tensors, int pp) const;

  // Appends the bucket's transfers to `to` as a new sequence. `share`: the share of each tensor
  // that is sent, if the bucket is split into partitions.
  void append(const std::vector<StageTensor>& tensors, const GradientBucket& bucket, int pp,
              std::vector<Transfer>& to, double share = 1,
              StageAction action = StageAction::last_backward) const;
  // The halves of a reduction in DeAR (Zhang et al. 2023, arXiv 2302.12445). Rows of embeddings,
  // and gradients that are scattered over shards, have only the first half.
  void append_scatter(const std::vector<StageTensor>& tensors, const GradientBucket& bucket, int pp,
                      std::vector<Transfer>& to) const;
  void append_gather(const std::vector<StageTensor>& tensors, const GradientBucket& bucket, int pp,
                     std::vector<Transfer>& to) const;

 private:
  struct Axes;
  // `whole`: gradients are not scattered over shards.
  Axes axes(int pp, bool expert, bool whole) const;
  // whether DeAR halves a row of transfers that begins with `first`
  bool is_halved(const Transfer& first) const;
  std::vector<Transfer> row(const std::vector<StageTensor>& tensors, const GradientBucket& bucket,
                            int pp, double share,
                            StageAction action = StageAction::last_backward) const;
  void add_slice_rounds(const std::vector<StageTensor>& tensors, const GradientBucket& bucket,
                        double share, StageAction action, std::vector<Transfer>& row) const;
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
  const bool across_;  // compresses only between places (gpus_per_place())
  const bool whole_;   // compressed data is not scattered
  const bool copies_;  // gradients are copied into buckets and back
  const double element_bytes_;
  const int slices_;        // slices of a torus between which gradients are summed
  const int shard_slices_;  // slices that one copy of the shards lies in
};

}  // namespace windtunnel
