// Each rank sends codes with scales to the rank that sums a part, which sends the sum to all. A
// message has the codes of a part, followed by its scales.
#include <algorithm>

#include "kernels/compression/quantise.hpp"
#include "kernels/compression/ternary.hpp"
#include "kernels/layer/stream_ops.hpp"
#include "tests/validate/harness/exchange/exchange_parts.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kLine = 256;  // bytes; scales are padded to a multiple

std::size_t rounded_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

struct Messages {
  QuantisedForm form;
  std::size_t elements = 0;  // of the buffer
  std::size_t part = 0;      // elements per rank
  std::size_t codes = 0;     // bytes of codes
  std::size_t scales = 0;    // bytes of scales
  std::size_t size = 0;      // bytes of a message

  Messages(QuantisedForm made_as, std::size_t all_elements, int ranks)
      : form(made_as), elements(all_elements) {
    const auto p = static_cast<std::size_t>(ranks);
    part = rounded_up((elements + p - 1) / p, 4 * quantised_block_elements(form));
    codes = code_bytes(form, part);
    scales = quantised_blocks(form, part) * sizeof(float);
    size = codes + rounded_up(scales, kLine);
  }
  std::size_t elements_of(std::size_t rank) const {
    return std::min(part, elements - std::min(elements, rank * part));
  }
  std::uint8_t* codes_of(std::byte* messages, std::size_t rank) const {
    return reinterpret_cast<std::uint8_t*>(messages + rank * size);
  }
  float* scales_of(std::byte* messages, std::size_t rank) const {
    return reinterpret_cast<float*>(messages + rank * size + codes);
  }
};

class QuantisedExchange {
 public:
  QuantisedExchange(ExchangeParts& parts, QuantisedForm form)
      : parts_(parts),
        array_(lay_out_all(parts)),
        at_(form, array_.elements, parts.ranks()),
        ranks_(static_cast<std::size_t>(parts.ranks())),
        out_(parts.zeros(at_.size * ranks_)),
        in_(parts.zeros(at_.size * ranks_)),
        sum_(parts.zeros(at_.size)) {}

  void add() {
    float* const sent = add_error(parts_, array_);
    for (std::size_t r = 0; r < ranks_; ++r) {
      encode(sent + r * at_.part, at_.elements_of(r), out_, r);
    }
    if (array_.error != nullptr) {
      decode_all(out_);  // the error already includes the gradient
      subtract(array_.gradient, array_.error);
    }
    parts_.all_to_all(out_, in_, at_.size);
    if (at_.form == QuantisedForm::int8) {
      requantise();
    } else {
      add_decoded();
    }
    parts_.all_gather(sum_, in_, at_.size);
    decode_all(in_);
  }

 private:
  const char* name(bool back) const {
    if (at_.form == QuantisedForm::int8) return back ? "dequantise-int8" : "quantise-int8";
    return back ? "dequantise-int4" : "quantise-int4";
  }

  void encode(const float* x, std::size_t elements, std::byte* messages, std::size_t rank) {
    if (elements == 0) return;
    const auto run = quantise(parts_.device->kind).encode;
    parts_.kernel(
        name(false), static_cast<double>(elements),
        [=, form = at_.form, codes = at_.codes_of(messages, rank),
         scales = at_.scales_of(messages, rank)] { run(form, x, elements, codes, scales); });
  }

  void decode(std::byte* messages, std::size_t rank, float* x, std::size_t elements) {
    if (elements == 0) return;
    const auto run = quantise(parts_.device->kind).decode;
    parts_.kernel(
        name(true), static_cast<double>(elements),
        [=, form = at_.form, codes = at_.codes_of(messages, rank),
         scales = at_.scales_of(messages, rank)] { run(form, codes, scales, elements, x); });
  }

  void decode_all(std::byte* messages) {
    for (std::size_t r = 0; r < ranks_; ++r) {
      decode(messages, r, array_.gradient + r * at_.part, at_.elements_of(r));
    }
  }

  void subtract(const float* sent, float* error) {
    const auto run = stream_ops(parts_.device->kind).sgd;
    parts_.kernel("sgd", static_cast<double>(array_.elements),
                  [=, n = array_.elements] { run(1.0F, sent, error, n); });
  }

  // The kernel needs contiguous codes and scales. So whole messages are passed as codes; the bytes
  // of scales in them get scales of zero, so that they sum to zeros.
  void requantise() {
    const std::size_t blocks = quantised_blocks(at_.form, at_.size);
    auto* const scales = parts_.array<float>(blocks * ranks_);
    auto* const sum_scales = parts_.array<float>(blocks);
    for (std::size_t r = 0; r < ranks_; ++r) {
      parts_.copy(scales + r * blocks, at_.scales_of(in_, r), at_.scales);
    }
    KernelWork work;
    work.kernel = "requantise-int8";
    work.elements = static_cast<double>(at_.size);
    work.k = parts_.ranks();
    const auto run = quantise(parts_.device->kind).requantise;
    parts_.kernel(
        work, [=, in = at_.codes_of(in_, 0), out = at_.codes_of(sum_, 0), count = parts_.ranks(),
               n = at_.size] { run(in, scales, count, n, out, sum_scales); });
    parts_.copy(at_.scales_of(sum_, 0), sum_scales, at_.scales);
  }

  void add_decoded() {
    auto* const sum = parts_.array<float>(at_.part);
    auto* const next = parts_.array<float>(at_.part);
    decode(in_, 0, sum, at_.part);
    for (std::size_t r = 1; r < ranks_; ++r) {
      decode(in_, r, next, at_.part);
      parts_.add(sum, next, sum, at_.part);
    }
    encode(sum, at_.part, sum_, 0);
  }

  ExchangeParts& parts_;
  GradientArray array_;
  Messages at_;
  std::size_t ranks_;
  std::byte* out_;
  std::byte* in_;
  std::byte* sum_;
};

}  // namespace

void add_quantised_exchange(ExchangeParts& parts) {
  QuantisedExchange(parts, parts.choice.name == "int8" ? QuantisedForm::int8 : QuantisedForm::int4)
      .add();
}

void add_ternary_exchange(ExchangeParts& parts) {
  const GradientArray array = lay_out_all(parts);
  const auto ranks = static_cast<std::size_t>(parts.ranks());
  const std::size_t n = array.elements;
  const std::size_t words = ternary_words(n);
  const Ternary& code = ternary(parts.device->kind);
  auto* const own_maximum = parts.array<float>(1);
  auto* const maxima = parts.array<float>(ranks);
  auto* const maximum = parts.array<float>(1);
  auto* const own = parts.array<std::uint32_t>(words);
  auto* const all = parts.array<std::uint32_t>(words * ranks);
  auto* const decoded = parts.array<float>(n);
  const auto elements = static_cast<double>(n);
  const std::uint64_t* const runs = &parts.runs;
  const auto rank = static_cast<std::uint64_t>(parts.collectives->rank());
  parts.kernel("ternary-max", elements,
               [=, &code] { code.maximum(array.gradient, n, own_maximum); });
  parts.all_gather(own_maximum, maxima, sizeof(float));
  parts.kernel("ternary-max", static_cast<double>(ranks),
               [=, &code] { code.maximum(maxima, ranks, maximum); });
  // Each rank rounds with random numbers of its own.
  parts.kernel("ternary", elements,
               [=, &code] { code.encode(array.gradient, n, maximum, *runs * ranks + rank, own); });
  parts.all_gather(own, all, words * sizeof(std::uint32_t));
  for (std::size_t r = 0; r < ranks; ++r) {
    float* const to = r == 0 ? array.gradient : decoded;
    parts.kernel("ternary-decode", elements,
                 [=, &code] { code.decode(all + r * words, n, maximum, to); });
    if (r > 0) parts.add(array.gradient, decoded, array.gradient, n);
  }
}

}  // namespace windtunnel
