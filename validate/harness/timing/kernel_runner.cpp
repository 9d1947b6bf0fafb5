#include "validate/harness/timing/kernel_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "models/base/error.hpp"
#include "validate/harness/collectives/tcp_collectives.hpp"
#include "validate/harness/timing/kernel_runs.hpp"

namespace windtunnel {
namespace {

using Run = std::function<void()>;

bool is_collective(const KernelWork& work) {
  return kernel_kind(work.kernel).family == KernelFamily::collective;
}

std::string why_not_runnable(const KernelWork& work, const Device& device,
                             const Collectives* collectives) {
  if (is_collective(work)) return why_no_collective(work, collectives);
  if (find_kernel(work, device) != nullptr) return "";
  return fmt::format("{} is not available for {}", work.kernel, device.name);
}

Run prepare_step(const std::vector<KernelWork>& works, const Device& device,
                 Collectives* collectives) {
  std::vector<Run> runs;
  for (const KernelWork& work : works) {
    runs.push_back(is_collective(work) ? prepare_collective(work, device, *collectives)
                                       : find_kernel(work, device)(work, device));
  }
  if (runs.size() == 1) return runs[0];
  return [=, &device] { device.run_beside(runs); };
}

// Bytes used between two runs on the same buffers: twice the last cache of a GPU; on a host more
// than a rank's share of it.
constexpr double kHostBetween_bytes = 128e6;

double bytes_between(const Device& device) {
  if (device.kind == DeviceKind::cpu) return kHostBetween_bytes;
  return 2 * static_cast<double>(device.describe().cache_bytes);
}

Run prepare_steps(const KernelSteps& steps, const Device& device, Collectives* collectives) {
  std::vector<Run> runs;
  for (const std::vector<KernelWork>& step : steps) {
    runs.push_back(prepare_step(step, device, collectives));
  }
  if (runs.size() == 1) return runs[0];
  return [runs] {
    for (const Run& run : runs) run();
  };
}

// Buffers of sums hold zeros, which stay zero however often they are summed.
std::shared_ptr<DeviceBuffer> zeros(const Device& device, std::size_t size_bytes) {
  auto buffer = std::make_shared<DeviceBuffer>(device, size_bytes);
  buffer->upload(std::vector<std::byte>(size_bytes));
  return buffer;
}

std::size_t elements_of(double bytes) {
  return static_cast<std::size_t>(std::ceil(bytes / sizeof(float)));
}

// Rounds to a whole number of values per rank.
std::size_t part_elements(const KernelWork& work, const Collectives& collectives) {
  return elements_of(work.bytes / collectives.ranks());
}

std::span<float> floats(const std::shared_ptr<DeviceBuffer>& buffer) {
  return {reinterpret_cast<float*>(buffer->data()), buffer->size_bytes() / sizeof(float)};
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

Run prepare_all_reduce(const KernelWork& work, const Device& device, Collectives& collectives) {
  const auto values = zeros(device, elements_of(work.bytes) * sizeof(float));
  return
      [=, &collectives] { collectives.all_reduce(floats(values).data(), floats(values).size()); };
}

Run prepare_all_reduce_tree(const KernelWork& work, const Device& device,
                            Collectives& collectives) {
  const auto values = zeros(device, elements_of(work.bytes) * sizeof(float));
  auto& tcp = dynamic_cast<TcpCollectives&>(collectives);
  return [=, &tcp] { all_reduce_tree(tcp.group(), floats(values)); };
}

Run prepare_reduce_scatter(const KernelWork& work, const Device& device, Collectives& collectives) {
  const std::size_t part = part_elements(work, collectives);
  const auto values =
      zeros(device, part * sizeof(float) * static_cast<std::size_t>(collectives.ranks()));
  const auto own = zeros(device, part * sizeof(float));
  return [=, &collectives] {
    collectives.reduce_scatter(floats(values).data(), floats(own).data(), part);
  };
}

// It works in place, like the last step of a bucket's all-reduce: the rank's part is already in
// position.
Run prepare_all_gather(const KernelWork& work, const Device& device, Collectives& collectives) {
  const std::size_t part = part_elements(work, collectives) * sizeof(float);
  const auto all = zeros(device, part * static_cast<std::size_t>(collectives.ranks()));
  std::byte* const own = all->data() + part * static_cast<std::size_t>(collectives.rank());
  return [=, &collectives] { collectives.all_gather(own, all->data(), part); };
}

Run prepare_all_to_all(const KernelWork& work, const Device& device, Collectives& collectives) {
  const std::size_t part = part_elements(work, collectives) * sizeof(float);
  const auto out = zeros(device, part * static_cast<std::size_t>(collectives.ranks()));
  const auto in = zeros(device, out->size_bytes());
  return [=, &collectives] { collectives.all_to_all(out->data(), in->data(), part); };
}

Run prepare_broadcast(const KernelWork& work, const Device& device, Collectives& collectives) {
  const auto values = zeros(device, static_cast<std::size_t>(work.bytes));
  return [=, &collectives] { collectives.broadcast(values->data(), values->size_bytes(), 0); };
}

struct Operation {
  // The kind of collective, if a library chooses the algorithm; empty: it is timed only over TCP.
  std::string_view chosen;
  std::string_view algorithm;  // in TcpCollectives; empty: not timed over TCP
  Run (*prepare)(const KernelWork& work, const Device& device, Collectives& collectives);
};

constexpr std::array<Operation, 6> kOperations = {{
    {"all-reduce", "all-reduce-ring", prepare_all_reduce},
    {"", "all-reduce-tree", prepare_all_reduce_tree},
    {"reduce-scatter", "reduce-scatter-ring", prepare_reduce_scatter},
    {"all-gather", "all-gather-ring", prepare_all_gather},
    {"all-to-all", "all-to-all-pairwise", prepare_all_to_all},
    {"broadcast", "", prepare_broadcast},
}};

const Operation* find_operation(std::string_view name, const Collectives& collectives) {
  const bool tcp = dynamic_cast<const TcpCollectives*>(&collectives) != nullptr;
  const auto* const found =
      std::ranges::find(kOperations, name, tcp ? &Operation::algorithm : &Operation::chosen);
  return found == kOperations.end() ? nullptr : found;
}

}  // namespace

std::string why_not_runnable(const KernelSteps& steps, const Device& device,
                             const Collectives* collectives) {
  for (const std::vector<KernelWork>& step : steps) {
    for (const KernelWork& work : step) {
      std::string reason = why_not_runnable(work, device, collectives);
      if (!reason.empty()) return reason;
    }
    if (std::ranges::count_if(step, is_collective) > 1) {
      return "collectives cannot run at the same time, because their order would be undefined";
    }
  }
  return "";
}

double memory_bytes(const KernelSteps& steps) {
  double bytes = 0;
  for (const std::vector<KernelWork>& step : steps) {
    // Sparse kernels move few bytes of their buffers; a collective has an additional buffer for
    // incoming data.
    for (const KernelWork& work : step) {
      bytes += kernel_kind(work.kernel).bytes(work) + 2 * sizeof(float) * work.elements +
               (is_collective(work) ? work.bytes : 0);
    }
  }
  return bytes;
}

TimedWork timed_work(const KernelSteps& steps, SampleRole role, CacheState cache,
                     const Device& device, Collectives* collectives) {
  return {steps, role, cache, [=, &device]() -> Run {
            if (cache == CacheState::warm) return prepare_steps(steps, device, collectives);
            // Limits the copies of small works, whose time does not depend on memory, to as many as
            // fit into the first-level cache.
            constexpr double kMostCopies = 2000;
            const double times =
                std::min(kMostCopies, 1 + bytes_between(device) / memory_bytes(steps));
            std::vector<Run> copies;
            while (static_cast<double>(copies.size()) < times) {
              copies.push_back(prepare_steps(steps, device, collectives));
            }
            return [copies, turn = size_t{0}]() mutable { copies[turn++ % copies.size()](); };
          }};
}

std::string why_no_collective(const KernelWork& work, const Collectives* collectives) {
  if (collectives == nullptr || collectives->ranks() < 2) {
    return fmt::format("{} needs other ranks", work.kernel);
  }
  if (work.kernel == "send") return "";
  if (find_operation(work.kernel, *collectives) == nullptr) {
    return fmt::format("{} is not available between these ranks", work.kernel);
  }
  if (work.ranks != collectives->ranks()) {
    return fmt::format("{} is for {} ranks, but {} are running", work.kernel, work.ranks,
                       collectives->ranks());
  }
  return "";
}

Run prepare_collective(const KernelWork& work, const Device& device, Collectives& collectives) {
  const std::string reason = why_no_collective(work, &collectives);
  CHECK(reason.empty(), "{}", reason);
  if (work.kernel == "send") return prepare_send(work, device, collectives);
  return find_operation(work.kernel, collectives)->prepare(work, device, collectives);
}

}  // namespace windtunnel
