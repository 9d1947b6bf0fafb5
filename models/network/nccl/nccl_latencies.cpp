#include "models/network/nccl/nccl_latencies.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

using enum CollectiveAlgorithm;

constexpr std::array<NcclLatencies, 7> kLatencies = {{
    {tree, {6.8, 14, 8.4}, {.6, 1.25, 4}, {1, 1.9, 4}, {5, 8.5, 14}},
    {ring, {6.6, 14, 8.4}, {.6, 1.9, 3.4}, {1, 2.5, 5.7}, {2.7, 4, 14}},
    {collnet_direct, {}, {0, 0, 3.7}, {0, 0, 3.7}, {0, 0, 31}},
    {collnet_chain, {}, {0, 0, 2.8}, {0, 0, 2.8}, {0, 0, 30}},
    {nvls, {}, {0, 0, 25}, {}, {0, 0, 18}},
    {nvls_tree, {}, {0, 0, 25}, {}, {0, 0, 20.9}},
    {pat, {8, 8, 8}, {0, 0, 4}, {0, 0, 4}, {0, 0, 14}},
}};

}  // namespace

const NcclLatencies* find_nccl_latencies(CollectiveAlgorithm algorithm) {
  const auto* const row = std::ranges::find(kLatencies, algorithm, &NcclLatencies::algorithm);
  return row == kLatencies.end() ? nullptr : row;
}

std::size_t protocol_index(Protocol protocol) {
  CHECK(protocol != Protocol::automatic, "a protocol that is not chosen");
  return static_cast<std::size_t>(protocol) - static_cast<std::size_t>(Protocol::ll);
}

}  // namespace windtunnel
