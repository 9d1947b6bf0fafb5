#include "policies/lowering/for_each_index.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "models/base/sanitizers.hpp"

namespace windtunnel {
void for_each_index(size_t count, int threads, const std::function<void(size_t)>& work) {
  // Iterations are simulated in forked children. In a child glibc's malloc() works whatever other
  // threads were doing at the fork, but that of AddressSanitizer hangs if another thread held its
  // lock (GCC 12). ThreadSanitizer still gets all threads, because it checks them.
  if (kAddressSanitizer) threads = 1;
  if (threads <= 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::exception_ptr> failures(count);
  std::atomic<size_t> next{0};
  std::atomic<bool> failed = false;
  // Every index that was taken is completed, so all indices before a failed one have been tried.
  // Which failure is thrown thus does not depend on the threads.
  const auto drain = [&] {
    while (!failed) {
      const size_t i = next++;
      if (i >= count) return;
      try {
        work(i);
      } catch (...) {
        failures[i] = std::current_exception();
        failed = true;
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < threads && static_cast<size_t>(i) < count; ++i) helpers.emplace_back(drain);
    drain();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace windtunnel
