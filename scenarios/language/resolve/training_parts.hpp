// The members of a Training as the lists of names that a scenario states.
#pragma once

#include <string>
#include <vector>

#include "models/workload/training.hpp"

namespace windtunnel {

// The matrices that an adapter is on, as the shortest list for "train.adapter.on": adapter_on() of
// it gives the same matrices.
std::vector<std::string> adapter_matrices(const Adapter& adapter);

// The parts that are not trained, as "train.frozen" lists them.
std::vector<std::string> frozen_parts(const Training& training);

}  // namespace windtunnel
