#include "models/compression/compressors.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "models/base/find_named.hpp"
#include "models/compression/recipes.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kDense = "none";
constexpr auto kEf = ErrorFeedback::ef;
constexpr auto kNoFeedback = ErrorFeedback::none;

// Sets `usual.name`.
CompressorKind named(CompressorKind kind) {
  kind.usual.name = kind.name;
  return kind;
}

// Picks the overload of a recipe that takes one number for all tensors.
constexpr MakeRecipe* one_number(MakeRecipe* recipe) {
  return recipe;
}

const std::vector<CompressorKind>& kinds() {
  static const std::vector<CompressorKind> table = {
      named({.name = std::string(kDense),
             .help = "gradients are exchanged uncompressed",
             .source = "-",
             .summable = true,
             .fusible = true,
             .recipe = dense_recipe}),
      named({.name = "powersgd",
             .help = "low-rank factors, two dependent all-reduces; vectors stay dense",
             .source = "Vogels et al. 2019 (arXiv 1905.13727)",
             .usual = {.rank = 4, .feedback = kEf},
             .summable = true,
             .whole_tensors = true,
             .recipe = one_number(powersgd_recipe)}),
      named({.name = "powersgd-hook",
             .help = "PowerSGD as PyTorch's DDP runs it: both factors are orthonormalised; each "
                     "bucket ends by waiting for the GPU (overlap: blocking)",
             .source = "torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py",
             .usual = {.rank = 4, .feedback = kEf},
             .summable = true,
             .whole_tensors = true,
             .recipe = powersgd_hook_recipe}),
      named({.name = "acp-sgd",
             .help = "one of two low-rank factors per step, one all-reduce",
             .source = "Shi et al. 2023 (arXiv 2306.08881)",
             .usual = {.rank = 4, .feedback = kEf},
             .summable = true,
             .fusible = true,
             .whole_tensors = true,
             .recipe = acp_sgd_recipe}),
      named({.name = "topk",
             .help = "the largest elements, exactly; all-gather of values and indices",
             .source = "Aji, Heafield 2017 (arXiv 1704.05021)",
             .usual = {.density = 0.001, .feedback = kEf},
             .recipe = one_number(top_k_recipe)}),
      named({.name = "topk-threshold",
             .help = "elements above a reused or Gaussian threshold: one pass",
             .source = "Shi et al. 2019 (arXiv 1911.08772)",
             .usual = {.density = 0.001, .feedback = kEf},
             .recipe = threshold_recipe}),
      named({.name = "dgc",
             .help = "elements above a threshold found from a sample; vectors stay dense",
             .source = "Lin et al. 2018 (arXiv 1712.01887)",
             .usual = {.density = 0.001, .feedback = kEf},
             .recipe = dgc_recipe}),
      named({.name = "mstopk",
             .help = "dense within a node; across nodes the largest elements, found by counting",
             .source = "Shi et al. 2021 (arXiv 2010.10458)",
             .usual = {.density = 0.001, .feedback = kEf},
             .recipe = ms_top_k_recipe}),
      named({.name = "gtopk",
             .help = "the largest sums over all ranks, merged in log2 P rounds",
             .source = "Shi et al. 2019 (arXiv 1901.04359)",
             .usual = {.density = 0.001, .feedback = kEf},
             .recipe = g_top_k_recipe}),
      named({.name = "oktopk",
             .help = "each rank reduces a part of the indices; at most 6k numbers per rank",
             .source = "Li, Hoefler 2022 (arXiv 2201.07598)",
             .usual = {.density = 0.01, .every = 32, .feedback = kEf},
             .recipe = ok_top_k_recipe}),
      named({.name = "randomk",
             .help = "random elements, the same on all ranks (common seed); all-reduce",
             .source = "Konecny et al. 2016 (arXiv 1610.05492)",
             .usual = {.density = 0.01, .feedback = kEf},
             .summable = true,
             .fusible = true,
             .recipe = random_k_recipe}),
      named({.name = "random-block",
             .help = "random blocks, the same on all ranks (common seed); all-reduce",
             .source = "Vogels et al. 2019 (arXiv 1905.13727), section 4.2",
             .usual = {.density = 0.01, .feedback = kEf},
             .summable = true,
             .fusible = true,
             .recipe = random_block_recipe}),
      named({.name = "signsgd",
             .help = "signs; each rank takes the majority vote of one part and sends it to all",
             .source = "Bernstein et al. 2019 (arXiv 1810.05291)",
             .usual = {.feedback = kNoFeedback},
             .recipe = majority_recipe}),
      named({.name = "onebit-sgd",
             .help = "signs and two means per column, gathered from all ranks",
             .source = "Seide et al. 2014 (Interspeech)",
             .usual = {.feedback = kEf},
             .recipe = one_bit_sgd_recipe}),
      named({.name = "onebit-adam",
             .help = "dense warm-up, then signs of the momentum with error feedback on both sides",
             .source = "Tang et al. 2021 (arXiv 2102.02888)",
             .usual = {.warmup = 0.15},
             .of_moments = true,
             .whole_momentum = true,
             .recipe = one_bit_adam_recipe}),
      named({.name = "onebit-lamb",
             .help = "as onebit-adam, with LAMB's scaling frozen after the warm-up",
             .source = "Li et al. 2021 (arXiv 2104.06069)",
             .usual = {.warmup = 0.165},
             .of_moments = true,
             .whole_momentum = true,
             .recipe = one_bit_adam_recipe}),
      named({.name = "zero-one-adam",
             .help = "as onebit-adam, without warm-up, synchronised every few steps",
             .source = "Lu et al. 2022 (arXiv 2202.06009)",
             .usual = {.every = 2},
             .of_moments = true,
             .whole_momentum = true,
             .recipe = one_bit_adam_recipe}),
      named({.name = "terngrad",
             .help = "-1, 0, 1 under a common scale, summed in log2(2P + 1) bits",
             .source = "Wen et al. 2017 (arXiv 1705.07878)",
             .usual = {.feedback = kNoFeedback},
             .summable = true,
             .recipe = tern_grad_recipe}),
      named({.name = "qsgd",
             .help = "few bits in blocks with one scale each: scatter, reduce, gather",
             .source = "Alistarh et al. 2017 (arXiv 1610.02132); CGX, Markov et al. 2022",
             .usual = {.bits = 4, .block = 512, .feedback = kNoFeedback},
             .element_bits = 4,
             .recipe = one_number(quantised_recipe)}),
      named({.name = "int8",
             .help = "as qsgd, with 8 bits",
             .source = "Dettmers 2016 (arXiv 1511.04561)",
             .usual = {.block = 256, .feedback = kNoFeedback},
             .element_bits = 8,
             .recipe = int8_recipe}),
      named({.name = "int6",
             .help = "as qsgd, with 6 bits and blocks of 32",
             .source = "QuickReduce (github.com/mk1-project/quickreduce)",
             .usual = {.block = 32, .feedback = kNoFeedback},
             .element_bits = 6,
             .recipe = int6_recipe}),
      named({.name = "int4",
             .help = "as qsgd, with 4 bits and blocks of 32",
             .source = "QuickReduce (github.com/mk1-project/quickreduce)",
             .usual = {.block = 32, .feedback = kNoFeedback},
             .element_bits = 4,
             .recipe = int4_recipe}),
      named({.name = "fp8",
             .help = "all-reduce of fp8 under common scales",
             .source = "NCCL's types e4m3 and e5m2",
             .usual = {.feedback = kNoFeedback},
             .summable = true,
             .element_bits = 8,
             .recipe = fp8_recipe}),
      named({.name = "s2-reducer",
             .help = "count-sketch and bitmap of the non-zero elements, both summed",
             .source = "Ge et al. 2021 (arXiv 2110.02140)",
             .usual = {.density = 0.15, .feedback = kNoFeedback},
             .summable = true,
             .recipe = s2_reducer_recipe}),
      named({.name = "demo",
             .help = "the largest cosine coefficients of chunks of the momentum",
             .source = "Peng et al. 2024 (arXiv 2411.19870)",
             .usual = {.density = 0.008, .block = 64},
             .whole_momentum = true,
             .recipe = demo_recipe}),
      named({.name = "distributed-lion",
             .help = "signs of Lion's updates, majority vote",
             .source = "Liu et al. 2024 (arXiv 2404.00438)",
             .usual = {},
             .whole_momentum = true,
             .recipe = lion_recipe}),
      named({.name = "lgreco",
             .help = "a base compressor whose number (rank, bits or density) is chosen per layer "
                     "under an error budget",
             .source = "Markov et al. 2023 (arXiv 2210.17357)",
             .usual = {.error = 1, .feedback = kEf, .base = "powersgd"},
             .recipe = l_greco_recipe}),
      named({.name = std::string(kOneByte),
             .help = "random directions from a common seed, times one number per rank",
             .source = "Zelikman et al. 2023 (arXiv 2306.10015)",
             .recipe = one_byte_recipe}),
  };
  return table;
}

}  // namespace

std::span<const CompressorKind> compressor_kinds() {
  return kinds();
}

const CompressorKind& compressor_kind(std::string_view name) {
  return find_named(kinds(), "compressor", name);
}

const CompressorKind& compressor_kind(const CompressorChoice& choice) {
  const bool is_own = choice.own != nullptr && choice.own->name == choice.name;
  return is_own ? *choice.own : compressor_kind(choice.name);
}

CompressorChoice with_usual(const CompressorChoice& choice) {
  const CompressorChoice& usual = compressor_kind(choice).usual;
  CompressorChoice full = choice;
  const auto fill = [&](double CompressorChoice::*number) {
    if (full.*number == 0) full.*number = usual.*number;
  };
  for (const CompressorNumber& number : compressor_numbers()) fill(number.member);
  if (full.feedback == ErrorFeedback::usual) full.feedback = usual.feedback;
  if (full.base.empty()) full.base = usual.base;
  return full;
}

std::span<const CompressorNumber> compressor_numbers() {
  static constexpr std::array<CompressorNumber, 7> table = {{
      {"rank", &CompressorChoice::rank, 1, 1e9, "rank of the low-rank factors"},
      {"density", &CompressorChoice::density, 0, 1, "share of the elements that is kept"},
      {"bits", &CompressorChoice::bits, 1, 32, "bits of a quantised element"},
      {"block", &CompressorChoice::block, 1, 1e9,
       "elements that share one scale, or side of a chunk"},
      {"warmup", &CompressorChoice::warmup, 0, 1,
       "share of the run, at its start, with dense gradients"},
      {"every", &CompressorChoice::every, 1, 1e9,
       "steps between synchronisations, or between exact thresholds"},
      {"error", &CompressorChoice::error, 0, 1e3,
       "allowed error, relative to that of the base with one choice for all layers"},
  }};
  return table;
}

void check_numbers(const CompressorChoice& choice) {
  for (const CompressorNumber& number : compressor_numbers()) {
    const double value = choice.*number.member;
    if (value == 0) continue;
    if (value > 0 && value >= number.low && value <= number.high) continue;
    const std::string range = number.low > 0
                                  ? fmt::format("from {:g} to {:g}", number.low, number.high)
                                  : fmt::format("above 0 and at most {:g}", number.high);
    throw Error(choice.where, fmt::format("compressor {}: {} {:g} is not {}", choice.name,
                                          number.name, value, range));
  }
}

bool takes(const CompressorKind& kind, const CompressorNumber& number) {
  if (number.member == &CompressorChoice::warmup) return kind.name != kDense;
  return kind.usual.*number.member != 0;
}

bool compresses(const CompressorChoice& choice) {
  return choice.name != kDense;
}

bool takes_feedback(const CompressorKind& kind) {
  return kind.usual.feedback != ErrorFeedback::usual;
}

}  // namespace windtunnel
