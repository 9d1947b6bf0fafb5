// Exchanges consist of buffers on the device, tensors laid out in them, and steps. Each family of
// methods has one function that adds its own.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "models/compression/compressor.hpp"
#include "tests/validate/harness/exchange/exchange.hpp"

namespace windtunnel {

struct ExchangeParts {
  CompressorChoice choice;  // with its default numbers
  std::vector<TensorShape> tensors;
  const Device* device;
  Collectives* collectives;

  std::vector<DeviceBuffer> memory;
  std::vector<float*> gradients;  // per tensor
  std::vector<float*> errors;     // per tensor, or empty
  // A run starts the steps of one turn, and the next run starts the steps of the next turn.
  std::vector<std::vector<ExchangeStep>> turns = {{}};
  std::uint64_t runs = 0;

  int ranks() const { return collectives->ranks(); }
  bool keeps_error() const { return choice.feedback == ErrorFeedback::ef; }

  // Allocates a buffer of zeros.
  template <typename T>
  T* array(std::size_t count) {
    return reinterpret_cast<T*>(zeros(count * sizeof(T)));
  }
  std::byte* zeros(std::size_t size_bytes);
  void fill(float* there, const std::vector<float>& values) const;

  // Adds steps to the turn that was opened last.
  void kernel(std::string_view name, double elements, std::function<void()> run);
  void kernel(KernelWork work, std::function<void()> run);
  void add(const float* a, const float* b, float* c, std::size_t elements);
  void copy(void* to, const void* from, std::size_t size_bytes);
  void all_reduce(float* values, std::size_t elements);
  void all_gather(const void* part, void* all, std::size_t part_bytes);
  void all_to_all(const void* out, void* in, std::size_t part_bytes);
};

// Tensors follow one another, each padded to kTensorElements, as products need them.
constexpr std::size_t kTensorElements = 64;
std::size_t elements_of(const TensorShape& tensor);
std::size_t padded_elements(const TensorShape& tensor);
// Finds the places of the `chosen` tensors from `start` on.
void lay_out(const ExchangeParts& parts, std::span<const std::size_t> chosen, float* start,
             std::vector<float*>& places);

// Holds all tensors in one array.
struct GradientArray {
  float* gradient = nullptr;
  float* error = nullptr;  // nullptr if the method keeps none
  std::size_t elements = 0;
};
// `slack` is the number of elements added after both arrays.
GradientArray lay_out_all(ExchangeParts& parts, std::size_t slack = 0);
// Adds the gradient to the error if one is kept, and returns the array that is to be compressed.
float* add_error(ExchangeParts& parts, const GradientArray& array);

void add_dense_exchange(ExchangeParts& parts);
void add_quantised_exchange(ExchangeParts& parts);
void add_sign_exchange(ExchangeParts& parts);
void add_ternary_exchange(ExchangeParts& parts);
void add_power_sgd_exchange(ExchangeParts& parts);
void add_acp_sgd_exchange(ExchangeParts& parts);
void add_top_k_exchange(ExchangeParts& parts);
void add_threshold_exchange(ExchangeParts& parts);
void add_random_k_exchange(ExchangeParts& parts);
void add_sketch_exchange(ExchangeParts& parts);

}  // namespace windtunnel
