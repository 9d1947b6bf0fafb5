#include "validate/harness/execute/device_collectives.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "validate/harness/collectives/nccl_collectives.hpp"
#include "validate/harness/ranks/group_devices.hpp"

namespace windtunnel {
namespace {

const Device& nccl_device() {
  return device(DeviceKind::cuda);
}

float* floats_of(const DeviceBuffer& buffer) {
  return reinterpret_cast<float*>(buffer.data());
}

void make_room(std::optional<DeviceBuffer>& buffer, std::size_t size_bytes) {
  if (!buffer || buffer->size_bytes() < size_bytes) buffer.emplace(nccl_device(), size_bytes);
}

}  // namespace

std::optional<CollectiveForm> device_form(const Task& task) {
  if (task.exchange >= 0 || task.bytes <= 0) return std::nullopt;
  switch (task.collective) {
    case CollectiveKind::all_reduce:
      return CollectiveForm::all_reduce;
    case CollectiveKind::reduce_scatter:
      return CollectiveForm::reduce_scatter;
    case CollectiveKind::all_gather:
      return CollectiveForm::all_gather;
    case CollectiveKind::all_to_all:
      return CollectiveForm::all_to_all;
    default:
      return std::nullopt;
  }
}

void check_device_collectives(const Plan& plan) {
  using Calls = std::vector<std::pair<std::int32_t, std::int32_t>>;  // groups and sequences
  std::optional<Calls> first_calls;
  for (const RankClass& rank_class : plan.classes) {
    std::set<int> streams;
    Calls calls;
    for (const Task& task : rank_class.tasks) {
      if (task.kind != TaskKind::collective || !device_form(task)) continue;
      const std::vector<std::int32_t>& groups = rank_class.groups[task.group_slot];
      const auto of_all = std::ranges::find_if(groups, [&](std::int32_t group) {
        return std::ssize(plan.groups[group].members) == plan.ranks;
      });
      if (of_all == groups.end()) continue;
      streams.insert(task.stream);
      calls.emplace_back(*of_all, task.sequence);
    }
    const bool one_order = streams.size() <= 1 && std::ranges::all_of(streams, [&](int stream) {
                             return rank_class.streams[stream].order == StreamOrder::in_order;
                           });
    if (!first_calls) first_calls = calls;
    if (one_order && calls == *first_calls) continue;
    throw Error(
        "--nccl: collectives of all ranks are on several streams, ordered by priority, or not in "
        "the same order on all ranks, so ranks could call them in different orders; leave --nccl "
        "out");
  }
}

DeviceCollectives::DeviceCollectives(int rank, const RankSockets& sockets)
    : group_(joined_group(rank, sockets)) {
  collectives_ = nccl_collectives(group_, take_devices(group_, nccl_device()));
}

DeviceCollectives::~DeviceCollectives() = default;

bool DeviceCollectives::run(const CollectiveNumbers& numbers) {
  const std::size_t size_bytes = numbers.elements() * sizeof(float);
  make_room(values_, size_bytes);
  make_room(result_, size_bytes);
  float* const values = floats_of(*values_);
  float* const result = floats_of(*result_);
  const auto* const bytes = reinterpret_cast<const std::byte*>(values);
  auto* const result_bytes = reinterpret_cast<std::byte*>(result);
  const std::size_t part_bytes = numbers.part * sizeof(float);
  numbers.before([&](std::size_t at) {
    const float value = numbers.given(numbers.own, at);
    nccl_device().copy(reinterpret_cast<std::byte*>(values + at),
                       reinterpret_cast<const std::byte*>(&value), sizeof value);
  });
  switch (numbers.form) {
    case CollectiveForm::all_reduce:
      collectives_->all_reduce(values, numbers.elements());
      break;
    case CollectiveForm::reduce_scatter:
      collectives_->reduce_scatter(values, result + numbers.own * numbers.part, numbers.part);
      break;
    case CollectiveForm::all_gather:
      collectives_->all_gather(bytes + numbers.own * part_bytes, result_bytes, part_bytes);
      break;
    default:
      collectives_->all_to_all(bytes, result_bytes, part_bytes);
  }
  nccl_device().synchronize();
  const float* const from = numbers.form == CollectiveForm::all_reduce ? values : result;
  bool right = true;
  numbers.after([&](std::size_t at) {
    float value = 0;
    nccl_device().copy(reinterpret_cast<std::byte*>(&value),
                       reinterpret_cast<const std::byte*>(from + at), sizeof value);
    right = right && value == numbers.expected(at);
  });
  return right;
}

}  // namespace windtunnel
