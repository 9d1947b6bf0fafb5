#include "sim/engine/child.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "models/base/error.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

// Returns the bytes that `body` writes in a child process.
std::string bytes_of(const std::function<std::string()>& body) {
  std::string bytes;
  run_in_child(
      [&](PipeWriter& out) {
        const std::string sent = body();
        out.put(sent.size());
        out.put_bytes(sent.data(), sent.size());
      },
      [&](PipeReader& in) {
        std::size_t size = 0;
        in.get(size);
        bytes.resize(size);
        in.get_bytes(bytes.data(), size);
      });
  return bytes;
}

TEST(Child, ReturnsBytes) {
  std::string large(3'000'000, 'x');
  large[17] = '\0';
  EXPECT_EQ(bytes_of([&] { return large; }), large);
  EXPECT_EQ(bytes_of([] { return std::string(); }), "");
}

TEST(Child, ThrowsAgainWhatTheChildThrew) {
  EXPECT_EQ(
      error_of(
          [&] {
            bytes_of([]() -> std::string { throw Error("user: \xc3\xa9", ExitCode::incomplete); });
          },
          ExitCode::incomplete),
      "user: \xc3\xa9");
  EXPECT_THROW(bytes_of([]() -> std::string { throw InternalError("ours"); }), InternalError);
  EXPECT_THROW(bytes_of([]() -> std::string { throw std::bad_alloc(); }), InternalError);
}

TEST(Child, ADeadChildIsAnError) {
  const auto message_of = [](auto body) {
    return error_of([&] { bytes_of(body); }, ExitCode::failed);
  };
  EXPECT_EQ(message_of([]() -> std::string {
              std::raise(SIGKILL);
              return "";
            }),
            "the simulation was killed by signal 9 (Killed)");
  EXPECT_EQ(message_of([]() -> std::string { _exit(0); }), "the simulation ended without a result");
  EXPECT_EQ(message_of([]() -> std::string { _exit(3); }), "the simulation ended without a result");
}

// Small values stand between large ones, some of which just fill or exceed a buffer.
TEST(Child, ReturnsValuesOfEverySize) {
  for (const std::size_t size : {0, 1, 65535, 65536, 65537, 200'000}) {
    const std::vector<char> sent(size, 'x');
    std::vector<char> first, second;
    int between = 0;
    run_in_child(
        [&](PipeWriter& out) {
          out.put(sent);
          out.put(17);
          out.put(sent);
        },
        [&](PipeReader& in) {
          in.get(first);
          in.get(between);
          in.get(second);
        });
    EXPECT_EQ(first, sent);
    EXPECT_EQ(between, 17);
    EXPECT_EQ(second, sent);
  }
}

TEST(Child, AResultThatIsCutIsAnError) {
  const auto message_of = [](const std::function<void()>& end) {
    const auto body = [&](PipeWriter& out) {
      out.put(std::vector<char>(100'000, 'x'));
      end();
    };
    const auto read = [](PipeReader& in) {
      std::vector<char> first, second;
      in.get(first);
      in.get(second);
    };
    return error_of([&] { run_in_child(body, read); }, ExitCode::failed);
  };
  EXPECT_EQ(message_of([] { _exit(0); }), "the simulation ended without a result");
  EXPECT_EQ(message_of([] { throw Error("late"); }), "the simulation ended without a result");
  EXPECT_EQ(message_of([] { std::raise(SIGKILL); }),
            "the simulation was killed by signal 9 (Killed)");
}

// When the reader gives up, the child is still writing; it ends all the same.
TEST(Child, WhatTheReaderThrowsGoesOn) {
  const auto body = [](PipeWriter& out) { out.put(std::vector<char>(10'000'000, 'x')); };
  const auto read = [](PipeReader& in) {
    std::size_t size = 0;
    in.get(size);
    throw Error("not this");
  };
  EXPECT_EQ(error_of([&] { run_in_child(body, read); }), "not this");
}

TEST(Child, DoesNotRepeatBufferedOutput) {
  ::testing::internal::CaptureStdout();
  std::fputs("once", stdout);
  bytes_of([] { return std::string("x"); });
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "once");
}

}  // namespace
}  // namespace windtunnel
