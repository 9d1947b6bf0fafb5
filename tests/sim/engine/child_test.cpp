#include "sim/engine/child.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "models/base/error.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TEST(Child, ReturnsBytes) {
  std::string large(3'000'000, 'x');
  large[17] = '\0';
  EXPECT_EQ(run_in_child([&] { return large; }), large);
  EXPECT_EQ(run_in_child([] { return std::string(); }), "");
}

TEST(Child, ThrowsAgainWhatTheChildThrew) {
  EXPECT_EQ(error_of(
                [&] {
                  run_in_child(
                      []() -> std::string { throw Error("user: \xc3\xa9", ExitCode::incomplete); });
                },
                ExitCode::incomplete),
            "user: \xc3\xa9");
  EXPECT_THROW(run_in_child([]() -> std::string { throw InternalError("ours"); }), InternalError);
  EXPECT_THROW(run_in_child([]() -> std::string { throw std::bad_alloc(); }), InternalError);
}

TEST(Child, ADeadChildIsAnError) {
  const auto message_of = [](auto body) {
    return error_of([&] { run_in_child(body); }, ExitCode::failed);
  };
  EXPECT_EQ(message_of([]() -> std::string {
              std::raise(SIGKILL);
              return "";
            }),
            "the simulation was killed by signal 9 (Killed)");
  EXPECT_EQ(message_of([]() -> std::string { _exit(0); }), "the simulation ended without a result");
  EXPECT_EQ(message_of([]() -> std::string { _exit(3); }), "the simulation ended without a result");
}

TEST(Child, DoesNotRepeatBufferedOutput) {
  ::testing::internal::CaptureStdout();
  std::fputs("once", stdout);
  run_in_child([] { return std::string("x"); });
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "once");
}

}  // namespace
}  // namespace windtunnel
