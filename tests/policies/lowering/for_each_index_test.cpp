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

TEST(ForEachIndex, TheFirstFailureIsThrownAfterAllHaveRun) {
  for (const int threads : {1, 4}) {
    std::atomic<int> ran{0};
    try {
      for_each_index(20, threads, [&](size_t i) {
        ++ran;
        if (i == 7 || i == 13) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
    EXPECT_EQ(ran, 20);
  }
}

}  // namespace
}  // namespace windtunnel
