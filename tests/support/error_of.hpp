// Returns the message of the Error that a call throws.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "models/base/error.hpp"

namespace windtunnel {

// If the environment names a file, appends each message to it with the name of the test. `./dev
// answers` compares the file.
inline void tell_message(std::string message) {
  const char* file = std::getenv("WINDTUNNEL_TELL_MESSAGES");
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  if (file == nullptr || test == nullptr) return;
  for (std::size_t at = 0; (at = message.find('\n', at)) != std::string::npos;) message[at] = ' ';
  std::ofstream(file, std::ios::app)
      << test->test_suite_name() << '.' << test->name() << " = " << message << '\n';
}

// Returns "no error" if the call throws none.
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

// Returns whether the call throws an Error whose message contains `why`.
inline ::testing::AssertionResult fails(const std::function<void()>& call, const std::string& why,
                                        ExitCode code = ExitCode::usage) {
  const std::string error = error_of(call, code);
  if (error.find(why) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << why << "' is not in: " << error;
}

}  // namespace windtunnel
