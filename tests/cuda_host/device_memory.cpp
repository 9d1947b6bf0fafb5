#include "tests/cuda_host/device_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace cuda_host {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kAlignment = 16;  // that of the widest access; CUDA aligns to 256
constexpr int kFill = 0xcb;

struct Array {
  std::byte* pages;
  std::size_t pages_bytes;  // without the guard page behind them
  std::size_t size;
};

struct Memory {
  std::map<void*, Array> arrays;
  std::size_t used = 0;
  int open = 0;
};

Memory& memory() {
  static Memory one;
  return one;
}

void protect(const Array& array, int rights) {
  if (mprotect(array.pages, array.pages_bytes, rights) != 0) std::abort();
}

void protect_all(int rights) {
  for (const auto& entry : memory().arrays) protect(entry.second, rights);
}

// Bytes between the array's end and the guard.
void check_tail(const std::byte* start, const Array& array) {
  const std::byte* const end = array.pages + array.pages_bytes;
  const bool whole = std::all_of(start + array.size, end,
                                 [](std::byte value) { return value == std::byte{kFill}; });
  if (whole) return;
  std::fprintf(stderr, "cuda_host: written behind the end of %zu bytes\n", array.size);
  std::abort();
}

}  // namespace

void* allocate_device(std::size_t size) {
  Memory& here = memory();
  if (size > kDeviceBytes - here.used) return nullptr;
  const std::size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t bytes = (rounded + kPage - 1) / kPage * kPage;
  void* const pages = mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(pages);
  if (bytes >= kHugePage) madvise(first, bytes, MADV_HUGEPAGE);  // mprotect visits fewer pages
  std::memset(first, kFill, bytes);
  std::byte* const start = first + (bytes - rounded);  // its end meets the guard
  const Array array = {first, bytes, size};
  mprotect(first + bytes, kPage, PROT_NONE);
  protect(array, here.open > 0 ? PROT_READ | PROT_WRITE : PROT_NONE);
  here.used += size;
  here.arrays[start] = array;
  return start;
}

void free_device(void* start) {
  Memory& here = memory();
  const auto found = here.arrays.find(start);
  if (found == here.arrays.end()) {
    std::fprintf(stderr, "cuda_host: frees what is not the device's\n");
    std::abort();
  }
  const Array array = found->second;
  protect(array, PROT_READ);
  check_tail(static_cast<const std::byte*>(start), array);
  here.used -= array.size;
  here.arrays.erase(found);
  munmap(array.pages, array.pages_bytes + kPage);
}

std::size_t free_device_bytes() {
  return kDeviceBytes - memory().used;
}

OnDevice::OnDevice() {
  if (memory().open++ == 0) protect_all(PROT_READ | PROT_WRITE);
}
OnDevice::~OnDevice() {
  if (--memory().open == 0) protect_all(PROT_NONE);
}

}  // namespace cuda_host
