// Puts together what a layer, the embedding or the loss head costs one GPU: its kernels, what the
// host adds, and what its ranks send each other.
#pragma once

#include <initializer_list>
#include <vector>

#include "models/compression/boundary.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/op/block_cost.hpp"
#include "models/cost/op/host_launch.hpp"
#include "models/cost/parallel/context_parallel.hpp"
#include "models/cost/parallel/tensor_parallel.hpp"
#include "models/network/groups/parallel_groups.hpp"
#include "models/workload/stage_parameters.hpp"

namespace windtunnel {

// Costs of blocks in the part of training that the job looks at (Training::part). The job must
// outlive it.
class BlockCoster {
 public:
  explicit BlockCoster(const Job& job, const ChunkUnit& unit = {});

  BlockCost layer(Block block) const;
  // The embedding or the loss head.
  BlockCost end(Block block) const;
  // What a module of TransformerSpec::mtp_layers costs before its layer.
  BlockCost joining() const;
  // Gathers what arrives at a stage in parts: its input, and backward the gradient of its output.
  BlockCost gathered(const BoundaryRecipe& cut, bool input, bool gradient) const;

 private:
  // Whether gradients pass through the part that is looked at.
  bool goes_back() const;
  PassOps pass_ops(Block block) const;
  void add_tensor(Block block, const PassOps& ops, BlockCost& cost) const;
  void add_recomputed(Block block, const std::vector<Op>& recomputed, BlockCost& cost) const;
  // Software::shard_copies, of a block with these parameters, which are gathered forward and, if
  // so, again for the backward pass.
  void add_shard_copies(const LayerParameters& parameters, bool gathered_back,
                        BlockCost& cost) const;
  // `shard_s`: CPU time of a gather or reduction, of which each pass has one.
  void add_host(const PassOps& ops, const std::vector<Op>& recomputed, double shard_s,
                BlockCost& cost) const;
  double wait_s(const std::vector<Launched>& launched) const;
  double host_s(double launches) const;
  double host_s(const Op& op) const;
  // Kernels of these passes.
  std::vector<Launched> launched(std::initializer_list<const std::vector<Op>*> passes) const;
  // The collectives of a pass: `parts` has their exposed time, `rounds` the kernels beside them,
  // and `spare_s` is host_spare_s() of all kernels that run beside a collective.
  void add_launched(const std::vector<CostPart>& parts, const std::vector<InnerRound>& rounds,
                    double spare_s, std::vector<Launched>& launched) const;
  void add_op(const Op& op, Category category, std::vector<CostPart>& parts) const;
  void count_flops(Block block, const Op& op, BlockCost& cost) const;
  BlockCost compute(Block block, const PassOps& ops) const;

  const Job& job_;
  BlockSetting setting_;
  GroupShape tp_shape_;
  MeshShapes mesh_shapes_;
  ContextShapes cp_shapes_;
  GroupShape ep_shape_;
  double contention_ = 1;  // by which a launch takes longer
};

}  // namespace windtunnel
