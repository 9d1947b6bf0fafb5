#include "tests/validate/harness/drill/coded_group.hpp"

#include <algorithm>

#include "kernels/code/galois_code.hpp"
#include "kernels/code/xor_code.hpp"
#include "models/reliability/galois.hpp"

namespace windtunnel {
namespace {

// Lists members by their place in a stripe: first those with data, then those with parity.
struct Stripe {
  std::vector<int> members;
  std::vector<int> block;  // [place] index of the member's own block
};

struct Stripes {
  int members;
  int parity;
  std::size_t block_bytes;

  Stripes(const ErasureCode& code, std::size_t count, std::size_t size_bytes)
      : members(static_cast<int>(count)), parity(code.parity) {
    const auto data = static_cast<std::size_t>(members - parity);
    block_bytes = (size_bytes + data - 1) / data;
  }
  int data() const { return members - parity; }
  bool has_parity(int stripe, int member) const {
    return (member - stripe + members) % members < parity;
  }
  Stripe at(int stripe) const {
    Stripe result;
    for (int member = 0; member < members; ++member) {
      if (has_parity(stripe, member)) continue;
      result.members.push_back(member);
      int block = 0;
      for (int before = 0; before < stripe; ++before) block += has_parity(before, member) ? 0 : 1;
      result.block.push_back(block);
    }
    for (int p = 0; p < parity; ++p) {
      const int member = (stripe + p) % members;
      result.members.push_back(member);
      int block = 0;
      for (int before = 0; before < stripe; ++before) block += has_parity(before, member) ? 1 : 0;
      result.block.push_back(block);
    }
    return result;
  }
};

GaloisMatrix matrix_of(const ErasureCode& code, int data) {
  if (code.name == CodeName::reed_solomon) return cauchy_parity(data, code.parity);
  GaloisMatrix ones = zero_matrix(1, data);
  std::ranges::fill(ones.values, std::uint8_t{1});
  return ones;
}

// States are padded to whole blocks, so that all blocks have one size.
Bytes padded(Bytes state, const Stripes& stripes) {
  state.resize(stripes.block_bytes * static_cast<std::size_t>(stripes.data()));
  return state;
}

std::byte* block_at(Bytes& bytes, int block, const Stripes& stripes) {
  return bytes.data() + static_cast<std::size_t>(block) * stripes.block_bytes;
}

}  // namespace

std::vector<Bytes> parity_of(const ErasureCode& code, const std::vector<Bytes>& states) {
  const Stripes stripes(code, states.size(), states.front().size());
  const GaloisMatrix matrix = matrix_of(code, stripes.data());
  std::vector<Bytes> blocks;
  for (const Bytes& state : states) blocks.push_back(padded(state, stripes));
  std::vector<Bytes> parities(
      states.size(), Bytes(stripes.block_bytes * static_cast<std::size_t>(stripes.parity)));
  for (int s = 0; s < stripes.members; ++s) {
    const Stripe stripe = stripes.at(s);
    std::vector<const std::byte*> sources;
    std::vector<std::byte*> targets;
    for (int place = 0; place < stripes.members; ++place) {
      const auto member = static_cast<std::size_t>(stripe.members[place]);
      if (place < stripes.data()) {
        sources.push_back(block_at(blocks[member], stripe.block[place], stripes));
      } else {
        targets.push_back(block_at(parities[member], stripe.block[place], stripes));
      }
    }
    if (code.name == CodeName::reed_solomon) {
      galois_code(DeviceKind::cpu)
          .combine(matrix.values.data(), matrix.rows, sources.data(), matrix.columns,
                   targets.data(), stripes.block_bytes, false);
    } else {
      xor_code(DeviceKind::cpu)
          .combine(sources.data(), stripes.data(), targets[0], stripes.block_bytes);
    }
  }
  return parities;
}

std::optional<std::vector<Bytes>> rebuilt(const ErasureCode& code,
                                          std::vector<std::optional<Bytes>> states,
                                          const std::vector<std::optional<Bytes>>& parities,
                                          std::size_t size_bytes) {
  const Stripes stripes(code, states.size(), size_bytes);
  const GaloisMatrix matrix = matrix_of(code, stripes.data());
  std::vector<Bytes> all;
  std::vector<Bytes> kept;
  for (std::size_t member = 0; member < states.size(); ++member) {
    all.push_back(padded(states[member].value_or(Bytes()), stripes));
    kept.push_back(parities[member].value_or(Bytes()));
  }
  for (int s = 0; s < stripes.members; ++s) {
    const Stripe stripe = stripes.at(s);
    const auto member_at = [&](int place) {
      return static_cast<std::size_t>(stripe.members[place]);
    };
    std::vector<int> lost;
    for (int place = 0; place < stripes.members; ++place) {
      const auto& held = place < stripes.data() ? states : parities;
      if (!held[member_at(place)]) lost.push_back(place);
    }
    if (std::ssize(lost) > stripes.parity) return {};
    if (lost.empty()) continue;
    const Rebuild rebuild = rebuild_of(matrix, lost);
    const auto block_of = [&](int place) {
      Bytes& bytes = place < stripes.data() ? all[member_at(place)] : kept[member_at(place)];
      return block_at(bytes, stripe.block[place], stripes);
    };
    std::vector<const std::byte*> sources;
    for (const int place : rebuild.sources) sources.push_back(block_of(place));
    for (std::size_t i = 0; i < lost.size(); ++i) {
      if (lost[i] >= stripes.data()) continue;  // lost parity is not needed
      std::byte* const target = block_of(lost[i]);
      const std::size_t row = rebuild.coefficients.index(static_cast<int>(i), 0);
      galois_code(DeviceKind::cpu)
          .combine(&rebuild.coefficients.values[row], 1, sources.data(),
                   rebuild.coefficients.columns, &target, stripes.block_bytes, false);
    }
  }
  for (Bytes& state : all) state.resize(size_bytes);
  return all;
}

}  // namespace windtunnel
