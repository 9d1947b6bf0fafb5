#include "validate/harness/timing/kernel_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "models/calibration/kernel_law.hpp"
#include "models/calibration/kernel_law_fit.hpp"
#include "models/cost/op/op.hpp"
#include "models/workload/layer_table.hpp"
#include "validate/harness/timing/kernel_runner.hpp"

namespace windtunnel {
namespace {

// Sizes start here, in bytes that a kernel moves, or bytes of the fp32 buffer that it selects from.
// The sizes that judge a fit lie between the sizes that are fitted, at sqrt(2) times each.
constexpr double kSmallest = 32e3;
constexpr double kStep = 2;
constexpr double kLarge = 8e6;  // from here on caches do not matter, and timings are long
constexpr double kLargeStep = 4;
constexpr double kMostOnHost = 128e6;
// Sizes of cold series, which depend on memory only.
constexpr double kSmallestCold = 256e3;
constexpr double kLargestCold = 64e6;
constexpr double kColdStep = 4;
constexpr double kBetween = 1.4142135623730951;
// Full buffers of collectives: small ones depend on steps, large ones on bytes.
constexpr double kSmallestMessage = 64;
constexpr double kLargestMessage = 64 << 20;
constexpr double kMessageStep = 4;
// Between these sizes protocols and pieces change, and messages outgrow the caches.
constexpr double kFirstBend = 16 << 10;
constexpr double kLastBend = 1 << 20;

constexpr std::array<std::array<int, 2>, 4> kCodes = {{{4, 2}, {8, 2}, {8, 4}, {10, 4}}};
constexpr double kParts = 2;      // number of parts that are summed
constexpr double kSparse = 100;   // elements per element that is kept
constexpr double kSketched = 20;  // elements per column: three rows have 0.15 counters per element
constexpr std::array<int, 3> kStreams = {2, 4, 8};
constexpr std::array<std::array<int, 3>, 6> kThin = {{{256, 256, 4},
                                                      {512, 512, 4},
                                                      {1024, 1024, 4},
                                                      {1024, 4096, 4},
                                                      {1024, 1024, 32},
                                                      {2048, 2048, 16}}};
constexpr std::array<std::array<int, 3>, 14> kProducts = {{{64, 64, 64},
                                                           {128, 128, 128},
                                                           {192, 192, 192},
                                                           {256, 256, 256},
                                                           {384, 384, 384},
                                                           {512, 512, 512},
                                                           {768, 768, 768},
                                                           {1024, 1024, 1024},
                                                           {1024, 1024, 64},
                                                           {64, 1024, 1024},
                                                           {1024, 64, 1024},
                                                           {2048, 512, 512},
                                                           {64, 2048, 2048},
                                                           {2048, 2048, 64}}};

bool has(const KernelKind& kind, std::string_view size) {
  return std::ranges::find(kind.sizes, size) != kind.sizes.end();
}

// Returns the shapes of a kernel that are scaled to sizes, with one byte or element each.
std::vector<KernelWork> shapes_of(const KernelKind& kind) {
  KernelWork work;
  work.kernel = kind.name;
  std::vector<KernelWork> shapes;
  if (has(kind, "m") && kind.family != KernelFamily::code) return {};  // add_matrices
  if (kind.family == KernelFamily::collective) return {};              // add_collectives
  if (kind.family == KernelFamily::copy && has(kind, "k")) {
    for (const int streams : kStreams) {
      work.k = streams;
      shapes.push_back(work);
    }
    return shapes;
  }
  if (kind.family != KernelFamily::code) return {work};
  for (const auto& [k, m] : kCodes) {
    // XOR has one block of parity, for any m.
    if (kind.name == "xor" && !shapes.empty() && shapes.back().k == k) continue;
    work.k = k;
    work.m = kind.name == "xor" ? 1 : m;
    shapes.push_back(work);
  }
  return shapes;
}

// Scales the work so that it moves, or selects from, about this many bytes.
KernelWork sized(KernelWork work, const KernelKind& kind, double bytes) {
  if (!has(kind, "elements")) {
    work.bytes = 1;
    // Whole vectors, because blocks of a real buffer start where the allocator puts them.
    work.bytes = std::max(64.0, 64 * std::round(bytes / kind.bytes(work) / 64));
    return work;
  }
  const bool parts = kind.name == "requantise-int8" || kind.name == "vote";
  const double sparse = kind.share == "sketch" ? kSketched : kSparse;
  const auto of = [&](double elements) {
    work.elements = std::max(1.0, std::round(elements));
    if (has(kind, "k")) {
      work.k = parts ? kParts : std::max(1.0, std::round(work.elements / sparse));
    }
    return work;
  };
  constexpr double kMany = 1e6;
  return of(kMany * bytes / std::max(kind.bytes(of(kMany)), 4 * kMany));
}

class Suite {
 public:
  Suite(const Device& device, double memory_bytes, Collectives* collectives)
      : device_(device), memory_bytes_(memory_bytes), collectives_(collectives) {}

  // Names the work that these ranks can run: the algorithm itself, or else `choice`, for which a
  // library chooses the algorithm.
  std::string of_these(const std::string& algorithm, const std::string& choice) const {
    KernelWork work;
    work.kernel = algorithm;
    work.bytes = 4.0 * ranks();
    work.ranks = ranks();
    return why_not_runnable({{work}}, device_, collectives_).empty() ? algorithm : choice;
  }
  int ranks() const { return collectives_ == nullptr ? 1 : collectives_->ranks(); }
  // The limit of sizes, such that timings on a host stay short.
  double most_bytes() const {
    return device_.kind == DeviceKind::cpu ? std::min(kMostOnHost, memory_bytes_ / 2)
                                           : memory_bytes_ / 2;
  }
  void add(const KernelSteps& steps, SampleRole role, CacheState cache = CacheState::warm) {
    if (!why_not_runnable(steps, device_, collectives_).empty()) return;
    if (memory_bytes(steps) > memory_bytes_) return;
    if (!added_.insert({to_text(steps), cache}).second) return;  // a job's shape may be in the grid
    works_.push_back(timed_work(steps, role, cache, device_, collectives_));
  }
  void add(std::string_view steps, SampleRole role, CacheState cache = CacheState::warm) {
    add(parse_kernel_steps(steps), role, cache);
  }
  // Adds a work twice: warm, as in a loop, and cold, as in a training step.
  void add_both(std::string_view steps) {
    add(steps, SampleRole::fit);
    add(steps, SampleRole::fit, CacheState::cold);
  }
  // The user asked for a job's products, so they are never left out.
  std::vector<TimedWork> works(std::span<const KernelWork> products) && {
    const std::vector<int> tiers = tiers_of(works_);
    std::set<std::string> asked;
    for (const KernelWork& product : products) asked.insert(to_text({{product}}));
    for (size_t i = 0; i < works_.size(); ++i) {
      works_[i].tier = asked.contains(to_text(works_[i].steps)) ? 0 : tiers[i];
    }
    return std::move(works_);
  }

 private:
  const Device& device_;
  double memory_bytes_;
  Collectives* collectives_;
  std::vector<TimedWork> works_;
  std::set<std::pair<std::string, CacheState>> added_;
};

void add_sizes(const KernelKind& kind, Suite& suite) {
  const double steps = kind.family == KernelFamily::code ? kLargeStep : kStep;
  for (const KernelWork& shape : shapes_of(kind)) {
    int count = 0;
    for (double bytes = kSmallest; bytes <= suite.most_bytes();
         bytes *= bytes < kLarge ? steps : kLargeStep) {
      suite.add({{sized(shape, kind, bytes)}}, SampleRole::fit);
      // After every fourth size, adds an intermediate one.
      if (++count % 4 == 0) {
        suite.add({{sized(shape, kind, bytes * kBetween)}}, SampleRole::judge);
      }
    }
  }
}

// Kernels of a training step, on data that was last used a step ago.
void add_cold_sizes(const KernelKind& kind, Suite& suite) {
  if (kind.family == KernelFamily::code) return;
  for (const KernelWork& shape : shapes_of(kind)) {
    for (double bytes = kSmallestCold; bytes <= kLargestCold; bytes *= kColdStep) {
      suite.add({{sized(shape, kind, bytes)}}, SampleRole::fit, CacheState::cold);
    }
    suite.add({{sized(shape, kind, kSmallestCold * kColdStep * 2)}}, SampleRole::judge,
              CacheState::cold);
  }
}

void add_matrices(std::span<const KernelWork> products, Suite& suite) {
  for (const auto& [m, n, k] : kProducts) {
    suite.add_both(fmt::format("gemm type=fp32 m={} n={} k={}", m, n, k));
  }
  for (const KernelWork& product : products) suite.add_both(to_text({{product}}));
  suite.add("gemm type=fp32 m=640 n=640 k=640", SampleRole::judge);
  suite.add("gemm type=fp32 m=1024 n=256 k=512", SampleRole::judge);
  for (const auto& [m, n, r] : kThin) {
    for (const char* product :
         {"low-rank", "low-rank-back", "low-rank-subtract", "low-rank-expand"}) {
      suite.add_both(fmt::format("{} m={} n={} k={}", product, m, n, r));
    }
    suite.add(fmt::format("orthonormalise m={} k={}", m, r), SampleRole::fit);
  }
}

// Streams larger than all other sizes, where working sets outgrow the caches. Copies are left out,
// because their library bypasses the caches for large ones.
void add_large_streams(Suite& suite) {
  constexpr double kLargest = 256e6;  // moved
  constexpr double kFine = 1.5;
  KernelWork scale;
  scale.kernel = "scale";
  for (double bytes = kLargest; bytes > kLargeStep * kLarge; bytes /= kFine) {
    suite.add({{sized(scale, kernel_kind("scale"), bytes)}}, SampleRole::fit);
  }
}

// Adds compositions: compress, copy, decode; products with a copy; encode and copy.
void add_compositions(Suite& suite) {
  for (const double elements : {1e5, 3e5, 1e6, 3e6, 8e6}) {
    const double packed = elements * 5 / 4;
    suite.add(
        fmt::format("quantise-int8 elements={0} > copy bytes={1} > dequantise-int8 elements={0}",
                    elements, std::round(packed)),
        SampleRole::judge);
    suite.add(fmt::format("sign-pack elements={0} > copy bytes={1} > sign-unpack elements={0}",
                          elements, std::ceil(elements / 8)),
              SampleRole::judge);
    suite.add(fmt::format("top-k elements={0} k={1} > copy bytes={2} > scatter elements={0} k={1}",
                          elements, elements / kSparse, 8 * elements / kSparse),
              SampleRole::judge);
    suite.add(fmt::format("rs-encode k=8 m=2 bytes={0} > copy bytes={1}", elements / 2, elements),
              SampleRole::judge);
    suite.add(fmt::format("xor k=4 m=1 bytes={0} > copy bytes={0}", elements), SampleRole::judge);
  }
  for (const int n : {256, 384, 512, 768}) {
    suite.add(fmt::format("gemm type=fp32 m={0} n={0} k={0} > copy bytes={1}", n, 4 * n * n),
              SampleRole::judge);
    // Two layers of a backward pass are each followed by quantising their bucket.
    suite.add(fmt::format("gemm type=fp32 m={0} n={0} k={0} > quantise-int8 elements={1} > "
                          "gemm type=fp32 m={0} n={0} k={0} > quantise-int8 elements={1}",
                          n, n * n),
              SampleRole::judge);
  }
}

// Rounds to equal parts of whole values.
double in_parts(double bytes, int ranks) {
  const double parts = 4.0 * ranks;
  return parts * std::max(1.0, std::round(bytes / parts));
}

void add_collectives(Suite& suite) {
  for (const KernelKind& kind : kernel_kinds()) {
    if (kind.family != KernelFamily::collective) continue;
    KernelWork work;
    work.kernel = kind.name;
    work.ranks = suite.ranks();
    int count = 0;
    double step = kMessageStep;
    for (double bytes = kSmallestMessage; bytes <= kLargestMessage; bytes *= step) {
      step = bytes >= kFirstBend && bytes < kLastBend ? kStep : kMessageStep;
      work.bytes = in_parts(bytes, suite.ranks());
      suite.add({{work}}, SampleRole::fit);
      if (++count % 3 == 0) {
        work.bytes = in_parts(bytes * std::sqrt(step), suite.ranks());
        suite.add({{work}}, SampleRole::judge);
      }
    }
    // Adds cold series, as on gradients that a training step has just written.
    for (double bytes = kSmallestMessage; bytes <= kLargestMessage; bytes *= kMessageStep) {
      work.bytes = in_parts(bytes, suite.ranks());
      suite.add({{work}}, SampleRole::fit, CacheState::cold);
    }
    work.bytes = in_parts(kFirstBend * kMessageStep * 2, suite.ranks());
    suite.add({{work}}, SampleRole::judge, CacheState::cold);
  }
}

// Adds compositions: encode and send; compress, gather, decode the parts of all; a backward pass by
// buckets.
void add_compositions_of_ranks(Suite& suite) {
  const int ranks = suite.ranks();
  const std::string all_gather = suite.of_these("all-gather-ring", "all-gather");
  const std::string all_reduce = suite.of_these("all-reduce-ring", "all-reduce");
  for (const double elements : {1e5, 3e5, 1e6, 2e6, 4e6}) {
    const double bytes_of_int8 = in_parts(elements + 4 * elements / 256, ranks);
    const double bytes_of_signs = in_parts(elements / 8, ranks);
    suite.add(fmt::format("quantise-int8 elements={} > send bytes={}", elements, bytes_of_int8),
              SampleRole::judge);
    suite.add(fmt::format("rs-encode k=8 m=2 bytes={} > send bytes={}", elements / 8, elements / 4),
              SampleRole::judge);
    suite.add(fmt::format("quantise-int8 elements={} > {} bytes={} ranks={} > "
                          "dequantise-int8 elements={}",
                          elements, all_gather, bytes_of_int8 * ranks, ranks, elements * ranks),
              SampleRole::judge);
    suite.add(fmt::format("sign-pack elements={} > {} bytes={} ranks={} > "
                          "sign-unpack elements={}",
                          elements, all_gather, bytes_of_signs * ranks, ranks, elements * ranks),
              SampleRole::judge);
  }
  for (const int n : {256, 512, 1024}) {
    const std::string layer = fmt::format(
        "gemm type=fp32 m={0} n={0} k={0} > {3} "
        "bytes={1} ranks={2}",
        n, in_parts(4.0 * n * n, ranks), ranks, all_reduce);
    suite.add(fmt::format("{0} > {0} > {0}", layer), SampleRole::judge);
  }
}

std::vector<Op> ops_of(const Job& job, Pass pass) {
  if (job.network) return network_ops(*job.network, job.batch.micro, job.precision, pass);
  std::vector<Op> ops;
  for (const Block block : {Block::layer, Block::moe_layer, Block::head}) {
    if (block == Block::moe_layer && job.model.moe.experts == 0) continue;
    const std::vector<Op> more = block_ops(job, block, pass);
    ops.insert(ops.end(), more.begin(), more.end());
  }
  return ops;
}

}  // namespace

std::vector<TimedWork> kernel_suite(const Device& device, double memory_bytes,
                                    Collectives* collectives,
                                    std::span<const KernelWork> products) {
  Suite suite(device, memory_bytes, collectives);
  for (const KernelKind& kind : kernel_kinds()) {
    add_sizes(kind, suite);
    add_cold_sizes(kind, suite);
  }
  add_matrices(products, suite);
  if (device.kind == DeviceKind::cpu) add_large_streams(suite);
  add_compositions(suite);
  if (suite.ranks() > 1) {
    add_collectives(suite);
    add_compositions_of_ranks(suite);
  }
  return std::move(suite).works(products);
}

std::vector<KernelWork> job_products(const Job& job) {
  std::vector<KernelWork> products;
  std::vector<std::string> texts;
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    for (const Op& op : ops_of(job, pass)) {
      if (op.kind != OpKind::gemm) continue;
      KernelWork work;
      work.kernel = "gemm";
      work.precision = op.precision.value_or(job.precision);
      work.m = std::max(1.0, std::round(op.m));
      work.n = std::max(1.0, std::round(op.n));
      work.k = std::max(1.0, std::round(op.k));
      const std::string text = to_text({{work}});
      if (std::ranges::find(texts, text) != texts.end()) continue;
      texts.push_back(text);
      products.push_back(work);
    }
  }
  return products;
}

namespace {

// Works of one kind differ only in size: a law's works, or compositions of the same kernels.
std::string kind_of(const TimedWork& work) {
  const bool single = work.steps.size() == 1 && work.steps[0].size() == 1;
  std::string kind = work.role == SampleRole::fit ? "fit" : "judge";
  if (single) return kind.append(" ").append(law_key(work.steps[0][0], work.cache));
  for (const std::vector<KernelWork>& step : work.steps) {
    for (const KernelWork& one : step) kind.append(" ").append(one.kernel);
  }
  return kind;
}

// Returns tiers for `count` sizes in order: as many in tier 0 as a law needs, evenly spaced with
// both ends; the others alternate.
std::vector<int> tiers_of_law(std::size_t count) {
  std::vector<int> tiers(count, -1);
  for (std::size_t i = 0; i < kLeastSizes; ++i) tiers[i * (count - 1) / (kLeastSizes - 1)] = 0;
  bool second = false;
  for (int& tier : tiers) {
    if (tier == 0) continue;
    tier = second ? 2 : 1;
    second = !second;
  }
  return tiers;
}

std::vector<int> tiers_of_judges(std::size_t count) {
  std::vector<int> tiers;
  for (std::size_t i = 0; i < count; ++i) tiers.push_back(i % 2 == 0 ? 1 : 2);
  return tiers;
}

}  // namespace

std::vector<int> tiers_of(std::span<const TimedWork> works) {
  std::map<std::string, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < works.size(); ++i) kinds[kind_of(works[i])].push_back(i);
  std::vector<int> tiers(works.size());
  for (auto& [kind, members] : kinds) {
    std::ranges::stable_sort(members, {},
                             [&](std::size_t i) { return bytes_moved(works[i].steps); });
    const bool fitted = works[members[0]].role == SampleRole::fit;
    const std::vector<int> own =
        fitted ? tiers_of_law(members.size()) : tiers_of_judges(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) tiers[members[i]] = own[i];
  }
  return tiers;
}

double effort_of(const TimedWork& work, DeviceKind kind) {
  constexpr double kCold = 2;  // factor for cold series, which need buffers larger than the caches
  // Work of this size takes as long as the smallest work. A GPU's buffers are filled over PCIe.
  const double kBytes = kind == DeviceKind::cpu ? 20e6 : 50e6;
  const double kFlops = kind == DeviceKind::cpu ? 30e6 : 50e9;
  double flops = 0;
  for (const std::vector<KernelWork>& step : work.steps) {
    for (const KernelWork& one : step) flops += kernel_kind(one.kernel).flops(one);
  }
  return 1 + (work.cache == CacheState::cold ? kCold : 0) + memory_bytes(work.steps) / kBytes +
         flops / kFlops;
}

std::vector<bool> affordable(std::span<const PricedWork> works, double time_s) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < works.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return works[i].tier; });
  std::vector<bool> taken(works.size());
  for (const std::size_t i : order) {
    taken[i] = works[i].tier == 0 || works[i].seconds <= time_s;
    if (taken[i]) time_s -= works[i].seconds;
  }
  return taken;
}

}  // namespace windtunnel
