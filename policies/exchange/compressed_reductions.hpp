// What one bucket of gradients becomes: the row of transfers, kernels and collectives, that reduces
// it, as they are, compressed (models/compression/recipe.hpp), or by way of servers.
//
// Compressed: each step of the recipe is a transfer; its kernels wait for the transfer before.
// Where gradients are sharded, a sum is scattered over the shards and then summed across them, and
// every rank decodes its shard. Kernels take the compute stream: they are not slowed down by
// collectives, nor do they slow them.
//
// Parameter server (Li et al., OSDI 2014; BytePS, Jiang et al., OSDI 2020): the GPUs of a node sum
// their gradients S first, each a part, and gather the sums in the end. Between them
//   on the workers' hosts   each of n hosts serves an equal part: a node pushes S (n - 1)/n, and as
//                           a server answers with as much
//   on k other machines     a node pushes S while it pulls S, on a NIC that sends and receives at
//                           once, whatever n is; with k < n the servers' NICs are slower, by n/k
//                           (BytePS, docs/best-practice.md)
// The sums of the servers keep up with the network (BytePS section 4.2). Tensors go in partitions
// through all of this, each as soon as it can (BytePS, docs/architecture.md), so that transfers in
// nodes and between them run beside each other, on two streams, and the slower one decides. What
// the first partition needs to get from one to the other is left out. Where GPUs reach each other
// over PCIe, copies to the host and back take that link's time; beside NVLink they are hidden.
// Experts go to servers without sums in nodes.
//
// What goes with what: refused is whatever no such row exists for.
//   compressor, gradients sharded   it must be summable and take tensors in parts
//   compressor, dear                all its collectives are one all-reduce, which is split in two
//   compressor, priority            likewise, and it takes tensors in parts: partitions
//   compressor, parameter server    none: servers sum dense gradients
//   compressor, experts   no hops inside nodes; it must be summable where ep leaves copies of an
//                         expert among the ranks that hold one copy of the other weights
//   priority, dear, sharding        none: zero1 is dear's split, with weights in place of gradients
//   parameter server, sharding or dear   none: the server holds the whole sum
//   zero3                           its units are the layers: overlap none or bucketed
//   compressor, zero3 with gradients of its own levels or bits   none: that is another exchange
//   rows of embeddings, sharding, dear or parameter server   none: they are no sum in parts
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "policies/exchange/gradient_overlap.hpp"
#include "policies/exchange/gradient_tensors.hpp"
#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

// Throws Error with the reason when overlap, compressor, aggregation and sharding of the job do not
// go together.
void check_gradient_exchange(const Job& job);

// Gradients of one iteration reach the weights in the next one's forward pass: no rank waits for
// all gradients, and there is no common norm.
bool crosses_iterations(GradientOverlap overlap);

// Bytes on one GPU beside gradients and buckets.
struct CompressorMemory {
  double state = 0;    // kept from step to step: errors, factors
  double buffers = 0;  // while all tensors are under way at once
};

class GradientExchange {
 public:
  // Keeps references.
  GradientExchange(const Job& job, const ReplicaNetwork& network);

  // [tensor] Bytes that buckets are sized by: compressed ones, where the compressor's buffers can
  // be fused, else those of the gradients.
  std::vector<double> sizes(const std::vector<StageTensor>& tensors, int pp) const;
  // Of bucket_bytes of gradients each, the first of first_bucket_bytes; compressed ones hold as
  // many gradients, on average.
  std::vector<GradientBucket> buckets(const std::vector<StageTensor>& tensors, int pp) const;
  // Of a bucket of so many of those bytes; a compressor's by an all-reduce of what it sends.
  ReductionLaw law(int pp, bool expert) const;
  // An embedding of which few rows are touched (models/cost/chunk/embedding_exchange.hpp).
  bool goes_as_rows(const StageTensor& tensor) const;

  CompressorMemory memory(const std::vector<StageTensor>& tensors, int pp) const;

  // `share`: of the bucket's tensors, a partition. Behind what `to` has already, a row of its own.
  void append(const std::vector<StageTensor>& tensors, const GradientBucket& bucket, int pp,
              std::vector<Transfer>& to, double share = 1,
              StageAction action = StageAction::backward) const;
  // DeAR's halves (Zhang et al. 2023, arXiv 2302.12445).
  void append_scatter(const std::vector<StageTensor>& tensors, const GradientBucket& bucket, int pp,
                      std::vector<Transfer>& to) const;
  void append_gather(const std::vector<StageTensor>& tensors, const GradientBucket& bucket, int pp,
                     std::vector<Transfer>& to) const;

 private:
  struct Axes;
  Axes axes(int pp, bool expert) const;
  std::vector<Transfer> row(const std::vector<StageTensor>& tensors, const GradientBucket& bucket,
                            int pp, double share, StageAction action = StageAction::backward) const;
  std::vector<Transfer> compressed(const std::vector<TensorShape>& shapes, int pp,
                                   bool expert) const;
  struct Hop {
    ReplicaAxis axis;
    CollectiveKind kind;
    double bytes;
  };
  std::vector<Hop> hops_of(const RecipeStep& step, const Axes& axes, bool expert) const;
  std::vector<Transfer> of_recipe(const Recipe& recipe, const Axes& axes, int pp,
                                  bool expert) const;
  std::vector<Transfer> served(double parameters, int pp, bool expert) const;
  Transfer transfer(int pp, ReplicaAxis axis, CollectiveKind kind, double bytes,
                    CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic) const;
  std::vector<CostPart> kernel_costs(const std::vector<Op>& kernels) const;
  void add_copies(double parameters, std::vector<Transfer>& row) const;

  const Job& job_;
  const ReplicaNetwork& network_;
  const bool compresses_;
  const bool copies_;  // into buckets and back
  const double element_bytes_;
};

}  // namespace windtunnel
