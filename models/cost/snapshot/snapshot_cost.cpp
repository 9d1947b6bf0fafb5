#include "models/cost/snapshot/snapshot_cost.hpp"

#include <algorithm>
#include <array>

#include "models/reliability/snapshot_place.hpp"

namespace windtunnel {
namespace {

// Bytes that a code adds per byte of state on the node.
double parity_share(const ErasureCode& code, double weight_share) {
  switch (code.name) {
    case CodeName::none:
      return 0;
    case CodeName::copies:
      return code.parity;
    case CodeName::xor_parity:
    case CodeName::reed_solomon:
      return double(code.parity) / code.data;
    case CodeName::recompute:
      return weight_share;
  }
  return 0;
}

bool is_mds(const ErasureCode& code) {
  return code.name == CodeName::xor_parity || code.name == CodeName::reed_solomon;
}

// Rates of one core with large blocks. Ceph measured Reed-Solomon of Intel's ISA-L with AVX-512;
// with more parity the time grows in proportion. XOR and copies stream through memory: measured
// with ISA-L 2.30 and memcpy at blocks of 4 MiB.
struct CoreRate {
  int parity = 0;
  double Bps = 0;
};
constexpr std::array kReedSolomon = {CoreRate{2, 10.827e9}, CoreRate{3, 9.360e9},
                                     CoreRate{4, 7.867e9}};
constexpr const char* kReedSolomonSource =
    "ISA-L AVX-512, one core of a Xeon Gold 6336Y: github.com/ceph/ceph/pull/59494";
constexpr const char* kMeasuredSource =
    "ISA-L 2.30 and memcpy, one core of an AMD EPYC with AVX-512, 4 MiB blocks";

Parameter measured(double rate_Bps, double low, double high) {
  return {rate_Bps, low, high, Origin::measured, kMeasuredSource};
}

}  // namespace

SnapshotBytes snapshot_bytes(const SnapshotTier& tier, double state_bytes, double weight_share) {
  SnapshotBytes bytes;
  const PlaceTraits& place = traits_of(tier);
  if (!place.copied) return bytes;
  const ErasureCode& code = tier.code;
  bytes.state = state_bytes * moved_share(tier);
  bytes.parity = bytes.state * parity_share(code, weight_share);
  bytes.moved = bytes.state;
  if (code.on_gpu) bytes.moved += bytes.parity;
  if (!code.on_gpu && is_mds(code)) bytes.coded = bytes.state;
  if (code.in_node && !code.on_gpu && !is_mds(code)) bytes.coded = bytes.parity;
  if (!code.in_node) bytes.wire = code.parity * bytes.state;
  if (place.way) bytes.written = bytes.state + bytes.parity;
  return bytes;
}

double snapshot_host_bytes(const SnapshotTier& tier, double state_bytes, double weight_share) {
  const PlaceTraits& place = traits_of(tier);
  if (!place.copied) return 0;
  const double full = state_bytes * tier.quantised_share;
  const double coded = 1 + parity_share(tier.code, weight_share);
  if (place.way) return full * coded;
  return 2 * full * (1 + tier.changed_share * (tier.full_every - 1)) * coded;
}

double snapshot_disk_bytes(const SnapshotTier& tier, double state_bytes, double weight_share) {
  if (!traits_of(tier).on_own_drives()) return 0;
  // Copies that follow one another share the full snapshot that they build on.
  const int fulls = 1 + (tier.kept - 1 + tier.full_every - 1) / tier.full_every;
  const double held = fulls * (1 + tier.changed_share * (tier.full_every - 1));
  return state_bytes * tier.quantised_share * (held + 1) *
         (1 + parity_share(tier.code, weight_share));
}

double restored_share(const SnapshotTier& tier) {
  return tier.quantised_share * (1 + tier.changed_share * (tier.full_every - 1) / 2);
}

Parameter core_encode_rate(const ErasureCode& code) {
  switch (code.name) {
    case CodeName::none:
    case CodeName::copies:
    case CodeName::recompute:
      return measured(12.2e9, 10e9, 15e9);
    case CodeName::xor_parity:
      return measured(40e9, 12.2e9, 100e9);
    case CodeName::reed_solomon:
      break;
  }
  const int index =
      std::clamp(code.parity, kReedSolomon.front().parity, kReedSolomon.back().parity);
  const CoreRate& row = kReedSolomon[index - kReedSolomon.front().parity];
  const double rate_Bps = row.Bps * row.parity / std::max(code.parity, row.parity);
  return {rate_Bps, 0.8 * rate_Bps, 2.5 * rate_Bps, Origin::published, kReedSolomonSource};
}

double gpu_encode_rate(const ErasureCode& code, const GpuSpec& gpu,
                       const Calibration& calibration) {
  const double bytes_per_byte = double(code.members()) / code.data;
  return gpu.memory_Bps.value * calibration.memory_efficiency.value / bytes_per_byte;
}

}  // namespace windtunnel
