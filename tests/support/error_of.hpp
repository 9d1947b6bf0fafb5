// The message of the user's fault that a call meets.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "models/base/error.hpp"

namespace windtunnel {

// "no error" where the call throws none.
inline std::string error_of(const std::function<void()>& call, ExitCode code = ExitCode::usage) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
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
