#include "models/cost/op/block_cost.hpp"

#include <utility>

#include "models/base/error.hpp"
#include "models/plan/job_collective.hpp"

namespace windtunnel {

void add_cost(std::vector<CostPart>& parts, Category category, Origin origin, double seconds) {
  if (seconds <= 0) return;
  for (CostPart& part : parts) {
    if (part.category == category && part.origin == origin) {
      part.seconds += seconds;
      return;
    }
  }
  parts.push_back({category, origin, seconds});
}

void add_costs(std::vector<CostPart>& parts, const std::vector<CostPart>& more, double times) {
  for (const CostPart& part : more) {
    add_cost(parts, part.category, part.origin, times * part.seconds);
  }
}

BlockSetting::BlockSetting(const Job& job, const SequenceSlice& slice, int fused)
    : job(job),
      slice(slice),
      rows(slice.share() * static_cast<double>(job.batch.micro) * job.batch.sequence /
           job.layout.cp),
      fused(fused) {}

OpCost BlockSetting::cost(const Op& op) const {
  if (op.starts == 0) return {0, Origin::measured};  // not_run()
  return op_cost(fused > 1 ? fused_op(op, fused) : op, job);
}

double BlockSetting::activation_bytes(double width) const {
  return bytes_of(job.precision) * rows * width;
}

double BlockSetting::operand_bytes(double width) const {
  return gemm_bytes_of(job.precision) * rows * width;
}

InnerCollective BlockSetting::collective(InnerGroup group, CollectiveKind kind,
                                         const GroupShape& shape, double bytes) const {
  return inner_collective(group, kind, shape, bytes,
                          collective_cost(job, axis_of(group), kind, shape, bytes));
}

std::optional<ActivationCodec> BlockSetting::codec(InnerGroup group, const GroupShape& shape,
                                                   double element_bytes) const {
  const CompressorChoice& choice = compressor_of(job.communication.compressors, axis_of(group));
  const bool here = choice.hop != CompressedHop::across || shape.nodes > 1;
  if (!here || shape.members <= 1) return std::nullopt;
  std::optional<ActivationCodec> codec = activation_codec(choice);
  return codec && codec->bytes < element_bytes ? codec : std::nullopt;
}

void BlockSetting::add_kernels(std::initializer_list<Op> kernels,
                               InnerCollective& collective) const {
  for (const Op& kernel : kernels) {
    const OpCost of_kernel = cost(kernel);
    collective.kernels_s += of_kernel.seconds;
    collective.kernels_origin = of_kernel.origin;
  }
}

std::vector<InnerCollective> BlockSetting::exchanged(InnerGroup group, CollectiveKind kind,
                                                     const GroupShape& shape, double bytes,
                                                     double element_bytes) const {
  using K = CollectiveKind;
  const std::optional<ActivationCodec> packed = codec(group, shape, element_bytes);
  if (!packed) return {collective(group, kind, shape, bytes)};
  const double n = bytes / element_bytes;
  const double ranks = shape.members;
  const auto sent = [&](K of_kind, std::initializer_list<Op> kernels) {
    InnerCollective one = collective(group, of_kind, shape, packed->bytes * n);
    add_kernels(kernels, one);
    return one;
  };
  const Op encode = packed->encode(n, element_bytes);
  const Op decode = packed->decode(n, element_bytes);
  switch (kind) {
    case K::all_to_all:
      return {sent(kind, {encode, decode})};
    case K::all_gather:
      return {sent(kind, {packed->encode(n / ranks, element_bytes), decode})};
    case K::reduce_scatter:
      return {sent(K::all_to_all, {encode, packed->sum(n, element_bytes, ranks)})};
    case K::all_reduce:
      return {sent(K::all_to_all, {encode, packed->requantise(n, ranks)}),
              sent(K::all_gather, {decode})};
    default:
      CHECK(false, "a packed {}", to_string(kind));
      return {};
  }
}

InnerCollective inner_collective(InnerGroup group, CollectiveKind kind, const GroupShape& shape,
                                 double bytes, const CollectiveCost& cost) {
  return {.group = group,
          .kind = kind,
          .choice = {cost.algorithm, cost.protocol},
          .bytes = bytes,
          .seconds = cost.seconds,
          .transfer_s = cost.transfer_s,
          .origin = cost.origin,
          .in_node = shape.nodes == 1};
}

void BlockPass::add(InnerRound round) const {
  for (const InnerCollective& collective : round.collectives) {
    add_cost(parts, Category::compression, collective.kernels_origin, collective.kernels_s);
  }
  std::erase_if(round.collectives,
                [](const InnerCollective& collective) { return collective.seconds <= 0; });
  if (round.collectives.empty()) return;
  const double exposed = exposed_s(round);
  add_cost(parts, round.category, round.origin, exposed);
  if (round.into_next_layer) {
    add_cost(end, round.category, round.origin, collectives_s(round) - exposed);
  }
  rounds.push_back(std::move(round));
}

}  // namespace windtunnel
