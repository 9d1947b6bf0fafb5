// What a Training says, in the words of the lists that a scenario says it by.
#pragma once

#include <string>
#include <vector>

#include "models/workload/training.hpp"

namespace windtunnel {

// The matrices that an adapter is on, in the fewest names of "train.adapter.on": adapter_on() of
// them is on the same.
std::vector<std::string> adapter_matrices(const Adapter& adapter);

// The parts that are not trained, as "train.frozen" has them.
std::vector<std::string> frozen_parts(const Training& training);

}  // namespace windtunnel
