// Arrays of compressors are aligned to 16 bytes, the width of one access of a CUDA thread.
// Allocators and the gradient buckets of frameworks provide this alignment.
#pragma once

#include <cstdint>

#include "models/base/error.hpp"

namespace windtunnel {

template <typename... Pointers>
void check_alignment(const Pointers*... pointers) {
  const std::uintptr_t all = (reinterpret_cast<std::uintptr_t>(pointers) | ...);
  CHECK(all % 16 == 0, "arrays of compressors are aligned to 16 bytes");
}

}  // namespace windtunnel
