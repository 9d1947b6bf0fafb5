#include "models/cost/parallel/tensor_ops.hpp"

#include <fmt/format.h>

#include <functional>

#include "models/base/error.hpp"
#include "models/cost/op/op_cost.hpp"

namespace windtunnel {
namespace {

using MakeOps = std::function<std::vector<Op>(const Job&)>;

// Returns the ops of one rank of a mesh of side q. `whole`: the ops of the block without tp.
std::vector<Op> mesh_ops(const std::vector<Op>& whole, double q) {
  std::vector<Op> ops;
  for (Op op : whole) {
    op.flops /= q * q;
    op.bytes /= q * q;
    if (op.kind != OpKind::gemm) {
      op.batch /= q * q;
      ops.push_back(op);
      continue;
    }
    // A step multiplies two blocks; both its operands and its result are 1 / q^2 of the whole.
    op.m /= q;
    op.n /= q;
    op.k /= q;
    op.flops /= q;
    ops.insert(ops.end(), static_cast<std::size_t>(q), op);
  }
  return ops;
}

std::vector<Op> cut_ops(const Job& job, Block block, const MakeOps& make) {
  if (job.layout.mesh_side() > 1) {
    Job whole = job;
    whole.layout.tp = 1;
    return mesh_ops(make(whole), job.layout.mesh_side());
  }
  const int slices = tensor_slices(job);
  if (slices == 1 || !is_layer(block)) return make(job);
  CHECK(job.batch.micro % slices == 0, "{} slices of {} sequences", slices, job.batch.micro);
  Job part = job;
  part.batch.micro /= slices;
  const std::vector<Op> once = make(part);
  std::vector<Op> ops;
  for (int i = 0; i < slices; ++i) ops.insert(ops.end(), once.begin(), once.end());
  return ops;
}

// Cuts the outputs of row-parallel GEMMs into pieces; each piece reads all of the input.
std::vector<Op> with_columns(const std::vector<Op>& ops, int columns, double operand_bytes) {
  std::vector<Op> cut;
  for (Op op : ops) {
    const bool row_parallel =
        op.role == OpRole::projection || op.role == OpRole::down || op.role == OpRole::shared_down;
    if (!row_parallel) {
      cut.push_back(op);
      continue;
    }
    const double input_bytes = op.batch * operand_bytes * op.m * op.k;
    op.bytes = input_bytes + (op.bytes - input_bytes) / columns;
    op.n /= columns;
    op.flops /= columns;
    cut.insert(cut.end(), static_cast<std::size_t>(columns), op);
  }
  return cut;
}

}  // namespace

int tensor_slices(const Job& job) {
  if (job.layout.tp == 1) return 1;
  switch (job.software.tp_overlap) {
    case TensorOverlap::domino:
      return job.software.domino_rows;
    case TensorOverlap::sub_pipelined:
      return 2;
    default:
      return 1;
  }
}

int tensor_columns(const Job& job) {
  const bool domino = job.software.tp_overlap == TensorOverlap::domino && job.layout.tp > 1;
  return domino ? job.software.domino_columns : 1;
}

PassOps tensor_parallel_ops(const Job& job, Block block, const SequenceSlice& slice) {
  const auto pass_ops = [&](Pass pass) {
    return cut_ops(job, block, [&](const Job& it) { return block_ops(it, block, pass, slice); });
  };
  PassOps ops = {pass_ops(Pass::forward), pass_ops(Pass::backward_input),
                 pass_ops(Pass::backward_weight)};
  if (const int columns = tensor_columns(job); columns > 1) {
    ops.forward = with_columns(ops.forward, columns, gemm_bytes_of(job.precision));
  }
  return ops;
}

std::vector<Op> tensor_parallel_recomputed(const Job& job, Block block,
                                           const SequenceSlice& slice) {
  return cut_ops(job, block, [&](const Job& it) { return recomputed_ops(it, block, slice); });
}

void check_tensor_overlap(const Job& job) {
  const Software& software = job.software;
  if (job.layout.tp == 1 || software.tp_overlap == TensorOverlap::none) return;
  if (software.tp_overlap == TensorOverlap::pipelined && !job.layout.sequence_parallel) {
    throw Error::of_key("software.tp_overlap",
                        ": pipelined splits the gathers and scatters of sequence parallelism, "
                        "which is off; set layout.sequence_parallel: true, or take another form");
  }
  if (job.layout.signatures != ProductSignatures{}) {
    throw Error::about({"software.tp_overlap", "layout.signatures"},
                       "software.tp_overlap: only the collectives of Megatron-LM's layout can be "
                       "hidden; leave layout.signatures out, or take none");
  }
  const bool kraken = software.tp_overlap == TensorOverlap::kraken;
  if (kraken && job.model.moe.experts > 0) {
    throw Error::of_key("software.tp_overlap",
                        ": with kraken each rank has its own residual stream, which is not "
                        "modelled with experts; take a model without experts, or another form");
  }
  if (kraken && job.layout.sequence_parallel) {
    throw Error::of_key(
        "software.tp_overlap",
        ": with kraken each rank has its own residual stream, which sequence parallelism cannot "
        "divide; set layout.sequence_parallel: false, or take another form");
  }
  const int slices = tensor_slices(job);
  if (slices > job.batch.micro) {
    throw Error::of_key("software.tp_overlap",
                        ": {} row slices are more than the {} "
                        "sequences of a micro-batch; set "
                        "batch.micro: {} or more",
                        slices, job.batch.micro, slices);
  }
  if (job.batch.micro % slices != 0) {
    throw Error::of_key("software.tp_overlap",
                        ": the {} sequences of a micro-batch "
                        "(batch.micro) do not divide into "
                        "{} row slices",
                        job.batch.micro, slices);
  }
  if (software.tp_overlap == TensorOverlap::domino && slices * software.domino_columns == 1) {
    throw Error::of_key("software.tp_overlap",
                        ": domino with one row slice and one column piece overlaps nothing; "
                        "set software.tp_overlap.rows: 2 or software.tp_overlap.columns: 2");
  }
  if (software.domino_columns > job.model.hidden) {
    throw Error::of_key("software.tp_overlap.columns", "{} is more than the model's width of {}",
                        software.domino_columns, job.model.hidden);
  }
}

}  // namespace windtunnel
