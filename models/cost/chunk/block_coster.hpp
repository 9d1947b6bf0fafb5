// Computes the cost of a layer, the embedding or the loss head on one GPU from its kernels, the
// host's overhead, and communication inside the replica.
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

// Costs blocks that take part in training as Training::part says. The job must outlive it.
class BlockCoster {
 public:
  explicit BlockCoster(const Job& job, const ChunkUnit& unit = {});

  BlockCost layer(Block block) const;
  // `block` is the embedding or the loss head.
  BlockCost end(Block block) const;
  // Cost of a multi-token prediction module before its layer.
  BlockCost joining() const;
  // An end of the job's tower (op_tower.hpp).
  BlockCost tower_end(int part) const;
  // Gathers a stage's input, and backward the gradient of its output, if they arrive in parts.
  BlockCost gathered(const BoundaryRecipe& cut, bool input, bool gradient) const;

 private:
  // Whether gradients pass through this part.
  bool goes_back() const;
  PassOps pass_ops(Block block) const;
  void add_tensor(Block block, const PassOps& ops, BlockCost& cost) const;
  void add_recomputed(Block block, const std::vector<Op>& recomputed, BlockCost& cost) const;
  // Adds Software::shard_copies for a block with these parameters. They are gathered in the forward
  // pass and, if `gathered_back`, again for the backward pass.
  void add_shard_copies(const LayerParameters& parameters, bool gathered_back,
                        BlockCost& cost) const;
  // `shard_s`: CPU time of the gather or reduction in each pass.
  void add_host(const PassOps& ops, const std::vector<Op>& recomputed, double shard_s,
                BlockCost& cost) const;
  double wait_s(const std::vector<Launched>& launched) const;
  double host_s(double launches) const;
  double host_s(const Op& op) const;
  // The kernels of these passes, as launched by the host.
  std::vector<Launched> launched(std::initializer_list<const std::vector<Op>*> passes) const;
  // Adds the collectives of a pass: `parts` is their exposed time, `rounds` contains the kernels
  // that overlap them, and `spare_s` is host_spare_s() of these kernels.
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
  double contention_ = 1;  // factor on the time of a launch
};

}  // namespace windtunnel
