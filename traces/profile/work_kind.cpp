#include "traces/profile/work_kind.hpp"

#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

struct NamePart {
  std::string_view part;
  WorkKind kind;
};

// The first that a name has decides, so that a product of an attention library is attention and a
// norm inside an optimizer's launch is the optimizer's.
constexpr NamePart kNameParts[] = {
    {"nccl", WorkKind::communication},
    {"rccl", WorkKind::communication},
    {"nvshmem", WorkKind::communication},
    {"cross_device_reduce", WorkKind::communication},
    {"multimem", WorkKind::communication},
    {"symm_mem", WorkKind::communication},
    {"multi_tensor_apply", WorkKind::optimizer},
    {"adam", WorkKind::optimizer},
    {"lamb", WorkKind::optimizer},
    {"sgd", WorkKind::optimizer},
    {"l2norm", WorkKind::optimizer},
    {"flash", WorkKind::attention},
    {"fmha", WorkKind::attention},
    {"sdpa", WorkKind::attention},
    {"attention", WorkKind::attention},
    {"attn", WorkKind::attention},
    {"layer_norm", WorkKind::norm},
    {"layernorm", WorkKind::norm},
    {"rms_norm", WorkKind::norm},
    {"rmsnorm", WorkKind::norm},
    {"ln_fwd", WorkKind::norm},
    {"ln_bwd", WorkKind::norm},
    {"gammabeta", WorkKind::norm},
    {"batch_norm", WorkKind::norm},
    {"bn_fw", WorkKind::norm},
    {"bn_bw", WorkKind::norm},
    {"groupnorm", WorkKind::norm},
    {"softmax", WorkKind::norm},
    {"gemm", WorkKind::product},
    {"gemv", WorkKind::product},
    {"cutlass", WorkKind::product},
    {"cublas", WorkKind::product},
    {"xmma", WorkKind::product},
    {"nvjet", WorkKind::product},
    {"cijk_", WorkKind::product},
    {"splitk", WorkKind::product},
    {"s16816", WorkKind::product},
    {"s1688", WorkKind::product},
    {"h16816", WorkKind::product},
    {"matmul", WorkKind::product},
    {"triton_mm", WorkKind::product},
    {"_mm_", WorkKind::product},
    {"wgrad", WorkKind::product},
    {"dgrad", WorkKind::product},
    {"convolve", WorkKind::product},
    {"winograd", WorkKind::product},
};

}  // namespace

const std::vector<std::string>& names_of(WorkKind) {
  static const std::vector<std::string> names = {
      "products", "attention", "norms", "element-wise", "optimizer", "copies", "communication"};
  return names;
}

WorkKind kind_of_kernel(std::string_view name) {
  for (const auto& [part, kind] : kNameParts) {
    if (contains_text(name, part)) return kind;
  }
  return WorkKind::element_wise;
}

}  // namespace windtunnel
