// One data-parallel step of a multi-layer perceptron, for real: what predictions of steps are
// judged on. Forward, gradient of a squared error, backward; each bucket of gradients is exchanged
// as soon as it is full, while nothing is computed, because the cores that compute also send; then
// the optimizer.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "kernels/device/device.hpp"
#include "validate/harness/collectives/collectives.hpp"
#include "validate/harness/exchange/exchange.hpp"
#include "validate/harness/step/mlp_plan.hpp"

namespace windtunnel {

enum class StepPhase { forward, backward, compress, communicate, optimizer };
constexpr std::array<std::string_view, 5> kStepPhases = {"forward", "backward", "compress",
                                                         "communicate", "optimizer"};

// Waiting for other ranks counts as communicating.
struct StepSeconds {
  std::array<double, kStepPhases.size()> by_phase = {};
  double disturbed = 0;  // of all, in parts at whose end others took from the device

  double& of(StepPhase phase) { return by_phase[static_cast<std::size_t>(phase)]; }
  double of(StepPhase phase) const { return by_phase[static_cast<std::size_t>(phase)]; }
  double total() const;
};

class MlpStep {
 public:
  // All ranks with the same plan, and the same weights: normal numbers by a seed. `collectives` has
  // as many ranks as the plan.
  MlpStep(const MlpPlan& plan, const Device& device, Collectives& collectives);

  // Rows of this rank: rank_batch x inputs of the first layer, x outputs of the last.
  void set_batch(const std::vector<float>& inputs, const std::vector<float>& targets);

  // The host waits for the device where a phase ends.
  StepSeconds run();

  // Of this rank's samples before the last step: the sum of |y - target|^2 / 2.
  double loss() const;
  std::vector<float> weights(std::size_t tensor) const;
  // What a step runs, in turn: measured kernels, or those whose bytes it moves.
  KernelSteps work() const;

 private:
  struct Layer {
    std::function<void()> forward;
    std::function<void()> backward_weight;
    std::function<void()> backward_input;  // empty: nobody asks for it
    float* weight = nullptr;
    float* bias = nullptr;  // nullptr: none
    float* bias_gradient = nullptr;
    float* output = nullptr;
    float* output_gradient = nullptr;
  };
  class Clock;

  float* array(std::size_t elements);
  void make_weights();
  void make_layers();
  void forward();
  void backward(Clock& clock);
  void exchange(std::size_t bucket, Clock& clock);
  void update();

  MlpPlan plan_;
  const Device& device_;
  std::vector<DeviceBuffer> memory_;
  std::vector<Exchange> exchanges_;
  std::vector<float*> gradients_;  // by tensor
  std::vector<float*> weights_;
  std::vector<std::array<float*, 2>> moments_;  // of Adam
  std::vector<Layer> layers_;
  float* inputs_ = nullptr;
  float* targets_ = nullptr;
  float* no_bias_ = nullptr;           // zeros, for layers without one
  float* no_bias_gradient_ = nullptr;  // which nobody reads
  int steps_ = 0;
};

}  // namespace windtunnel
