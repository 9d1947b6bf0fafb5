#include "validate/harness/step/mlp_step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "kernels/layer/layer_ops.hpp"
#include "kernels/layer/stream_ops.hpp"
#include "kernels/product/gemm.hpp"
#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

constexpr std::uint64_t kSeed = 1;

std::size_t product_of(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

std::byte* bytes_of(float* values) {
  return reinterpret_cast<std::byte*>(values);
}
const std::byte* bytes_of(const float* values) {
  return reinterpret_cast<const std::byte*>(values);
}

}  // namespace

double StepSeconds::total() const {
  return std::accumulate(by_phase.begin(), by_phase.end(), 0.0);
}

// What passes belongs to the phase that is told next.
class MlpStep::Clock {
 public:
  explicit Clock(const Device& device) : device_(device), last_(Time::now()) {}

  void end(StepPhase phase) {
    device_.synchronize();
    const auto now = Time::now();
    const double taken_s = std::chrono::duration<double>(now - last_).count();
    seconds_.of(phase) += taken_s;
    if (device_.disturbed()) seconds_.disturbed += taken_s;
    last_ = Time::now();
  }
  const StepSeconds& seconds() const { return seconds_; }

 private:
  using Time = std::chrono::steady_clock;
  const Device& device_;
  Time::time_point last_;
  StepSeconds seconds_;
};

MlpStep::MlpStep(const MlpPlan& plan, const Device& device, Collectives& collectives)
    : plan_(plan), device_(device) {
  CHECK(collectives.ranks() == plan.ranks, "a plan for {} ranks on {}", plan.ranks,
        collectives.ranks());
  gradients_.resize(plan.tensors.size());
  for (const std::vector<int>& bucket : plan.buckets) {
    std::vector<TensorShape> shapes;
    for (const int tensor : bucket) shapes.push_back(plan.tensors[std::size_t(tensor)].shape);
    exchanges_.emplace_back(plan.compressor, shapes, device, collectives);
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      gradients_[std::size_t(bucket[i])] = exchanges_.back().gradient(i);
    }
  }
  make_weights();
  make_layers();
}

float* MlpStep::array(std::size_t elements) {
  memory_.emplace_back(device_, elements * sizeof(float));
  memory_.back().upload(std::vector<std::byte>(elements * sizeof(float)));
  return reinterpret_cast<float*>(memory_.back().data());
}

// He et al., "Delving deep into rectifiers", 2015: variance 2 / inputs. Biases start at zero.
void MlpStep::make_weights() {
  RandomStream random(kSeed, RandomPurpose::measurement, 1);
  for (const MlpTensor& tensor : plan_.tensors) {
    std::vector<float> values(static_cast<std::size_t>(tensor.shape.elements()));
    const double deviation = tensor.bias ? 0 : std::sqrt(2 / tensor.shape.columns);
    for (float& value : values) value = static_cast<float>(deviation * random.normal());
    float* const there = array(values.size());
    device_.copy(bytes_of(there), bytes_of(values.data()), values.size() * sizeof(float));
    weights_.push_back(there);
    if (plan_.optimizer == Optimizer::adam) {
      moments_.push_back({array(values.size()), array(values.size())});
    }
  }
}

void MlpStep::make_layers() {
  layers_.resize(plan_.layers.size());
  int widest = 0;
  for (const MlpLayer& layer : plan_.layers) widest = std::max(widest, layer.outputs);
  no_bias_ = array(std::size_t(widest));
  no_bias_gradient_ = array(std::size_t(widest));
  const int rows = plan_.rank_batch;
  inputs_ = array(product_of(rows, plan_.layers.front().inputs));
  targets_ = array(product_of(rows, plan_.layers.back().outputs));
  for (Layer& layer : layers_) {
    layer.bias = no_bias_;
    layer.bias_gradient = no_bias_gradient_;
  }
  std::vector<float*> weight_gradients(layers_.size());
  for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
    const MlpTensor& tensor = plan_.tensors[i];
    Layer& layer = layers_[std::size_t(tensor.layer)];
    (tensor.bias ? layer.bias : layer.weight) = weights_[i];
    (tensor.bias ? layer.bias_gradient : weight_gradients[std::size_t(tensor.layer)]) =
        gradients_[i];
  }
  const Gemm& products = gemm(device_.kind);
  float* input = inputs_;
  float* input_gradient = nullptr;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto& [inputs, outputs, has_bias, relu] = plan_.layers[i];
    Layer& layer = layers_[i];
    layer.output = array(product_of(rows, outputs));
    layer.output_gradient = array(product_of(rows, outputs));
    GemmWork work;
    work.m = rows, work.n = outputs, work.k = inputs;
    work.a = bytes_of(input), work.b = bytes_of(layer.weight), work.c = bytes_of(layer.output);
    work.transposed_b = true;
    layer.forward = products.prepared(work);
    work.m = outputs, work.n = inputs, work.k = rows;
    work.a = bytes_of(layer.output_gradient), work.b = bytes_of(input);
    work.c = bytes_of(weight_gradients[i]);
    work.transposed_a = true, work.transposed_b = false;
    layer.backward_weight = products.prepared(work);
    if (input_gradient != nullptr) {
      work.m = rows, work.n = inputs, work.k = outputs;
      work.b = bytes_of(layer.weight), work.c = bytes_of(input_gradient);
      work.transposed_a = false;
      layer.backward_input = products.prepared(work);
    }
    input = layer.output;
    input_gradient = layer.output_gradient;
  }
}

void MlpStep::set_batch(const std::vector<float>& inputs, const std::vector<float>& targets) {
  CHECK(inputs.size() == product_of(plan_.rank_batch, plan_.layers.front().inputs) &&
            targets.size() == product_of(plan_.rank_batch, plan_.layers.back().outputs),
        "a batch of {} inputs and {} targets", inputs.size(), targets.size());
  device_.copy(bytes_of(inputs_), bytes_of(inputs.data()), inputs.size() * sizeof(float));
  device_.copy(bytes_of(targets_), bytes_of(targets.data()), targets.size() * sizeof(float));
}

StepSeconds MlpStep::run() {
  Clock clock(device_);
  ++steps_;
  forward();
  clock.end(StepPhase::forward);
  backward(clock);
  update();
  clock.end(StepPhase::optimizer);
  return clock.seconds();
}

void MlpStep::forward() {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const MlpLayer& shape = plan_.layers[i];
    layers_[i].forward();
    if (!shape.bias && !shape.relu) continue;
    layer_ops(device_.kind)
        .activate(layers_[i].bias, shape.relu, std::size_t(plan_.rank_batch),
                  std::size_t(shape.outputs), layers_[i].output);
  }
}

void MlpStep::backward(Clock& clock) {
  const LayerOps& ops = layer_ops(device_.kind);
  const auto rows = std::size_t(plan_.rank_batch);
  const auto samples = static_cast<float>(plan_.rank_batch * plan_.ranks);
  ops.error_gradient(layers_.back().output, targets_, 1 / samples,
                     rows * std::size_t(plan_.layers.back().outputs),
                     layers_.back().output_gradient);
  std::size_t bucket = 0;
  int done = 0;  // tensors
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const MlpLayer& shape = plan_.layers[i];
    const Layer& layer = layers_[i];
    if (shape.bias || shape.relu) {
      ops.activation_gradient(shape.relu ? layer.output : nullptr, rows, std::size_t(shape.outputs),
                              layer.output_gradient, layer.bias_gradient);
    }
    layer.backward_weight();
    if (layer.backward_input) layer.backward_input();
    clock.end(StepPhase::backward);
    done += shape.bias ? 2 : 1;
    for (; bucket < exchanges_.size() && plan_.buckets[bucket].back() < done; ++bucket) {
      exchange(bucket, clock);
    }
  }
}

void MlpStep::exchange(std::size_t bucket, Clock& clock) {
  exchanges_[bucket].run([&](const ExchangeStep& step) {
    step.run();
    clock.end(step.communicates() ? StepPhase::communicate : StepPhase::compress);
  });
}

void MlpStep::update() {
  const StreamOps& ops = stream_ops(device_.kind);
  AdamSettings adam;
  adam.learning_rate = plan_.learning_rate;
  adam.step = steps_;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const auto elements = static_cast<std::size_t>(plan_.tensors[i].shape.elements());
    if (plan_.optimizer == Optimizer::adam) {
      ops.adam(adam, gradients_[i], weights_[i], moments_[i][0], moments_[i][1], elements);
    } else {
      ops.sgd(static_cast<float>(plan_.learning_rate), gradients_[i], weights_[i], elements);
    }
  }
}

KernelSteps MlpStep::work() const {
  KernelSteps steps;
  const auto product = [&](int m, int n, int k) {
    KernelWork work;
    work.kernel = "gemm";
    work.m = m, work.n = n, work.k = k;
    steps.push_back({work});
  };
  const auto pass = [&](const char* kernel, double elements) {
    KernelWork work;
    work.kernel = kernel;
    work.elements = elements;
    steps.push_back({work});
  };
  const int rows = plan_.rank_batch;
  for (const MlpLayer& layer : plan_.layers) {
    product(rows, layer.outputs, layer.inputs);
    if (layer.bias || layer.relu) pass("scale", double(rows) * layer.outputs);
  }
  pass("add", double(rows) * plan_.layers.back().outputs);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const MlpLayer& layer = plan_.layers[i];
    if (layer.relu) pass("add", double(rows) * layer.outputs);
    product(layer.outputs, layer.inputs, rows);
    if (i > 0) product(rows, layer.inputs, layer.outputs);
  }
  for (const Exchange& exchange : exchanges_) {
    for (const ExchangeStep& step : exchange.steps()) steps.push_back({step.work});
  }
  for (const MlpTensor& tensor : plan_.tensors) {
    pass(plan_.optimizer == Optimizer::adam ? "adam" : "sgd", tensor.shape.elements());
  }
  return steps;
}

double MlpStep::loss() const {
  const std::size_t elements = product_of(plan_.rank_batch, plan_.layers.back().outputs);
  std::vector<float> outputs(elements);
  std::vector<float> targets(elements);
  device_.copy(bytes_of(outputs.data()), bytes_of(layers_.back().output), elements * sizeof(float));
  device_.copy(bytes_of(targets.data()), bytes_of(targets_), elements * sizeof(float));
  double sum = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const double off = double(outputs[i]) - targets[i];
    sum += off * off / 2;
  }
  return sum;
}

std::vector<float> MlpStep::weights(std::size_t tensor) const {
  std::vector<float> values(static_cast<std::size_t>(plan_.tensors[tensor].shape.elements()));
  device_.copy(bytes_of(values.data()), bytes_of(weights_[tensor]), values.size() * sizeof(float));
  return values;
}

}  // namespace windtunnel
