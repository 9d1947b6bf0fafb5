// Values of a YAML that refer to others, as OmegaConf has them: "${.hidden_size}",
// "${model.tensor_model_parallel_size}", "${multiply:4, ${.hidden_size}}", "${oc.env:NAME,8}", and
// "${NAME:8}" for a variable of the environment.
#pragma once

#include <vector>

#include "scenarios/language/configs/setting.hpp"

namespace windtunnel {

// What refers to no setting, or to one in a circle, stays as written. A variable of the environment
// is what stands behind its ':'.
std::vector<Setting> with_interpolations(std::vector<Setting> settings);

}  // namespace windtunnel
