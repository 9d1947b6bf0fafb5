#include <gtest/gtest.h>

#include "traces/profile/profile_events.hpp"

namespace windtunnel {
namespace {

TEST(CommunicationName, OfC10d) {
  const std::pair<const char*, CollectiveKind> known[] = {
      {"allreduce", CollectiveKind::all_reduce},
      {"allreduce_coalesced", CollectiveKind::all_reduce},
      {"_allgather_base", CollectiveKind::all_gather},
      {"all_gather_into_tensor_coalesced", CollectiveKind::all_gather},
      {"_reduce_scatter_base", CollectiveKind::reduce_scatter},
      {"reduce", CollectiveKind::reduce},
      {"broadcast", CollectiveKind::broadcast},
      {"all_to_allv", CollectiveKind::all_to_all},
      {"gather", CollectiveKind::gather},
  };
  for (const auto& [name, kind] : known) {
    ASSERT_TRUE(call_of_c10d(name)) << name;
    EXPECT_EQ(call_of_c10d(name)->collective, kind) << name;
    EXPECT_EQ(call_of_c10d(name)->kind, CallKind::collective) << name;
  }
  EXPECT_EQ(call_of_c10d("send")->kind, CallKind::send);
  EXPECT_EQ(call_of_c10d("recv")->kind, CallKind::receive);
  EXPECT_TRUE(call_of_c10d("barrier")->barrier);
  EXPECT_FALSE(call_of_c10d("wait"));
  EXPECT_FALSE(call_of_c10d("scatter"));  // not simulated
}

TEST(CommunicationName, OfKernels) {
  const char* reduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  EXPECT_EQ(call_of_kernel(reduce)->collective, CollectiveKind::all_reduce);
  EXPECT_EQ(call_of_kernel("ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)")->collective,
            CollectiveKind::all_gather);
  EXPECT_EQ(call_of_kernel("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL")->collective,
            CollectiveKind::reduce_scatter);
  EXPECT_FALSE(call_of_kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"));
  EXPECT_FALSE(call_of_kernel("ncclDevKernel_Generic"));
  EXPECT_FALSE(call_of_kernel("sm90_xmma_gemm"));
}

TEST(CommunicationName, BytesOfElements) {
  EXPECT_EQ(element_bytes_of("BFloat16"), 2);
  EXPECT_EQ(element_bytes_of("Half"), 2);
  EXPECT_EQ(element_bytes_of("Float"), 4);
  EXPECT_EQ(element_bytes_of("Float8_e4m3fn"), 1);
  EXPECT_EQ(element_bytes_of("Double"), 8);
  EXPECT_EQ(element_bytes_of("Long"), 8);
  EXPECT_EQ(element_bytes_of("Byte"), 1);
  EXPECT_EQ(element_bytes_of("Int"), 4);
  EXPECT_EQ(element_bytes_of("QUInt4x2"), 0);
}

}  // namespace
}  // namespace windtunnel
