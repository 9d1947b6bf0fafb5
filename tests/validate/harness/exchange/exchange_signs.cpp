// Each element has one bit: signs go to the rank that counts the votes of a part, which sends the
// majority to all.
#include <algorithm>

#include "kernels/compression/sign_code.hpp"
#include "tests/validate/harness/exchange/exchange_parts.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kVector = 128;  // elements in an aligned word of 16 bytes

// Sums the ranks' magnitudes on every rank. A double is rounded to float as the scale of one
// element, and converted back as its magnitude.
void add_magnitudes(ExchangeParts& parts, double* magnitude) {
  const SignCode& code = sign_code(parts.device->kind);
  auto* const number = parts.array<float>(1);
  const auto* const zero = parts.array<float>(1);
  auto* const positive = parts.array<std::uint32_t>(sign_words(1));
  code.pack(zero, 1, positive);
  parts.device->synchronize();
  parts.kernel("sign-unpack", 1, [=, &code] { code.unpack(positive, 1, magnitude, number); });
  parts.all_reduce(number, 1);
  parts.kernel("sign-magnitude", 1, [=, &code] { code.magnitude(number, zero, 1, magnitude); });
}

}  // namespace

void add_sign_exchange(ExchangeParts& parts) {
  const GradientArray array = lay_out_all(parts);
  const auto ranks = static_cast<std::size_t>(parts.ranks());
  const std::size_t n = array.elements;
  const auto elements = static_cast<double>(n);
  const std::size_t part = ((n + ranks - 1) / ranks + kVector - 1) / kVector * kVector;
  const std::size_t part_bytes = part / 8;
  const SignCode& code = sign_code(parts.device->kind);
  auto* const words = parts.array<std::uint32_t>(sign_words(part * ranks));
  auto* const votes = parts.array<std::uint32_t>(sign_words(part * ranks));
  auto* const majority = parts.array<std::uint32_t>(sign_words(part));
  auto* const sums = parts.array<double>(2);
  if (array.error != nullptr) {
    parts.kernel("sign-magnitude", elements,
                 [=, &code] { code.magnitude(array.gradient, array.error, n, sums); });
    parts.kernel("sign-error", elements,
                 [=, &code] { code.error(array.gradient, n, sums, array.error, words, sums + 1); });
    add_magnitudes(parts, sums);
  } else {
    const double one_each = elements;
    parts.device->copy(reinterpret_cast<std::byte*>(sums),
                       reinterpret_cast<const std::byte*>(&one_each), sizeof(double));
    parts.kernel("sign-pack", elements, [=, &code] { code.pack(array.gradient, n, words); });
  }
  parts.all_to_all(words, votes, part_bytes);
  KernelWork vote;
  vote.kernel = "vote";
  vote.elements = static_cast<double>(part);
  vote.k = parts.ranks();
  parts.kernel(vote, [=, &code] { code.vote(votes, static_cast<int>(ranks), part, majority); });
  parts.all_gather(majority, votes, part_bytes);
  parts.kernel("sign-unpack", elements,
               [=, &code] { code.unpack(votes, n, sums, array.gradient); });
}

}  // namespace windtunnel
