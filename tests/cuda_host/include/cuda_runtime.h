// The part of CUDA that the project uses, on the host: its words, in which the compiler of the host
// reads the .cu files, and its runtime (CUDA Runtime API and C++ Programming Guide,
// docs.nvidia.com). Kernels run thread by thread on fibers (threads.cpp), calls of streams, events
// and graphs are obeyed as late as they may be (runtime.cpp). What it sees of what CUDA leaves
// undefined ends the program: accesses beyond an array or from the host, unaligned ones, threads
// that wait for others which do not come; calls that a capture refuses fail. It does not see shared
// memory that is read before it is written, races between two barriers, a missing fence, and what
// is for devices alone: PTX, products that are fused with sums.
#pragma once

#include <float.h>
#include <math.h>  // fabsf, as CUDA has it

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __shared__ static  // one block runs at a time

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}
inline unsigned max(unsigned a, unsigned b) {
  return a > b ? a : b;
}

extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;

namespace cuda_host {

enum class Meeting { none, block, warp, shuffle, ballot, reduce };

// Waits for all threads of the block, or of the warp; of a warp, returns what each lane gave.
void meet_block();
const std::uint64_t* meet_warp(Meeting kind, unsigned lanes, std::uint64_t given);

template <typename Value>
std::uint64_t bits_of(Value value) {
  if constexpr (sizeof(Value) == 8) {
    return std::bit_cast<std::uint64_t>(value);
  } else {
    return std::bit_cast<std::uint32_t>(value);
  }
}
template <typename Value>
Value value_of(std::uint64_t bits) {
  if constexpr (sizeof(Value) == 8) {
    return std::bit_cast<Value>(bits);
  } else {
    return std::bit_cast<Value>(static_cast<std::uint32_t>(bits));
  }
}

[[noreturn]] void fail(const char* what);

inline void check_aligned(const void* at, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(at) % bytes != 0) fail("an access that is not aligned");
}

inline unsigned lane() {
  return threadIdx.x % 32;
}

}  // namespace cuda_host

inline void __syncthreads() {
  cuda_host::meet_block();
}
inline void __syncwarp(unsigned lanes = 0xffffffffu) {
  cuda_host::meet_warp(cuda_host::Meeting::warp, lanes, 0);
}
inline void __threadfence() {}

template <typename Value>
Value shuffled(unsigned lanes, Value value, unsigned from) {
  const std::uint64_t* const all =
      cuda_host::meet_warp(cuda_host::Meeting::shuffle, lanes, cuda_host::bits_of(value));
  return cuda_host::value_of<Value>(all[from]);
}
template <typename Value>
Value __shfl_sync(unsigned lanes, Value value, unsigned from) {
  return shuffled(lanes, value, from % 32);
}
template <typename Value>
Value __shfl_xor_sync(unsigned lanes, Value value, unsigned mask) {
  return shuffled(lanes, value, cuda_host::lane() ^ mask);
}
template <typename Value>
Value __shfl_up_sync(unsigned lanes, Value value, unsigned distance) {
  const unsigned own = cuda_host::lane();
  return shuffled(lanes, value, own < distance ? own : own - distance);
}
unsigned __ballot_sync(unsigned lanes, bool vote);
unsigned __reduce_max_sync(unsigned lanes, unsigned value);

// Fibers change only where they wait, so that each of these is whole.
template <typename Value>
Value atomicAdd(Value* at, Value more) {
  const Value before = *at;
  *at += more;
  return before;
}
// The memory of a device adds floats so (PTX ISA, atom.add.f32).
inline float without_subnormals(float value) {
  return fabsf(value) < FLT_MIN ? copysignf(0, value) : value;
}
template <>
inline float atomicAdd(float* at, float more) {
  const float before = *at;
  *at = without_subnormals(without_subnormals(before) + without_subnormals(more));
  return before;
}
inline unsigned atomicMax(unsigned* at, unsigned value) {
  const unsigned before = *at;
  *at = std::max(before, value);
  return before;
}

template <typename Value>
Value __ldcs(const Value* from) {
  cuda_host::check_aligned(from, sizeof(Value));
  return *from;
}
template <typename Value>
Value __ldcg(const Value* from) {
  return __ldcs(from);
}
template <typename Value>
Value __ldg(const Value* from) {
  return __ldcs(from);
}
template <typename Value>
void __stcs(Value* to, Value value) {
  cuda_host::check_aligned(to, sizeof(Value));
  *to = value;
}
inline unsigned __popc(unsigned word) {
  return static_cast<unsigned>(std::popcount(word));
}
inline int __ffs(int word) {
  return word == 0 ? 0 : std::countr_zero(static_cast<unsigned>(word)) + 1;
}

enum cudaError_t {
  cudaSuccess,
  cudaErrorInvalidValue,
  cudaErrorMemoryAllocation,
  cudaErrorInvalidConfiguration,
  cudaErrorInvalidDevice,
  cudaErrorNotReady,
  cudaErrorNotSupported,
  cudaErrorStreamCaptureUnsupported,
  cudaErrorStreamCaptureInvalidated,
  cudaErrorStreamCaptureUnjoined,
  cudaErrorStreamCaptureIsolation,
};
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
enum cudaDeviceAttr {
  cudaDevAttrClockRate,
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor
};
constexpr unsigned cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0;
constexpr unsigned cudaEventDisableTiming = 2;
constexpr unsigned cudaEventRecordDefault = 0;
constexpr unsigned cudaEventRecordExternal = 1;
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  std::size_t totalGlobalMem;
  int l2CacheSize, multiProcessorCount;
};

cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaSetDevice(int index);
cudaError_t cudaGetDevice(int* index);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int index);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int index);
cudaError_t cudaDeviceGetPCIBusId(char* bus, int size, int index);
cudaError_t cudaDeviceSynchronize();

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all_bytes);
cudaError_t cudaMalloc(void** memory, std::size_t size);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMallocHost(void** memory, std::size_t size);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t size, cudaStream_t stream);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t cudaEventElapsedTime(float* elapsed_ms, cudaEvent_t start, cudaEvent_t stop);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphUpload(cudaGraphExec_t ready, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready);

namespace cuda_host {

// Work for the stream, or for the graph that it is captured into.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

// Runs `thread` once for each thread of each block, with threadIdx and so on set.
void run_blocks(dim3 grid, dim3 block, const std::function<void()>& thread);

// Work that holds copies of the arguments, made now.
template <typename Kernel, typename... Arguments>
std::function<void()> bound(Kernel kernel, const Arguments&... arguments) {
  return [kernel, given = std::make_tuple(arguments...)] { std::apply(kernel, given); };
}

// What the build writes for `kernel<<<grid, block, shared, stream>>>(arguments)`:
// Launch{grid, block, shared, stream} = bound([=](auto... given) { kernel(given...); }, arguments);
struct Launch {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;

  void operator=(std::function<void()> thread) const;
};

}  // namespace cuda_host
