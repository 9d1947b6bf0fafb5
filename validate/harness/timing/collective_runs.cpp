#include "validate/harness/timing/collective_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "models/base/error.hpp"
#include "validate/harness/collectives/tcp_collectives.hpp"

namespace windtunnel {
namespace {

using Run = std::function<void()>;

// Zeros stay zeros however often they are summed.
std::shared_ptr<DeviceBuffer> zeros(const Device& device, std::size_t size_bytes) {
  auto buffer = std::make_shared<DeviceBuffer>(device, size_bytes);
  buffer->upload(std::vector<std::byte>(size_bytes));
  return buffer;
}

std::size_t elements_of(double bytes) {
  return static_cast<std::size_t>(std::ceil(bytes / sizeof(float)));
}

// Of one rank, in whole values.
std::size_t part_elements(const KernelWork& work, const Collectives& collectives) {
  return elements_of(work.bytes / collectives.ranks());
}

std::span<float> floats(const std::shared_ptr<DeviceBuffer>& buffer) {
  return {reinterpret_cast<float*>(buffer->data()), buffer->size_bytes() / sizeof(float)};
}

std::span<std::byte> bytes(const std::shared_ptr<DeviceBuffer>& buffer) {
  return {buffer->data(), buffer->size_bytes()};
}

Run prepare_send(const KernelWork& work, const Device& device, Collectives& collectives) {
  const auto size_bytes = static_cast<std::size_t>(work.bytes);
  const auto out = zeros(device, size_bytes);
  const auto in = zeros(device, size_bytes);
  const int next = (collectives.rank() + 1) % collectives.ranks();
  const int previous = (collectives.rank() + collectives.ranks() - 1) % collectives.ranks();
  return [=, &collectives] {
    collectives.exchange(next, out->data(), size_bytes, previous, in->data(), size_bytes);
  };
}

using AllReduce = void (*)(Peers& group, std::span<float> values);

template <AllReduce kAllReduce>
Run prepare_all_reduce(const KernelWork& work, const Device& device, TcpCollectives& tcp) {
  const auto values = zeros(device, elements_of(work.bytes) * sizeof(float));
  return [=, &tcp] { kAllReduce(tcp.group(), floats(values)); };
}

Run prepare_reduce_scatter(const KernelWork& work, const Device& device, TcpCollectives& tcp) {
  const std::size_t part = part_elements(work, tcp) * sizeof(float);
  const auto values = zeros(device, part * static_cast<std::size_t>(tcp.ranks()));
  const auto own = zeros(device, part);
  return [=, &tcp] { reduce_scatter_ring(tcp.group(), floats(values), floats(own)); };
}

// In place, as the last step of a bucket's all-reduce: the own part stands where it belongs.
Run prepare_all_gather(const KernelWork& work, const Device& device, TcpCollectives& tcp) {
  const std::size_t part = part_elements(work, tcp) * sizeof(float);
  const auto all = zeros(device, part * static_cast<std::size_t>(tcp.ranks()));
  return [=, &tcp] { all_gather_ring(tcp.group(), bytes(all), sizeof(float)); };
}

Run prepare_all_to_all(const KernelWork& work, const Device& device, TcpCollectives& tcp) {
  const std::size_t part = part_elements(work, tcp) * sizeof(float);
  const auto out = zeros(device, part * static_cast<std::size_t>(tcp.ranks()));
  const auto in = zeros(device, out->size_bytes());
  return [=, &tcp] { all_to_all_pairwise(tcp.group(), bytes(out), bytes(in)); };
}

// ---- By the library's own choice.

Run prepare_any_all_reduce(const KernelWork& work, const Device& device, Collectives& any) {
  const auto values = zeros(device, elements_of(work.bytes) * sizeof(float));
  return [=, &any] { any.all_reduce(floats(values).data(), floats(values).size()); };
}

Run prepare_any_reduce_scatter(const KernelWork& work, const Device& device, Collectives& any) {
  const std::size_t part = part_elements(work, any);
  const auto values = zeros(device, part * sizeof(float) * static_cast<std::size_t>(any.ranks()));
  const auto own = zeros(device, part * sizeof(float));
  return [=, &any] { any.reduce_scatter(floats(values).data(), floats(own).data(), part); };
}

Run prepare_any_all_gather(const KernelWork& work, const Device& device, Collectives& any) {
  const std::size_t part = part_elements(work, any) * sizeof(float);
  const auto all = zeros(device, part * static_cast<std::size_t>(any.ranks()));
  std::byte* const own = all->data() + part * static_cast<std::size_t>(any.rank());
  return [=, &any] { any.all_gather(own, all->data(), part); };
}

Run prepare_any_all_to_all(const KernelWork& work, const Device& device, Collectives& any) {
  const std::size_t part = part_elements(work, any) * sizeof(float);
  const auto out = zeros(device, part * static_cast<std::size_t>(any.ranks()));
  const auto in = zeros(device, out->size_bytes());
  return [=, &any] { any.all_to_all(out->data(), in->data(), part); };
}

Run prepare_any_broadcast(const KernelWork& work, const Device& device, Collectives& any) {
  const auto values = zeros(device, static_cast<std::size_t>(work.bytes));
  return [=, &any] { any.broadcast(values->data(), values->size_bytes(), 0); };
}

struct AnyOperation {
  std::string_view name;
  Run (*prepare)(const KernelWork& work, const Device& device, Collectives& any);
};

constexpr std::array<AnyOperation, 5> kAnyOperations = {{
    {"all-reduce", prepare_any_all_reduce},
    {"reduce-scatter", prepare_any_reduce_scatter},
    {"all-gather", prepare_any_all_gather},
    {"all-to-all", prepare_any_all_to_all},
    {"broadcast", prepare_any_broadcast},
}};

const AnyOperation* find_any_operation(std::string_view name) {
  const auto* const found = std::ranges::find(kAnyOperations, name, &AnyOperation::name);
  return found == kAnyOperations.end() ? nullptr : found;
}

struct Algorithm {
  std::string_view name;
  Run (*prepare)(const KernelWork& work, const Device& device, TcpCollectives& tcp);
};

constexpr std::array<Algorithm, 5> kAlgorithms = {{
    {"all-reduce-ring", prepare_all_reduce<all_reduce_ring>},
    {"all-reduce-tree", prepare_all_reduce<all_reduce_tree>},
    {"reduce-scatter-ring", prepare_reduce_scatter},
    {"all-gather-ring", prepare_all_gather},
    {"all-to-all-pairwise", prepare_all_to_all},
}};

const Algorithm* find_algorithm(std::string_view name) {
  const auto* const found = std::ranges::find(kAlgorithms, name, &Algorithm::name);
  return found == kAlgorithms.end() ? nullptr : found;
}

}  // namespace

std::string why_no_collective(const KernelWork& work, const Collectives* collectives) {
  if (collectives == nullptr || collectives->ranks() < 2) {
    return fmt::format("{} needs other ranks", work.kernel);
  }
  if (work.kernel == "send") return "";
  // Of TCP each algorithm is a kind of its own.
  const bool by_name = dynamic_cast<const TcpCollectives*>(collectives) != nullptr;
  const bool known =
      by_name ? find_algorithm(work.kernel) != nullptr : find_any_operation(work.kernel) != nullptr;
  if (!known) {
    return fmt::format("no form of {} between these ranks", work.kernel);
  }
  if (work.ranks != collectives->ranks()) {
    return fmt::format("{} of {} ranks, where {} run", work.kernel, work.ranks,
                       collectives->ranks());
  }
  return "";
}

Run prepare_collective(const KernelWork& work, const Device& device, Collectives& collectives) {
  const std::string reason = why_no_collective(work, &collectives);
  CHECK(reason.empty(), "{}", reason);
  if (work.kernel == "send") return prepare_send(work, device, collectives);
  const AnyOperation* const operation = find_any_operation(work.kernel);
  if (operation != nullptr) return operation->prepare(work, device, collectives);
  return find_algorithm(work.kernel)
      ->prepare(work, device, dynamic_cast<TcpCollectives&>(collectives));
}

}  // namespace windtunnel
