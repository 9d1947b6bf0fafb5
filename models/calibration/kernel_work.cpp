#include "models/calibration/kernel_work.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr double kFloat = 4;

double no_flops(const KernelWork& /*work*/) {
  return 0;
}

double matrix_bytes(const KernelWork& work) {
  // Products of scaled precisions come out in 16 bits.
  const double in = work.precision >= Precision::fp8 ? 1 : bytes_of(work.precision);
  const double out = std::max(in, 2.0);
  return in * (work.m * work.k + work.k * work.n) + out * work.m * work.n;
}
double matrix_flops(const KernelWork& work) {
  return 2 * work.m * work.n * work.k;
}

// Eighths of a byte per element, read and written.
template <int kEighths>
double per_element(const KernelWork& work) {
  return kEighths / 8.0 * work.elements;
}
double moved_bytes(const KernelWork& work) {
  return work.bytes;
}
double copied_bytes(const KernelWork& work) {
  return 2 * work.bytes;
}
double coded_bytes(const KernelWork& work) {
  return (work.k + work.m) * work.bytes;
}
// The difference of a block is read, and each parity block is read and written.
double updated_bytes(const KernelWork& work) {
  return (1 + 2 * work.m) * work.bytes;
}
double low_rank_bytes(const KernelWork& work) {
  return kFloat * (work.m * work.n + work.n * work.k + work.m * work.k);
}
// The gradient is also written.
double subtracted_bytes(const KernelWork& work) {
  return low_rank_bytes(work) + kFloat * work.m * work.n;
}
double orthonormal_bytes(const KernelWork& work) {
  return 2 * kFloat * work.m * work.k;
}
double orthonormal_flops(const KernelWork& work) {
  return 2 * work.m * work.k * work.k;  // Gram-Schmidt's, as recipes count; CholeskyQR2 does twice
}
// Reads the elements twice (histogram, compaction), and writes values and indices.
double selected_bytes(const KernelWork& work) {
  return 2 * kFloat * work.elements + 2 * kFloat * work.k;
}
double threshold_bytes(const KernelWork& work) {
  return kFloat * work.elements + 2 * kFloat * work.k;
}
double gathered_bytes(const KernelWork& work) {
  return 3 * kFloat * work.k;  // index, value, and where it goes
}
// A vote reads k arrays of one bit per element and writes one.
double voted_bytes(const KernelWork& work) {
  return (work.k + 1) * work.elements / 8;
}
// A sum of int8 parts reads k of them and writes one.
double requantised_bytes(const KernelWork& work) {
  return (work.k + 1) * work.elements;
}

std::vector<KernelKind> make_kinds() {
  using F = KernelFamily;
  return {
      {"gemm", "C = A B", F::matrix, {"type", "m", "n", "k"}, matrix_bytes, matrix_flops},
      {"add", "c = a + b", F::memory, {"elements"}, per_element<96>, no_flops},
      {"scale", "b = s a", F::memory, {"elements"}, per_element<64>, no_flops},
      {"adam", "a step of Adam in fp32", F::memory, {"elements"}, per_element<224>, no_flops},
      {"sgd",
       "a step of plain descent in fp32",
       F::memory,
       {"elements"},
       per_element<96>,
       no_flops},
      {"copy", "inside the memory of a device", F::copy, {"bytes"}, copied_bytes, no_flops},
      {"copy-to-device",
       "from pinned memory of the host",
       F::copy,
       {"bytes"},
       moved_bytes,
       no_flops},
      {"copy-to-host", "into pinned memory of the host", F::copy, {"bytes"}, moved_bytes, no_flops},
      {"copy-to-device-pageable",
       "from pageable memory",
       F::copy,
       {"bytes"},
       moved_bytes,
       no_flops},
      {"copy-to-host-pageable", "into pageable memory", F::copy, {"bytes"}, moved_bytes, no_flops},
      {"copy-to-device-beside",
       "from pinned memory, in k equal parts at once",
       F::copy,
       {"k", "bytes"},
       moved_bytes,
       no_flops},
      {"copy-to-host-beside",
       "into pinned memory, in k equal parts at once",
       F::copy,
       {"k", "bytes"},
       moved_bytes,
       no_flops},
      {"xor", "k blocks to one", F::code, {"k", "m", "bytes"}, coded_bytes, no_flops},
      {"rs-encode",
       "m Reed-Solomon blocks from k blocks, GF(2^8)",
       F::code,
       {"k", "m", "bytes"},
       coded_bytes,
       no_flops},
      {"rs-decode",
       "m lost blocks from k others",
       F::code,
       {"k", "m", "bytes"},
       coded_bytes,
       no_flops},
      {"rs-update",
       "m parity blocks after a change of one data block",
       F::code,
       {"k", "m", "bytes"},
       updated_bytes,
       no_flops},
      {"sign-pack",
       "fp32 to one bit",
       F::compression,
       {"elements"},
       per_element<33>,
       no_flops,
       "sign pack"},
      {"sign-unpack",
       "one bit to fp32",
       F::compression,
       {"elements"},
       per_element<33>,
       no_flops,
       "sign unpack"},
      {"sign-error",
       "signs of gradient and error, a scale, the remaining error",
       F::compression,
       {"elements"},
       per_element<97>,
       no_flops,
       "sign error"},
      {"sign-magnitude",
       "sum of the magnitudes of gradient and error together",
       F::compression,
       {"elements"},
       per_element<64>,
       no_flops},
      {"vote",
       "majority of k packed signs",
       F::compression,
       {"elements", "k"},
       voted_bytes,
       no_flops,
       "vote"},
      {"ternary",
       "fp32 to -1, 0, 1 with random rounding, 2 bits",
       F::compression,
       {"elements"},
       per_element<34>,
       no_flops,
       "ternary"},
      {"ternary-max",
       "the largest magnitude",
       F::compression,
       {"elements"},
       per_element<32>,
       no_flops,
       "ternary"},
      {"ternary-decode",
       "2 bits to fp32",
       F::compression,
       {"elements"},
       per_element<34>,
       no_flops,
       "ternary"},
      {"quantise-int8",
       "blocks of 256 with a scale",
       F::compression,
       {"elements"},
       per_element<40>,
       no_flops,
       "quantise blocks"},
      {"dequantise-int8",
       "and back",
       F::compression,
       {"elements"},
       per_element<40>,
       no_flops,
       "quantise blocks"},
      {"quantise-int4",
       "blocks of 64 with a scale",
       F::compression,
       {"elements"},
       per_element<36>,
       no_flops,
       "quantise blocks"},
      {"dequantise-int4",
       "and back",
       F::compression,
       {"elements"},
       per_element<36>,
       no_flops,
       "quantise blocks"},
      {"quantise-fp8",
       "e4m3, blocks of 256 with a scale",
       F::compression,
       {"elements"},
       per_element<40>,
       no_flops,
       "quantise blocks"},
      {"dequantise-fp8",
       "and back",
       F::compression,
       {"elements"},
       per_element<40>,
       no_flops,
       "quantise blocks"},
      {"requantise-int8",
       "sum of k quantised parts, which is quantised again",
       F::compression,
       {"elements", "k"},
       requantised_bytes,
       no_flops,
       "requantise blocks"},
      {"top-k",
       "the k largest, exactly",
       F::compression,
       {"elements", "k"},
       selected_bytes,
       no_flops,
       "exact top-k"},
      {"threshold",
       "elements above a threshold, about k",
       F::compression,
       {"elements", "k"},
       threshold_bytes,
       no_flops,
       "threshold"},
      {"random-k",
       "k elements by a seed",
       F::compression,
       {"elements", "k"},
       gathered_bytes,
       no_flops,
       "gather"},
      {"scatter",
       "k elements to their places",
       F::compression,
       {"elements", "k"},
       gathered_bytes,
       no_flops,
       "scatter"},
      // Per element: the element itself, a bit of the map, and 3 counters, which are read and
      // written by `sketch` and only read by `sketch-estimate`.
      {"sketch",
       "count-sketch of 3 rows of k, no element zero, with a bitmap",
       F::compression,
       {"elements", "k"},
       per_element<33 + 6 * 32>,
       no_flops,
       "sketch"},
      {"sketch-estimate",
       "the elements from a count-sketch",
       F::compression,
       {"elements", "k"},
       per_element<33 + 3 * 32>,
       no_flops,
       "sketch"},
      {"low-rank",
       "a gradient m x n times a factor n x k",
       F::compression,
       {"m", "n", "k"},
       low_rank_bytes,
       matrix_flops,
       "low-rank product"},
      {"low-rank-back",
       "the same gradient, transposed, times a factor m x k",
       F::compression,
       {"m", "n", "k"},
       low_rank_bytes,
       matrix_flops,
       "low-rank product"},
      {"low-rank-subtract",
       "the product of both factors from the gradient",
       F::compression,
       {"m", "n", "k"},
       subtracted_bytes,
       matrix_flops,
       "low-rank product"},
      {"low-rank-expand",
       "the product of both factors",
       F::compression,
       {"m", "n", "k"},
       low_rank_bytes,
       matrix_flops,
       "low-rank product"},
      {"orthonormalise",
       "k columns of m",
       F::compression,
       {"m", "k"},
       orthonormal_bytes,
       orthonormal_flops,
       "orthonormalise"},
      {"send", "one message", F::collective, {"bytes"}, moved_bytes, no_flops},
      {"all-reduce-ring", "sum of fp32", F::collective, {"bytes", "ranks"}, moved_bytes, no_flops},
      {"all-reduce-tree", "sum of fp32", F::collective, {"bytes", "ranks"}, moved_bytes, no_flops},
      {"reduce-scatter-ring",
       "sum of fp32",
       F::collective,
       {"bytes", "ranks"},
       moved_bytes,
       no_flops},
      {"all-gather-ring", "", F::collective, {"bytes", "ranks"}, moved_bytes, no_flops},
      {"all-to-all-pairwise", "", F::collective, {"bytes", "ranks"}, moved_bytes, no_flops},
      // For these the library chooses the algorithm.
      {"all-reduce", "sum of fp32", F::collective, {"bytes", "ranks"}, moved_bytes, no_flops},
      {"reduce-scatter", "sum of fp32", F::collective, {"bytes", "ranks"}, moved_bytes, no_flops},
      {"all-gather", "", F::collective, {"bytes", "ranks"}, moved_bytes, no_flops},
      {"all-to-all", "", F::collective, {"bytes", "ranks"}, moved_bytes, no_flops},
      {"broadcast", "from one", F::collective, {"bytes", "ranks"}, moved_bytes, no_flops},
  };
}

bool takes(const KernelKind& kind, std::string_view size) {
  return std::ranges::find(kind.sizes, size) != kind.sizes.end();
}

std::string text_of(const KernelWork& work) {
  const KernelKind& kind = kernel_kind(work.kernel);
  std::string text = work.kernel;
  const auto add = [&](std::string_view size, double value) {
    if (takes(kind, size)) text += fmt::format(" {}={}", size, value);
  };
  if (takes(kind, "type")) {
    text += fmt::format(" type={}", name_of(work.precision));
  }
  add("m", work.m);
  add("n", work.n);
  add("k", work.k);
  add("elements", work.elements);
  add("bytes", work.bytes);
  add("ranks", work.ranks);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

double size_of(std::string_view word, std::string_view value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || !(number >= 1) ||
      number > 1e15) {
    throw Error(fmt::format("'{}': expected a number of at least 1 after '='", word));
  }
  return number;
}

void read_size(const KernelKind& kind, std::string_view word, KernelWork& work) {
  const size_t sign = word.find('=');
  const std::string_view size = word.substr(0, sign);
  if (sign == std::string_view::npos || !takes(kind, size)) {
    throw Error(fmt::format("'{}': {} takes {}", word, kind.name, fmt::join(kind.sizes, ", ")));
  }
  const std::string_view value = word.substr(sign + 1);
  if (size == "type") {
    if (!has_choice<Precision>(value)) {
      throw Error(
          fmt::format("'{}': expected one of {}", word, fmt::join(names_of<Precision>(), ", ")));
    }
    work.precision = value_of<Precision>(value);
    return;
  }
  const double number = size_of(word, value);
  if (size == "m") work.m = number;
  if (size == "n") work.n = number;
  if (size == "k") work.k = number;
  if (size == "elements") work.elements = number;
  if (size == "bytes") work.bytes = number;
  if (size == "ranks") work.ranks = static_cast<int>(std::min(number, 1e6));
}

KernelWork parse_work(std::string_view text) {
  KernelWork work;
  const KernelKind* kind = nullptr;
  std::vector<std::string_view> given;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    if (kind == nullptr) {
      kind = &kernel_kind(word);
      work.kernel = word;
    } else {
      read_size(*kind, word, work);
      given.push_back(word.substr(0, word.find('=')));
    }
  }
  if (kind == nullptr) throw Error(fmt::format("'{}': expected a kernel", text));
  if (!std::ranges::is_permutation(given, kind->sizes)) {
    throw Error(fmt::format("'{}': {} takes {}, each once", text, kind->name,
                            fmt::join(kind->sizes, ", ")));
  }
  return work;
}

}  // namespace

std::span<const KernelKind> kernel_kinds() {
  static const std::vector<KernelKind> kinds = make_kinds();
  return kinds;
}

const KernelKind& kernel_kind(std::string_view name) {
  const auto found = std::ranges::find(kernel_kinds(), name, &KernelKind::name);
  if (found != kernel_kinds().end()) return *found;
  std::vector<std::string> known;
  for (const KernelKind& kind : kernel_kinds()) known.emplace_back(kind.name);
  const std::string nearest = nearest_name(name, known);
  throw Error(fmt::format("no kernel '{}'{}", name,
                          nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

std::string to_text(const KernelSteps& steps) {
  std::vector<std::string> in_turn;
  for (const std::vector<KernelWork>& step : steps) {
    std::vector<std::string> beside;
    for (const KernelWork& work : step) beside.push_back(text_of(work));
    in_turn.push_back(fmt::format("{}", fmt::join(beside, " & ")));
  }
  return fmt::format("{}", fmt::join(in_turn, " > "));
}

KernelSteps parse_kernel_steps(std::string_view text) {
  KernelSteps steps;
  for (const std::string_view step : split(text, '>')) {
    std::vector<KernelWork>& works = steps.emplace_back();
    for (const std::string_view work : split(step, '&')) works.push_back(parse_work(work));
  }
  return steps;
}

}  // namespace windtunnel
