// Runs independent parts of a computation on several threads. Results do not depend on the number
// of threads.
#pragma once

#include <cstddef>
#include <functional>

namespace windtunnel {

// Calls work(i) for each i below `count`, in any order; each call must write to a place that no
// other call uses. `threads` 0: all cores. After an exception no further calls start, and the
// exception of the lowest i that failed is thrown.
void for_each_index(size_t count, int threads, const std::function<void(size_t)>& work);

}  // namespace windtunnel
