// What the log of a simulated job would say.
#pragma once

#include "models/results/record.hpp"
#include "sim/study/diagnose/diagnose.hpp"

namespace windtunnel {

// Megatron's timers, as they would read the recorded ranks of the reported iteration: forward and
// backward passes of the rank that is least and most in them, with the collectives inside of them.
// What a rank waits for its gradients is what the critical path has of them: the rank that comes
// last does not wait for others.
PredictedLog predicted_log(const Record& record);

}  // namespace windtunnel
