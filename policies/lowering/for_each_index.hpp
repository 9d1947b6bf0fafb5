// Independent parts of a work on several threads, with results that do not depend on how many.
#pragma once

#include <cstddef>
#include <functional>

namespace windtunnel {

// work(i) for each i below `count`, in any order; every i writes its own results. `threads` 0: all
// cores. Where one throws, no more are begun, and what the first i that failed threw is thrown.
void for_each_index(size_t count, int threads, const std::function<void(size_t)>& work);

}  // namespace windtunnel
