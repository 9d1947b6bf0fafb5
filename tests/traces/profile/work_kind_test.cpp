#include <gtest/gtest.h>

#include <utility>

#include "traces/profile/rank_profile.hpp"

namespace windtunnel {
namespace {

TEST(WorkKind, ByTheNamesThatLibrariesGiveTheirKernels) {
  const std::pair<const char*, WorkKind> known[] = {
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", WorkKind::product},
      {"nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NTT", WorkKind::product},
      {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>", WorkKind::product},
      {"Cijk_Alik_Bljk_BBS_BH_MT256x256x64", WorkKind::product},
      {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128>>", WorkKind::attention},
      {"fmha_cutlassF_bf16_aligned_64x128_rf_sm80", WorkKind::attention},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop", WorkKind::attention},
      {"void transformer_engine::normalization::ln_bwd_tuned_kernel", WorkKind::norm},
      {"void at::native::vectorized_layer_norm_kernel<float>", WorkKind::norm},
      {"void (anonymous namespace)::softmax_warp_forward", WorkKind::norm},
      {"void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>", WorkKind::optimizer},
      {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::"
       "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
       "const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}>"
       "(at::TensorIteratorBase&, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::"
       "{lambda()#3}::operator()() const::{lambda()#12}::operator()() const::"
       "{lambda(c10::BFloat16)#1} const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl)",
       WorkKind::element_wise},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
       "std::array<char*, 1> >(int, at::native::FillFunctor<float>, std::array<char*, 1>)",
       WorkKind::element_wise},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
       "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::"
       "FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*>",
       WorkKind::optimizer},
      {"void multi_tensor_apply_kernel<TensorListMetadata<4>, LAMBStage1Functor<float>, float*>",
       WorkKind::optimizer},
      {"void LAMBStage2Functor<float>", WorkKind::optimizer},
      {"void AdamWFunctor<float>", WorkKind::optimizer},
      {"void multi_tensor_apply_kernel<TensorListMetadata<2>, UnaryOpFunctor<c10::BFloat16, 2, 1, "
       "1>, at::native::Copy<c10::BFloat16, c10::BFloat16> >",
       WorkKind::element_wise},
      {"void cudnn::fusion::compute_dot_do_o_specialized<true, 64>(void const*, void const*)",
       WorkKind::attention},
      {"void cudnn::fusion::convert_dq_to_16bits<true>(void const*, void*)", WorkKind::attention},
      {"_fused_adamw_kernel", WorkKind::optimizer},
      {"multi_tensor_sgd", WorkKind::optimizer},
      {"void FusedSgdMathFunctor<float>", WorkKind::optimizer},
      {"LAMBDA_KERNEL macadam_sgdx", WorkKind::element_wise},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", WorkKind::communication},
      {"void vllm::cross_device_reduce_2stage<bf16>", WorkKind::communication},
      {"triton_poi_fused_add_gelu_0", WorkKind::element_wise},
      {"void at::native::vectorized_elementwise_kernel<4>", WorkKind::element_wise},
      {"", WorkKind::element_wise},
  };
  for (const auto& [name, kind] : known) EXPECT_EQ(kind_of_kernel(name), kind) << name;
}

TEST(WorkKind, EveryKindHasAName) {
  EXPECT_EQ(names_of(WorkKind::product).size(), static_cast<std::size_t>(kWorkKinds));
}

}  // namespace
}  // namespace windtunnel
