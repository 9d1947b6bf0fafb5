#include "scenarios/language/identity.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>
#include <type_traits>

#include "models/volunteers/volunteers.hpp"
#include "models/workload/layer_table.hpp"
#include "scenarios/language/library/kernel_laws.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "traces/torch/torch_schedule.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kDigits = 16;

std::string key_digits(std::uint64_t number) {
  return fmt::format("{:0{}x}", number, kDigits);
}

class Digest {
 public:
  template <class T>
  void add(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {
      const std::string_view text = value;
      add(text.size());
      bytes_.append(text);
    } else {
      add(value.size());
      for (const auto& item : value) add(item);
    }
  }
  template <class... Ts>
  void add_all(const Ts&... values) {
    (add(values), ...);
  }
  std::string text() const { return key_digits(XXH3_64bits(bytes_.data(), bytes_.size())); }

 private:
  std::string bytes_;
};

// Adds the content of files that the values name, because a file may change under the same name.
void add_files_of_iterations(const Job& job, Digest& digest) {
  if (job.network) {
    for (const NetworkLayer& layer : job.network->layers) {
      digest.add_all(layer.name, layer.kind, layer.parameters, layer.m, layer.n, layer.k,
                     layer.input, layer.output, layer.kept, layer.groups, layer.winograd);
    }
  }
  if (job.communication.compressors.dp.errors != nullptr) {
    for (const LayerErrors& layer : *job.communication.compressors.dp.errors) {
      digest.add_all(layer.rows, layer.columns);
      for (const auto& [number, error] : layer.by_number) digest.add_all(number, error);
    }
  }
  if (!job.calibration.kernel_laws.laws.empty()) {
    digest.add(kernel_laws_text(job.calibration.kernel_laws));
  }
  for (const EdgeSpec& edge : job.cluster.fabric.edges) {
    digest.add_all(edge.a, edge.b, edge.bandwidth_Bps);
  }
  if (!job.cluster.places.empty()) digest.add(job.cluster.places);
  if (!job.cluster.ranks.in_order()) digest.add(job.cluster.ranks.gpus());
  if (job.schedule.imported != nullptr) {
    digest.add(torch_schedule_text(*job.schedule.imported, true));
  }
  // The steps may come from a file of learning rates, which is not part of the values.
  for (const SyncLevel& level : job.sync) digest.add(level.every_steps);
}

// Adds the origin of each number whose origin appears in results.
void add_origins_of_iterations(const Job& job, Digest& digest) {
  const auto add = [&](const auto& fields, const auto& spec) {
    for (const auto& field : fields) digest.add((spec.*field.member).origin);
  };
  const auto add_bound = [&](const std::vector<BoundRow>& rows, const auto& spec) {
    for (const BoundRow& row : rows) {
      if (const Parameter* number = parameter_of(*row.field, spec)) digest.add(number->origin);
    }
  };
  const auto add_node = [&](const NodeSpec& node) {
    add_bound(bound_rows<NodeSpec>("cluster.node"), node);
    add_bound(bound_rows<GpuSpec>("cluster.node.gpu"), node.gpu);
  };
  const Cluster& cluster = job.cluster;
  add_node(cluster.node);
  for (const Pool& pool : cluster.pools) add_node(pool.node);
  add_bound(fabric_members(), cluster.fabric);
  digest.add_all(cluster.fabric.measured.origin, cluster.storage.write_Bps.origin,
                 cluster.storage.read_Bps.origin, cluster.storage.latency_s.origin);
  const auto add_calibration = [&](const Calibration& calibration) {
    add(calibration_fields(), calibration);
    add(interconnect_law_fields(), calibration.network);
    if (calibration.node_network) add(interconnect_law_fields(), *calibration.node_network);
    for (const KernelShare& kernel : calibration.kernels) digest.add(kernel.share.origin);
    for (const KernelStarts& kernel : calibration.kernel_starts) digest.add(kernel.starts.origin);
  };
  add_calibration(job.calibration);
  for (const Calibration& calibration : job.pool_calibrations) add_calibration(calibration);
}

}  // namespace

std::string identity_of(const std::vector<ResolvedValue>& values, const Job& job, Scope scope,
                        const Volunteers* volunteers) {
  Digest digest;
  for (const ResolvedValue& value : values) {
    if (value.scope > scope) continue;
    digest.add(value.key);
    if (value.number) {
      digest.add_all(value.dimension, *value.number);
    } else {
      digest.add(value.value);
    }
  }
  add_files_of_iterations(job, digest);
  add_origins_of_iterations(job, digest);
  if (scope == Scope::iteration) return digest.text();
  digest.add_all(job.failure_origin, job.recovery_origin);
  for (const FailureClass& failure : job.failures) {
    digest.add_all(failure.trace_s, failure.trace_nodes, failure.gaps_s,
                   failure.repair.empirical_s);
    for (const TakenNodes& taken : failure.taken) digest.add_all(taken.from_s, taken.until_s);
  }
  if (volunteers != nullptr) {
    for (const Attendance& row : volunteers->trace) digest.add_all(row.at_s, row.peers);
  }
  return digest.text();
}

std::optional<std::uint64_t> key_number(std::string_view text) {
  if (text.empty()) return 0;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number, 16);
  // Only the exact spelling counts, so that no two texts mean the same case.
  if (error != std::errc() || end != text.end() || key_digits(number) != text) return std::nullopt;
  return number;
}

std::string key_text(std::uint64_t number) {
  return number == 0 ? "" : key_digits(number);
}

}  // namespace windtunnel
