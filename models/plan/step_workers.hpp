// The workers of a step (models/reliability/stragglers/redundancy.hpp): replicas that wait for each
// other in its passes are one, because they gather weights from each other (ZeRO-3) or send tokens
// to experts that they share.
#pragma once

#include "models/workload/layout.hpp"

namespace windtunnel {

int replicas_of_worker(const Layout& layout);  // replicas that are one worker together
int step_workers(const Layout& layout);        // of an island, if there are islands

}  // namespace windtunnel
