// Turns a failed call of cuBLAS or cuBLASLt into an Error with the call and the library's message.
#pragma once

#include <cublasLt.h>

#include "models/base/error.hpp"

namespace windtunnel {

inline void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(fmt::format("{}: {}", call, cublasLtGetStatusString(status)), ExitCode::failed);
}

}  // namespace windtunnel

#define CHECK_CUBLAS(call) ::windtunnel::check_cublas((call), #call)
