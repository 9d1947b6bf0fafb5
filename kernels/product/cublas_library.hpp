// cuBLAS and cuBLASLt are opened on the first call of one of their functions, so that the program
// starts, and measures everything else, without them. cublas_library.cpp defines the functions that
// the project uses; nothing links the libraries themselves.
#pragma once

#include <string>

namespace windtunnel {

// Empty if both libraries can be opened, else the reason why not. Calling one of their functions
// anyway throws Error with this reason.
std::string why_no_cublas();

}  // namespace windtunnel
