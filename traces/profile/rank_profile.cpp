#include "traces/profile/rank_profile.hpp"

#include <algorithm>

#include "models/base/error.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

// Sorts by start; of nested ranges (a batch within an iteration) only the outermost stays.
template <class Range>
void keep_outermost(std::vector<Range>& ranges) {
  std::ranges::stable_sort(ranges, [](const Range& a, const Range& b) {
    return a.start_s < b.start_s || (a.start_s == b.start_s && a.end_s > b.end_s);
  });
  double until_s = -kNotLaunched;
  std::erase_if(ranges, [&](const Range& range) {
    if (range.end_s <= until_s) return true;
    until_s = range.end_s;
    return false;
  });
}

struct NamePart {
  std::string_view part;
  WorkKind kind;
  bool is_word = false;  // must be a whole word in the name, and not part of one
};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

// Whether `word` (lower case) occurs in the name as a whole word: in "FusedAdamFunctor" and
// "multi_tensor_lamb", not in "lambda".
bool has_word(std::string_view name, std::string_view word) {
  const auto lower = [](char c) { return is_upper(c) ? static_cast<char>(c | 0x20) : c; };
  const auto at = [&](std::size_t i) { return i < name.size() ? name[i] : '\0'; };
  for (std::size_t i = 0; i + word.size() <= name.size(); ++i) {
    const std::string_view part = name.substr(i, word.size());
    if (!std::ranges::equal(part, word, {}, lower)) continue;
    const char next = at(i + word.size());
    const bool begins =
        i == 0 || !is_letter(name[i - 1]) || (is_upper(part.front()) && !is_upper(name[i - 1]));
    const bool ends = !is_letter(next) || (is_upper(next) && !is_upper(at(i + word.size() + 1)));
    if (begins && ends) return true;
  }
  return false;
}

// The first part found in a name decides, so that a product in an attention library counts as
// attention and a norm in an optimizer's launch as the optimizer's.
constexpr NamePart kNameParts[] = {
    {"nccl", WorkKind::communication},
    {"rccl", WorkKind::communication},
    {"nvshmem", WorkKind::communication},
    {"cross_device_reduce", WorkKind::communication},
    {"multimem", WorkKind::communication},
    {"symm_mem", WorkKind::communication},
    // Copies of many tensors at once, as FSDP packs them.
    {"native::copy<", WorkKind::element_wise},
    {"multi_tensor_apply", WorkKind::optimizer},
    {"adam", WorkKind::optimizer, true},
    {"adamw", WorkKind::optimizer, true},
    {"lamb", WorkKind::optimizer, true},
    {"sgd", WorkKind::optimizer, true},
    {"l2norm", WorkKind::optimizer},
    {"flash", WorkKind::attention},
    {"fmha", WorkKind::attention},
    {"sdpa", WorkKind::attention},
    {"attention", WorkKind::attention},
    {"attn", WorkKind::attention},
    {"compute_dot_do_o", WorkKind::attention},  // cuDNN's backward
    {"convert_dq_to", WorkKind::attention},
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

void finish_profile(RankProfile& profile) {
  if (profile.work.empty()) {
    throw Error("contains no work of a GPU; let the profiler record it (ProfilerActivity.CUDA)");
  }
  std::ranges::stable_sort(profile.work, {}, &GpuWork::start_s);
  keep_outermost(profile.steps);
  keep_outermost(profile.passes);
}

const std::vector<std::string>& names_of(WorkKind) {
  static const std::vector<std::string> names = {
      "products", "attention", "norms", "element-wise", "optimizer", "copies", "communication"};
  return names;
}

WorkKind kind_of_kernel(std::string_view name) {
  for (const auto& [part, kind, is_word] : kNameParts) {
    if (is_word ? has_word(name, part) : contains_text(name, part)) return kind;
  }
  return WorkKind::element_wise;
}

}  // namespace windtunnel
