#include "tests/validate/harness/exchange/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "kernels/compression/quantise.hpp"
#include "kernels/layer/stream_ops.hpp"
#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "tests/validate/harness/exchange/exchange_parts.hpp"

namespace windtunnel {
namespace {

struct Method {
  std::string_view name;
  void (*add)(ExchangeParts& parts);
  double block = 0;  // kernels' block size; 0: none
};

constexpr std::array<Method, 11> kMethods = {{
    {"none", add_dense_exchange},
    {"int8", add_quantised_exchange, quantised_block_elements(QuantisedForm::int8)},
    {"int4", add_quantised_exchange, quantised_block_elements(QuantisedForm::int4)},
    {"signsgd", add_sign_exchange},
    {"terngrad", add_ternary_exchange},
    {"powersgd", add_power_sgd_exchange},
    {"acp-sgd", add_acp_sgd_exchange},
    {"topk", add_top_k_exchange},
    {"topk-threshold", add_threshold_exchange},
    {"randomk", add_random_k_exchange},
    {"s2-reducer", add_sketch_exchange},
}};

const Method* find_method(std::string_view name) {
  const auto* const found = std::ranges::find(kMethods, name, &Method::name);
  return found == kMethods.end() ? nullptr : found;
}

std::string names_of_methods() {
  std::string names;
  for (const Method& method : kMethods) {
    if (!names.empty()) names += ", ";
    names += method.name;
  }
  return names;
}

}  // namespace

std::string why_no_exchange(const CompressorChoice& choice) {
  const CompressorChoice full = with_usual(choice);
  const Method* const method = find_method(full.name);
  if (method == nullptr) {
    return full.name == "fp8" ? "needs collectives that sum fp8, which these do not; take int8"
                              : "has no kernels here; take one of " + names_of_methods();
  }
  if (method->block > 0 && full.block != method->block) {
    return fmt::format("has kernels for blocks of {:g} elements, not {:g}", method->block,
                       full.block);
  }
  if (full.feedback == ErrorFeedback::ef21 || full.feedback == ErrorFeedback::econtrol) {
    return "runs with feedback none or ef";
  }
  if (full.feedback == ErrorFeedback::ef &&
      (full.name == "terngrad" || full.name == "s2-reducer")) {
    return "runs without feedback";
  }
  return "";
}

std::byte* ExchangeParts::zeros(std::size_t size_bytes) {
  memory.emplace_back(*device, size_bytes);
  memory.back().upload(std::vector<std::byte>(size_bytes));
  return memory.back().data();
}

void ExchangeParts::fill(float* there, const std::vector<float>& values) const {
  device->copy(reinterpret_cast<std::byte*>(there),
               reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(float));
}

void ExchangeParts::kernel(std::string_view name, double elements, std::function<void()> run) {
  KernelWork work;
  work.kernel = name;
  work.elements = elements;
  kernel(std::move(work), std::move(run));
}

void ExchangeParts::kernel(KernelWork work, std::function<void()> run) {
  turns.back().push_back({std::move(work), std::move(run)});
}

void ExchangeParts::add(const float* a, const float* b, float* c, std::size_t elements) {
  const auto run = stream_ops(device->kind).add;
  kernel("add", static_cast<double>(elements), [=] { run(a, b, c, elements); });
}

void ExchangeParts::copy(void* to, const void* from, std::size_t size_bytes) {
  KernelWork work;
  work.kernel = "copy";
  work.bytes = static_cast<double>(size_bytes);
  const auto run = stream_ops(device->kind).copy;
  kernel(work, [=] {
    run(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), size_bytes);
  });
}

namespace {

KernelWork collective_work(const ExchangeParts& parts, std::string_view name, double bytes) {
  KernelWork work;
  work.kernel = name;
  work.bytes = bytes;
  work.ranks = parts.ranks();
  return work;
}

}  // namespace

void ExchangeParts::all_reduce(float* values, std::size_t elements) {
  kernel(collective_work(*this, "all-reduce-ring", static_cast<double>(elements * sizeof(float))),
         [=, to = collectives] { to->all_reduce(values, elements); });
}

void ExchangeParts::all_gather(const void* part, void* all, std::size_t part_bytes) {
  kernel(collective_work(*this, "all-gather-ring", static_cast<double>(part_bytes) * ranks()),
         [=, to = collectives] {
           to->all_gather(static_cast<const std::byte*>(part), static_cast<std::byte*>(all),
                          part_bytes);
         });
}

void ExchangeParts::all_to_all(const void* out, void* in, std::size_t part_bytes) {
  kernel(collective_work(*this, "all-to-all-pairwise", static_cast<double>(part_bytes) * ranks()),
         [=, to = collectives] {
           to->all_to_all(static_cast<const std::byte*>(out), static_cast<std::byte*>(in),
                          part_bytes);
         });
}

std::size_t elements_of(const TensorShape& tensor) {
  return static_cast<std::size_t>(tensor.elements());
}

std::size_t padded_elements(const TensorShape& tensor) {
  return (elements_of(tensor) + kTensorElements - 1) / kTensorElements * kTensorElements;
}

void lay_out(const ExchangeParts& parts, std::span<const std::size_t> chosen, float* start,
             std::vector<float*>& places) {
  places.resize(parts.tensors.size());
  for (const std::size_t tensor : chosen) {
    places[tensor] = start;
    start += padded_elements(parts.tensors[tensor]);
  }
}

GradientArray lay_out_all(ExchangeParts& parts, std::size_t slack) {
  GradientArray array;
  std::vector<std::size_t> all(parts.tensors.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const TensorShape& tensor : parts.tensors) array.elements += padded_elements(tensor);
  array.gradient = parts.array<float>(array.elements + slack);
  lay_out(parts, all, array.gradient, parts.gradients);
  if (parts.keeps_error()) {
    array.error = parts.array<float>(array.elements + slack);
    lay_out(parts, all, array.error, parts.errors);
  }
  return array;
}

float* add_error(ExchangeParts& parts, const GradientArray& array) {
  if (array.error == nullptr) return array.gradient;
  parts.add(array.error, array.gradient, array.error, array.elements);
  return array.error;
}

void add_dense_exchange(ExchangeParts& parts) {
  const GradientArray array = lay_out_all(parts);
  parts.all_reduce(array.gradient, array.elements);
}

Exchange::Exchange(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                   const Device& device, Collectives& collectives)
    : parts_(std::make_unique<ExchangeParts>()) {
  const std::string reason = why_no_exchange(choice);
  if (!reason.empty()) {
    throw Error(choice.where, fmt::format("compressor {} {}", choice.name, reason));
  }
  check_compressor(choice, tensors);
  parts_->choice = with_usual(choice);
  parts_->tensors.assign(tensors.begin(), tensors.end());
  parts_->device = &device;
  parts_->collectives = &collectives;
  find_method(choice.name)->add(*parts_);
}

Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;

float* Exchange::gradient(std::size_t tensor) const {
  return parts_->gradients[tensor];
}

const float* Exchange::error(std::size_t tensor) const {
  return parts_->errors.empty() ? nullptr : parts_->errors[tensor];
}

std::span<const ExchangeStep> Exchange::steps() const {
  return parts_->turns[parts_->runs % parts_->turns.size()];
}

void Exchange::run(const std::function<void(const ExchangeStep&)>& around) {
  for (const ExchangeStep& step : steps()) {
    if (around) {
      around(step);
    } else {
      step.run();
    }
  }
  ++parts_->runs;
}

}  // namespace windtunnel
