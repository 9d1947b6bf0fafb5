// NCCL and TCP run the same calls on the same numbers. NCCL's ranks may share one GPU.
#include <gtest/gtest.h>

#include <vector>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "tests/validate/harness/device_ranks.hpp"

namespace windtunnel {
namespace {

constexpr size_t kBytes = 12 * 4099;  // of a part; divisible into floats in 3 and 4 parts

// Holds a rank's buffer on its device and a copy on the host.
struct Twin {
  explicit Twin(size_t bytes) : host(bytes), device(windtunnel::device(DeviceKind::cuda), bytes) {}

  // Numbers are whole, so that sums are exact in any order.
  void fill(int rank) {
    RandomStream random(1, RandomPurpose::test, static_cast<std::uint64_t>(rank));
    auto* const values = reinterpret_cast<float*>(host.data());
    for (size_t i = 0; i < host.size() / sizeof(float); ++i) {
      values[i] = static_cast<float>(random.below(1000));
    }
    device.upload(host);
  }
  void expect_same(const char* what) const {
    if (device.download() != host) throw Error(what);
  }

  std::vector<std::byte> host;
  DeviceBuffer device;
};

float* floats(std::vector<std::byte>& bytes) {
  return reinterpret_cast<float*>(bytes.data());
}
float* floats(const DeviceBuffer& buffer) {
  return reinterpret_cast<float*>(buffer.data());
}

void expect_equal(TcpGroup& group, Collectives& nccl) {
  const size_t p = static_cast<size_t>(group.ranks());
  const int rank = group.rank();
  TcpCollectives tcp(group);
  Twin out(p * kBytes);
  Twin in(p * kBytes);
  const auto fill = [&] {
    out.fill(rank);
    in.fill(rank + group.ranks());
  };
  const auto compare = [&](const char* what) {
    out.expect_same(what);
    in.expect_same(what);
  };
  const size_t elements = kBytes / sizeof(float);
  fill();
  nccl.all_reduce(floats(out.device), p * elements);
  tcp.all_reduce(floats(out.host), p * elements);
  compare("all_reduce");
  nccl.reduce_scatter(floats(out.device), floats(in.device), elements);
  tcp.reduce_scatter(floats(out.host), floats(in.host), elements);
  compare("reduce_scatter");
  nccl.all_gather(in.device.data(), out.device.data(), kBytes);
  tcp.all_gather(in.host.data(), out.host.data(), kBytes);
  compare("all_gather");
  fill();
  nccl.all_to_all(out.device.data(), in.device.data(), kBytes);
  tcp.all_to_all(out.host.data(), in.host.data(), kBytes);
  compare("all_to_all");
  for (int root = 0; root < group.ranks(); ++root) {
    fill();
    nccl.broadcast(out.device.data(), kBytes, root);
    tcp.broadcast(out.host.data(), kBytes, root);
    compare("broadcast");
  }
  const int next = (rank + 1) % group.ranks();
  const int previous = (rank + group.ranks() - 1) % group.ranks();
  fill();
  nccl.exchange(next, out.device.data(), kBytes, previous, in.device.data(), kBytes);
  tcp.exchange(next, out.host.data(), kBytes, previous, in.host.data(), kBytes);
  compare("exchange");
  // Only the first rank sends, to the second one.
  if (rank == 0) nccl.exchange(1, out.device.data(), kBytes, 1, nullptr, 0);
  if (rank == 1) nccl.exchange(0, nullptr, 0, 0, in.device.data(), kBytes);
  if (rank == 0) tcp.exchange(1, out.host.data(), kBytes, 1, nullptr, 0);
  if (rank == 1) tcp.exchange(0, nullptr, 0, 0, in.host.data(), kBytes);
  compare("one way");
}

constexpr int kRanks = 4;

using NcclGpu = DeviceRanksTest;

TEST_F(NcclGpu, EqualsTcp) {
  run_device_ranks(kRanks, [](TcpGroup& group) {
    const DeviceShare share = take_devices(group, device(DeviceKind::cuda));
    const auto nccl = nccl_collectives(group, share);
    expect_equal(group, *nccl);
  });
}

TEST_F(NcclGpu, ThreeRanksOnOneDevice) {
  run_device_ranks(3, [](TcpGroup& group) {
    const Device& cuda = device(DeviceKind::cuda);
    cuda.select(0);
    const auto nccl = nccl_collectives(group, {0, 3, 1});
    expect_equal(group, *nccl);
  });
}

// A replay does what the captured calls do: after the captured run (Device::time_s) each replay
// adds once more.
TEST_F(NcclGpu, IsCapturedInGraphs) {
  run_device_ranks(kRanks, [](TcpGroup& group) {
    const Device& cuda = device(DeviceKind::cuda);
    const auto nccl = nccl_collectives(group, take_devices(group, cuda));
    const std::vector<float> ones(1000, 1);
    DeviceBuffer buffer(cuda, ones.size() * sizeof(float));
    cuda.copy(buffer.data(), reinterpret_cast<const std::byte*>(ones.data()), buffer.size_bytes());
    const auto work = [&] { nccl->all_reduce(floats(buffer), ones.size()); };
    work();
    cuda.synchronize();
    if (cuda.time_s(work, 3) <= 0) throw Error("no time");
    std::vector<std::byte> got = buffer.download();
    float expected = 1;
    for (int i = 0; i < 5; ++i) expected *= static_cast<float>(group.ranks());
    if (floats(got)[999] != expected) throw Error(fmt::format("{}", floats(got)[999]));
  });
}

}  // namespace
}  // namespace windtunnel
