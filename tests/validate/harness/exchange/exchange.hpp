// Data-parallel ranks really exchange a buffer of gradients here, with kernels of a device and
// Collectives, in the order of the recipe that the simulator costs (models/compression). Its
// measured times judge that recipe.
//
// An exchange differs from a recipe if kernels or collectives do not exist as costed. The
// differences are listed in docs/reference/harness.md, "Exchanges that really run"; a test checks
// that there are no others.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "models/calibration/kernel_work.hpp"
#include "models/compression/recipe.hpp"
#include "validate/harness/collectives/collectives.hpp"

namespace windtunnel {

struct ExchangeParts;

// `work` is the measured kernel or collective that the step is, or whose bytes it moves.
struct ExchangeStep {
  KernelWork work;
  std::function<void()> run;

  bool communicates() const { return kernel_kind(work.kernel).family == KernelFamily::collective; }
};

// Returns "" if exchanges by this method can run; otherwise says what they lack, as the end of a
// sentence that starts with the method's name.
std::string why_no_exchange(const CompressorChoice& choice);

class Exchange {
 public:
  // All ranks pass the same arguments. Throws Error if the exchange cannot run.
  Exchange(const CompressorChoice& choice, std::span<const TensorShape> tensors,
           const Device& device, Collectives& collectives);
  ~Exchange();
  Exchange(Exchange&&) noexcept;

  // Returns the tensor's rows in device memory, aligned to 256 bytes. Before a run they hold the
  // rank's own gradient; afterwards the sum over all ranks of what was sent (signsgd without
  // feedback: 1 or -1, by majority).
  float* gradient(std::size_t tensor) const;
  // Returns what the rank has not sent yet, in the same form, or nullptr if nothing is kept.
  const float* error(std::size_t tensor) const;

  // Returns the steps of the next run.
  std::span<const ExchangeStep> steps() const;
  // Starts all steps; if `around` is given, it is called for each step and starts it.
  void run(const std::function<void(const ExchangeStep&)>& around = {});

 private:
  std::unique_ptr<ExchangeParts> parts_;
};

}  // namespace windtunnel
