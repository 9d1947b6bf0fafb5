// Translates a caller's compressor to the implementation and checks its recipes.
#include <fmt/format.h>

#include <cmath>
#include <windtunnel/compressor.hpp>

#include "models/base/find_named.hpp"
#include "models/calibration/compression_kernels.hpp"
#include "models/calibration/kernel_work.hpp"
#include "models/compression/recipe_parts.hpp"
#include "report/api/translation.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel_api {
namespace {

core::CollectiveKind kind_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return core::CollectiveKind::all_reduce;
    case Collective::reduce_scatter:
      return core::CollectiveKind::reduce_scatter;
    case Collective::all_gather:
      return core::CollectiveKind::all_gather;
    case Collective::all_to_all:
      return core::CollectiveKind::all_to_all;
    case Collective::send_recv:
      return core::CollectiveKind::send_recv;
  }
  throw core::Error(fmt::format("there is no collective {}", static_cast<int>(collective)));
}

core::ReduceHop hop_of(ReduceHop hop) {
  switch (hop) {
    case ReduceHop::all:
      return core::ReduceHop::all;
    case ReduceHop::node:
      return core::ReduceHop::node;
    case ReduceHop::across:
      return core::ReduceHop::across;
  }
  throw core::Error(fmt::format("there is no hop {}", static_cast<int>(hop)));
}

// A number in a recipe, with its name for messages.
struct Part {
  const char* name;
  double value;
  double least = 0;
};
constexpr double kMost = 1e18;

void check_numbers(const std::string& of, std::initializer_list<Part> parts) {
  for (const Part& part : parts) {
    if (part.value >= part.least && part.value <= kMost) continue;
    throw core::Error(fmt::format("{}: {} is {}; it must be a number from {} to {:g}", of,
                                  part.name, part.value, part.least, kMost));
  }
}

// The implementation's own text of the name, which is valid as long as the program runs.
std::string_view like_of(const std::string& of, const std::string& name) {
  if (name.empty()) return {};
  if (const auto* kernel = core::find_compression_kernel(name)) return kernel->name;
  std::vector<std::string> known;
  for (const core::CompressionKernel& kernel : core::compression_kernels()) {
    known.emplace_back(kernel.name);
  }
  throw core::Error(fmt::format("{}: {}", of, core::unknown_name("kernel", name, known)));
}

std::string_view law_of(const std::string& of, const std::string& name) {
  if (name.empty()) return {};
  std::vector<std::string> known;
  for (const core::KernelKind& kind : core::kernel_kinds()) {
    if (kind.family == core::KernelFamily::collective) continue;
    if (kind.name == name) return kind.name;
    known.emplace_back(kind.name);
  }
  throw core::Error(fmt::format("{}: {}", of, core::unknown_name("law", name, known)));
}

core::Op op_of(const std::string& of, const Kernel& kernel, double element_bytes) {
  check_numbers(of, {{"bytes", kernel.bytes},
                     {"flops", kernel.flops},
                     {"starts", kernel.starts},
                     {"launches", kernel.launches},
                     {"m", kernel.m},
                     {"n", kernel.n},
                     {"k", kernel.k},
                     {"count", kernel.count}});
  const std::string_view like = like_of(of, kernel.like);
  core::Op op;
  if (kernel.m > 0) {
    op = core::product(like, kernel.m, kernel.n, kernel.k, kernel.count, element_bytes);
    op.bytes = kernel.bytes;
  } else {
    op = core::pass(like, kernel.bytes, kernel.starts);
  }
  if (op.name.empty()) op.name = "own kernel";
  op.flops = kernel.flops;
  op.starts = kernel.starts;
  op.launches = kernel.launches > 0 ? kernel.launches : kernel.starts;
  op.kernel = law_of(of, kernel.law);
  op.second_kernel = law_of(of, kernel.next_law);
  if (op.kernel.empty() && !op.second_kernel.empty()) {
    throw core::Error(
        fmt::format("{}: next_law is '{}', but law is empty; set law, too", of, kernel.next_law));
  }
  return op;
}

// Checks a recipe against the properties that CompressorKind states for all recipes.
void check_promises(const std::string& of, const core::CompressorKind& kind,
                    const core::Recipe& recipe) {
  int collectives = 0;
  for (const core::RecipeStep& step : recipe.steps) {
    if (step.bytes <= 0) continue;
    ++collectives;
    const bool sums =
        step.kind == core::CollectiveKind::all_reduce && step.hop == core::ReduceHop::all;
    if (sums || !(kind.summable || kind.fusible)) continue;
    throw core::Error(fmt::format(
        "{} is {}, so it may only use all-reduces among all members, but it uses {} with hop {}",
        of, kind.summable ? "summable" : "fusible", core::to_string(step.kind),
        step.hop == core::ReduceHop::all ? "all" : "of nodes"));
  }
  if (collectives > 1 && kind.fusible) {
    throw core::Error(fmt::format("{} is fusible, but runs {} collectives for a buffer, not one",
                                  of, collectives));
  }
}

core::Recipe checked(const core::CompressorKind& kind, const Recipe& made, double element_bytes) {
  const std::string of = fmt::format("compressor '{}'", kind.name);
  check_numbers(of, {{"state_bytes", made.state_bytes}, {"buffer_bytes", made.buffer_bytes}});
  core::Recipe recipe;
  for (std::size_t i = 0; i < made.steps.size(); ++i) {
    const RecipeStep& step = made.steps[i];
    const std::string of_step = fmt::format("{}, step {}", of, i);
    check_numbers(of_step, {{"bytes", step.bytes},
                            {"every", step.every, 1},
                            {"bytes times every", step.bytes * step.every}});
    core::RecipeStep& own = recipe.steps.emplace_back();
    for (std::size_t at = 0; at < step.kernels.size(); ++at) {
      own.kernels.push_back(
          op_of(fmt::format("{}, kernel {}", of_step, at), step.kernels[at], element_bytes));
    }
    own.kind = kind_of(step.collective);
    own.hop = hop_of(step.hop);
    own.bytes = step.bytes;
    own.every = step.every;
  }
  recipe.state_bytes = made.state_bytes;
  recipe.buffer_bytes = made.buffer_bytes;
  check_promises(of, kind, recipe);
  return recipe;
}

CompressorRequest public_request(const core::CompressorKind& kind,
                                 const core::CompressorChoice& choice,
                                 std::span<const core::TensorShape> tensors,
                                 const core::ReducingGroup& group, double element_bytes) {
  CompressorRequest request;
  for (const core::TensorShape& tensor : tensors) {
    request.tensors.push_back({tensor.rows, tensor.columns, tensor.count, tensor.filled});
  }
  request.ranks = group.ranks;
  request.nodes = group.nodes;
  request.element_bytes = element_bytes;
  for (const core::CompressorNumber& number : core::compressor_numbers()) {
    if (core::takes(kind, number)) {
      request.numbers.emplace(number.name, choice.*number.member);
    }
  }
  if (core::takes_feedback(kind)) request.feedback = core::name_of(choice.feedback);
  return request;
}

}  // namespace

Kernel product(const std::string& like, double m, double n, double k, double count,
               double element_bytes) {
  const core::Op op = core::product("", m, n, k, count, element_bytes);
  Kernel kernel;
  kernel.bytes = op.bytes;
  kernel.flops = op.flops;
  kernel.starts = op.starts;
  kernel.like = like;
  kernel.m = m;
  kernel.n = n;
  kernel.k = k;
  kernel.count = count;
  return kernel;
}

core::CompressorKind compressor_kind_of(const std::string& name, Compressor compressor) {
  if (!compressor.recipe) throw core::Error(fmt::format("compressor '{}' has no recipe", name));
  core::CompressorKind kind;
  kind.name = name;
  kind.summable = compressor.summable;
  kind.fusible = compressor.fusible;
  kind.whole_tensors = compressor.whole_tensors;
  const auto numbers = core::compressor_numbers();
  for (const auto& [key, value] : compressor.numbers) {
    const core::CompressorNumber& number = core::find_named(numbers, "number of a compressor", key);
    const bool whole = number.name == "rank" || number.name == "block";
    if (value == 0 || (whole && value != std::floor(value))) {
      throw core::Error(fmt::format("compressor '{}': {} is {}; it must be a {} above 0", name, key,
                                    value, whole ? "whole number" : "number"));
    }
    kind.usual.*number.member = value;
  }
  if (!compressor.feedback.empty()) {
    if (!core::has_choice<core::ErrorFeedback>(compressor.feedback)) {
      const auto names = core::names_of<core::ErrorFeedback>();
      throw core::Error(
          core::unknown_name("feedback", compressor.feedback, {names.begin(), names.end()}));
    }
    kind.usual.feedback = core::value_of<core::ErrorFeedback>(compressor.feedback);
  }
  core::CompressorKind of = kind;  // without the recipe
  kind.recipe = [of = std::move(of), recipe = std::move(compressor.recipe)](
                    const core::CompressorChoice& choice,
                    std::span<const core::TensorShape> tensors, const core::ReducingGroup& group,
                    double element_bytes) {
    const Recipe made = recipe(public_request(of, choice, tensors, group, element_bytes));
    try {
      return checked(of, made, element_bytes);
    } catch (const core::Error& error) {
      throw core::Error(choice.where, std::string(error.text()));
    }
  };
  return kind;
}

}  // namespace windtunnel_api
