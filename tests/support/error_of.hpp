// The message of the user's fault that a call meets.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "models/base/error.hpp"

namespace windtunnel {

// Where the environment names a file, each message goes there under the test that meets it: what
// ./dev answers compares.
inline void tell_message(std::string message) {
  const char* file = std::getenv("WINDTUNNEL_TELL_MESSAGES");
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  if (file == nullptr || test == nullptr) return;
  for (std::size_t at = 0; (at = message.find('\n', at)) != std::string::npos;) message[at] = ' ';
  std::ofstream(file, std::ios::app)
      << test->test_suite_name() << '.' << test->name() << " = " << message << '\n';
}

// "no error" where the call throws none.
inline std::string error_of(const std::function<void()>& call, ExitCode code = ExitCode::usage) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    tell_message(error.what());
    return error.what();
  }
  return "no error";
}

// Whether the call throws an Error that says so, among other things.
inline ::testing::AssertionResult fails(const std::function<void()>& call, const std::string& why,
                                        ExitCode code = ExitCode::usage) {
  const std::string error = error_of(call, code);
  if (error.find(why) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << why << "' is not in: " << error;
}

}  // namespace windtunnel
