// The message of the user's fault that a call meets.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "models/base/error.hpp"

namespace windtunnel {

// "no error" where the call throws none.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

}  // namespace windtunnel
