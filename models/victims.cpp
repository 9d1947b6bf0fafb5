#include "models/victims.hpp"

#include "models/base/error.hpp"

namespace windtunnel {

double node_hazard(const FailureClass& failure_class, std::uint64_t, std::uint64_t, int) {
  CHECK(failure_class.frailty_variance == 0, "frailty");
  return 1;
}

Victims::Victims(const FailureClass& failure_class, int slots, std::uint64_t seed,
                 std::uint64_t index)
    : class_(&failure_class),
      slots_(slots),
      victim_random_(seed, RandomPurpose::victim, index),
      batch_random_(seed, RandomPurpose::batch, index),
      sum_(slots) {}

void Victims::set_hazard(int, double) {}

double Victims::speed() const {
  return sum_ / slots_;
}

void Victims::draw(std::vector<int>& hit) {
  hit.assign(1, one());
}

int Victims::one() {
  return static_cast<int>(victim_random_.below(slots_));
}

}  // namespace windtunnel
