// cuBLAS and cuBLASLt are opened when the first of their functions is called, so that the program
// starts, and measures all else, where they are missing. cublas_library.cpp defines the functions
// that the project uses; nothing links the libraries themselves.
#pragma once

#include <string>

namespace windtunnel {

// Empty where both libraries can be opened, else the reason why not. A function of theirs that is
// called all the same throws Error with it.
std::string why_no_cublas();

}  // namespace windtunnel
