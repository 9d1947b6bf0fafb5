// Runs independent parts of a computation on several threads; results do not depend on the number
// of threads.
#pragma once

#include <cstddef>
#include <functional>

namespace windtunnel {

// Calls work(i) for each i below `count`, in any order; every i must write its own results.
// `threads` 0: all cores. After an exception no more are started, and the exception of the lowest
// failed i is thrown.
void for_each_index(size_t count, int threads, const std::function<void(size_t)>& work);

}  // namespace windtunnel
