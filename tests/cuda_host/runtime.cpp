// CUDA's runtime on the host. Enqueued work waits in its stream until somebody synchronises, so
// that tests find results that are read too early, and arguments that do not live long enough.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tests/cuda_host/device_memory.hpp"

namespace {

using Work = std::function<void()>;

// By stream: the place in the graph up to which its captured work is known to have finished.
using Known = std::map<cudaStream_t, std::size_t>;

}  // namespace

struct CUgraph_st {
  std::vector<Work> works;  // in an order that the captured streams allow
};
struct CUgraphExec_st {
  std::vector<Work> works;
};

namespace {

struct Capture {
  cudaStream_t origin;
  std::vector<Work> works;
  std::map<cudaStream_t, std::size_t> last;  // by stream: place of its latest work
  bool valid = true;
};

struct Recording {
  std::uint64_t issued = 0;
  std::uint64_t done = 0;
  cudaStream_t stream = nullptr;  // of the latest record call
  Capture* capture = nullptr;
  Known known;
  std::chrono::steady_clock::time_point time;
};

}  // namespace

struct CUevent_st {
  // Pending work still uses the recording when the event is destroyed.
  std::shared_ptr<Recording> recording = std::make_shared<Recording>();
  bool timed = true;
};

struct CUstream_st {
  std::deque<Work> works;
  Capture* capture = nullptr;
  Known known;
};

namespace {

struct Runtime {
  std::vector<std::unique_ptr<CUstream_st>> streams;
  std::unique_ptr<Capture> capture;  // the runtime is used by one thread
  cudaError_t last = cudaSuccess;
};

Runtime& runtime() {
  static Runtime one;
  return one;
}

cudaError_t failed(cudaError_t error) {
  runtime().last = error;
  return error;
}

void step(CUstream_st& stream) {
  const Work work = std::move(stream.works.front());
  stream.works.pop_front();
  work();
}

void finish(CUstream_st& stream) {
  const cuda_host::OnDevice device;
  while (!stream.works.empty()) step(stream);
}

// The newest streams run first, so that work that others wait for runs late.
void finish_all() {
  const auto& streams = runtime().streams;
  for (auto stream = streams.rbegin(); stream != streams.rend(); ++stream) finish(**stream);
}

// Calls that are forbidden during a capture by this thread (ThreadLocal mode) ask this.
bool breaks_capture() {
  if (runtime().capture == nullptr) return false;
  runtime().capture->valid = false;
  return true;
}

void join_capture(CUstream_st& stream, Capture& capture, const Known& known) {
  stream.capture = &capture;
  capture.last.try_emplace(&stream, 0);
  for (const auto& [other, place] : known) {
    std::size_t& here = stream.known[other];
    here = std::max(here, place);
  }
}

}  // namespace

namespace cuda_host {

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  if (stream->capture == nullptr) {
    stream->works.push_back(std::move(work));
    return cudaSuccess;
  }
  Capture& capture = *stream->capture;
  if (!capture.valid) return failed(cudaErrorStreamCaptureInvalidated);
  capture.works.push_back(std::move(work));
  stream->known[stream] = capture.last[stream] = capture.works.size();
  return cudaSuccess;
}

}  // namespace cuda_host

cudaError_t cudaGetLastError() {
  return std::exchange(runtime().last, cudaSuccess);
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorNotSupported:
      return "operation not supported";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    case cudaErrorStreamCaptureUnjoined:
      return "capturing stream has unjoined work";
    case cudaErrorStreamCaptureIsolation:
      return "dependency created on uncaptured work in another stream";
  }
  return "unknown error";
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int index) {
  return index == 0 ? cudaSuccess : failed(cudaErrorInvalidDevice);
}
cudaError_t cudaGetDevice(int* index) {
  *index = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int /*index*/) {
  *value = name == cudaDevAttrClockRate ? 1'000'000
                                        : (name == cudaDevAttrComputeCapabilityMajor ? 9 : 0);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int /*index*/) {
  *properties = {};
  std::strcpy(properties->name, "CUDA on the host");
  properties->totalGlobalMem = cuda_host::kDeviceBytes;
  properties->l2CacheSize = 50 << 20;
  properties->multiProcessorCount = 132;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* bus, int size, int /*index*/) {
  std::snprintf(bus, static_cast<std::size_t>(size), "0000:00:00.0");
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  if (breaks_capture()) return failed(cudaErrorStreamCaptureUnsupported);
  finish_all();
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all_bytes) {
  *free_bytes = cuda_host::free_device_bytes();
  *all_bytes = cuda_host::kDeviceBytes;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t size) {
  if (breaks_capture()) return failed(cudaErrorStreamCaptureUnsupported);
  *memory = cuda_host::allocate_device(size);
  return *memory != nullptr ? cudaSuccess : failed(cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void* memory) {
  if (breaks_capture()) return failed(cudaErrorStreamCaptureUnsupported);
  finish_all();
  if (memory != nullptr) cuda_host::free_device(memory);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** memory, std::size_t size) {
  if (breaks_capture()) return failed(cudaErrorStreamCaptureUnsupported);
  *memory = std::aligned_alloc(64, (size + 63) / 64 * 64);
  return *memory != nullptr ? cudaSuccess : failed(cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void* memory) {
  if (breaks_capture()) return failed(cudaErrorStreamCaptureUnsupported);
  finish_all();
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind /*kind*/,
                            cudaStream_t stream) {
  if (size == 0) return cudaSuccess;
  return cuda_host::enqueue(stream, [=] { std::memmove(to, from, size); });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t size, cudaStream_t stream) {
  return cuda_host::enqueue(stream, [=] { std::memset(to, value, size); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  *stream = runtime().streams.emplace_back(std::make_unique<CUstream_st>()).get();
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream->capture != nullptr) {
    stream->capture->valid = false;
    return failed(cudaErrorStreamCaptureUnsupported);
  }
  finish(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  const std::shared_ptr<Recording> recording = event->recording;
  if (recording->capture != nullptr) {
    if (recording->capture != runtime().capture.get()) return failed(cudaErrorInvalidValue);
    join_capture(*stream, *recording->capture, recording->known);
    return cudaSuccess;
  }
  if (stream->capture != nullptr) {
    stream->capture->valid = false;
    return failed(cudaErrorStreamCaptureIsolation);
  }
  const std::uint64_t awaited = recording->issued;
  const cudaStream_t other = recording->stream;
  return cuda_host::enqueue(stream, [recording, awaited, other] {
    while (recording->done < awaited) {
      if (other->works.empty()) cuda_host::fail("a stream waits for what waits for it");
      step(*other);
    }
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st;
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}

// In a capture an event marks a place in the graph and has no time. An `external` event becomes a
// node of the graph, and has one.
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  const std::shared_ptr<Recording> recording = event->recording;
  const bool external = (flags & cudaEventRecordExternal) != 0;
  if (external && stream->capture == nullptr) return failed(cudaErrorInvalidValue);
  if (stream->capture != nullptr && !external) {
    if (!stream->capture->valid) return failed(cudaErrorStreamCaptureInvalidated);
    recording->capture = stream->capture;
    recording->known = stream->known;
    return cudaSuccess;
  }
  recording->capture = nullptr;
  recording->stream = stream;
  const std::uint64_t turn = ++recording->issued;
  return cuda_host::enqueue(stream, [recording, turn] {
    recording->done = turn;
    recording->time = std::chrono::steady_clock::now();
  });
}

cudaError_t cudaEventElapsedTime(float* elapsed_ms, cudaEvent_t start, cudaEvent_t stop) {
  const Recording& first = *start->recording;
  const Recording& second = *stop->recording;
  const bool told = start->timed && stop->timed && first.issued > 0 && second.issued > 0 &&
                    first.capture == nullptr && second.capture == nullptr;
  if (!told) return failed(cudaErrorInvalidValue);
  if (first.done < first.issued || second.done < second.issued) return failed(cudaErrorNotReady);
  *elapsed_ms = std::chrono::duration<float, std::milli>(second.time - first.time).count();
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
  if (runtime().capture != nullptr) return failed(cudaErrorStreamCaptureUnsupported);
  runtime().capture = std::make_unique<Capture>();
  runtime().capture->origin = stream;
  join_capture(*stream, *runtime().capture, {});
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  const std::unique_ptr<Capture> capture = std::move(runtime().capture);
  if (capture == nullptr || capture->origin != stream) return failed(cudaErrorInvalidValue);
  bool joined = true;
  for (const auto& [other, place] : capture->last) joined &= stream->known[other] == place;
  for (const auto& other : runtime().streams) {
    other->capture = nullptr;
    other->known.clear();
  }
  if (!capture->valid) return failed(cudaErrorStreamCaptureInvalidated);
  if (!joined) return failed(cudaErrorStreamCaptureUnjoined);
  *graph = new CUgraph_st{std::move(capture->works)};
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                 unsigned long long /*flags*/) {
  *ready = new CUgraphExec_st{graph->works};
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t /*ready*/, cudaStream_t /*stream*/) {
  return cudaSuccess;
}

// The works are not copied, so that tests find a graph that is destroyed before it has run.
cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  return cuda_host::enqueue(stream, [ready] {
    for (const Work& work : ready->works) work();
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  delete ready;
  return cudaSuccess;
}
