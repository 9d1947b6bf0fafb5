#include "kernels/code/galois_code.hpp"

#include <isa-l/erasure_code.h>

#include <algorithm>
#include <vector>

#include "kernels/device/cuda_entries.hpp"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kTableBytes = 32;  // per coefficient (isa-l/erasure_code.h)
// ISA-L takes its length as an int.
constexpr std::size_t kPieceBytes = std::size_t{1} << 30;

// The C interface takes non-const pointers even for data that it only reads.
std::vector<unsigned char*> at(const std::byte* const* blocks, int count, std::size_t start) {
  std::vector<unsigned char*> pointers(static_cast<std::size_t>(count));
  std::transform(blocks, blocks + count, pointers.begin(), [&](const std::byte* block) {
    return reinterpret_cast<unsigned char*>(const_cast<std::byte*>(block + start));
  });
  return pointers;
}

void combine(const std::uint8_t* coefficients, int rows, const std::byte* const* sources, int count,
             std::byte* const* targets, std::size_t size_bytes, bool add) {
  CHECK(rows >= 1 && count >= 1, "{} sums of {} blocks", rows, count);
  const std::size_t entries = static_cast<std::size_t>(rows) * static_cast<std::size_t>(count);
  std::vector<unsigned char> matrix(coefficients, coefficients + entries);
  std::vector<unsigned char> tables(kTableBytes * entries);
  ec_init_tables(count, rows, matrix.data(), tables.data());
  for (std::size_t start = 0; start < size_bytes; start += kPieceBytes) {
    const int length = static_cast<int>(std::min(kPieceBytes, size_bytes - start));
    std::vector<unsigned char*> from = at(sources, count, start);
    std::vector<unsigned char*> to = at(targets, rows, start);
    if (!add) {
      ec_encode_data(length, count, rows, tables.data(), from.data(), to.data());
      continue;
    }
    for (int j = 0; j < count; ++j) {
      ec_encode_data_update(length, count, rows, j, tables.data(),
                            from[static_cast<std::size_t>(j)], to.data());
    }
  }
}

constexpr GaloisCode kCpu = {combine};

}  // namespace

const GaloisCode& galois_code(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_galois_code() : kCpu;
}

}  // namespace windtunnel
