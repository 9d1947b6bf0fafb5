#include "policies/lowering/for_each_index.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace windtunnel {
namespace {

TEST(ForEachIndex, EveryIndexOnceOnAnyNumberOfThreads) {
  for (const int threads : {0, 1, 3, 200}) {
    std::vector<std::atomic<int>> visits(100);
    for_each_index(visits.size(), threads, [&](size_t i) { ++visits[i]; });
    for (const std::atomic<int>& count : visits) EXPECT_EQ(count, 1);
  }
  for_each_index(0, 2, [](size_t) { FAIL(); });
}

TEST(ForEachIndex, TheFirstFailureIsThrownAndNoMoreAreBegun) {
  for (const int threads : {1, 4}) {
    std::vector<std::atomic<int>> ran(1000);
    try {
      for_each_index(ran.size(), threads, [&](size_t i) {
        ++ran[i];
        if (i >= 7) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
    for (size_t i = 0; i <= 7; ++i) EXPECT_EQ(ran[i], 1) << i;
    for (size_t i = 7 + threads; i < ran.size(); ++i) EXPECT_EQ(ran[i], 0) << i;
  }
}

}  // namespace
}  // namespace windtunnel
