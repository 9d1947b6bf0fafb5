// The workers of a step (models/reliability/stragglers/redundancy.hpp). Replicas that wait for each
// other inside the passes count as one worker: those that gather weights from each other (ZeRO-3)
// or send tokens to shared experts.
#pragma once

#include "models/workload/layout.hpp"

namespace windtunnel {

int replicas_of_worker(const Layout& layout);  // number of replicas that form one worker
int step_workers(const Layout& layout);        // in one island, if there are islands

}  // namespace windtunnel
