#include <array>
#include <cstdlib>
#include <exception>
#include <memory>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/cuda_state.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/host_machine.hpp"
#include "kernels/device/nvml.hpp"
#include "kernels/device/work_stream.cuh"

namespace windtunnel {
namespace {

constexpr int kLanes = 8;  // streams of run_beside()

struct Streams {
  cudaStream_t main = nullptr;
  std::array<cudaStream_t, kLanes> lanes = {};
  cudaStream_t now = nullptr;

  Streams() {
    // Non-blocking streams do not synchronise with the default stream.
    CHECK_CUDA(cudaStreamCreateWithFlags(&main, cudaStreamNonBlocking));
    for (cudaStream_t& lane : lanes) {
      CHECK_CUDA(cudaStreamCreateWithFlags(&lane, cudaStreamNonBlocking));
    }
    now = main;
  }
};

// Once the streams exist, a device is in use.
bool& has_streams() {
  static bool has = false;
  return has;
}

// The streams last as long as the process; the driver frees them.
Streams& streams() {
  static Streams all;
  has_streams() = true;
  return all;
}

class Event {
 public:
  explicit Event(unsigned flags) { CHECK_CUDA(cudaEventCreateWithFlags(&event_, flags)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using Graph = std::unique_ptr<CUgraph_st, DestroyGraph>;
using ReadyGraph = std::unique_ptr<CUgraphExec_st, DestroyGraph>;

const Nvml& nvml() {
  static const Nvml library;  // starting it takes milliseconds
  return library;
}

CudaState read_state() {
  CudaState state;
  const cudaError_t status = cudaGetDeviceCount(&state.devices);
  cudaGetLastError();
  if (status != cudaSuccess) {
    state.devices = 0;
    state.fault = cudaGetErrorString(status);
  }
  // The version comes from the driver's own library; 0 if there is no driver.
  if (cudaDriverGetVersion(&state.driver_cuda) != cudaSuccess) state.driver_cuda = 0;
  if (cudaRuntimeGetVersion(&state.built_cuda) != cudaSuccess) state.built_cuda = 0;
  cudaGetLastError();
  state.driver = nvml().driver();
  state.nvml_cuda = nvml().cuda_version();
  state.nvml_fault = nvml().fault();
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr) state.visible = visible;
  return state;
}

// The state does not change while a process runs.
const CudaState& cuda_state() {
  static const CudaState state = read_state();
  return state;
}

std::string why_unusable() {
  return why_no_cuda(cuda_state());
}

int count() {
  return why_unusable().empty() ? cuda_state().devices : 0;
}

void select(int index) {
  CHECK(!has_streams(), "device {} after work has begun on another", index);
  CHECK_CUDA(cudaSetDevice(index));
}

int present_device() {
  int index = 0;
  CHECK_CUDA(cudaGetDevice(&index));
  return index;
}

int attribute(cudaDeviceAttr name) {
  int value = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&value, name, present_device()));
  return value;
}

// Writes it as nvidia-smi does: GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.
std::string text_of(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

DeviceDescription describe() {
  cudaDeviceProp properties = {};
  CHECK_CUDA(cudaGetDeviceProperties(&properties, present_device()));
  DeviceDescription description;
  description.name = properties.name;
  description.driver = nvml().driver();
  description.id = text_of(properties.uuid);
  description.memory_bytes = properties.totalGlobalMem;
  description.cache_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  description.sms = properties.multiProcessorCount;
  description.clock_Hz = 1e3 * attribute(cudaDevAttrClockRate);  // CUDA returns kHz
  return description;
}

bool disturbed() {
  return false;
}

DeviceReadings readings() {
  std::array<char, 32> bus = {};
  CHECK_CUDA(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), present_device()));
  return nvml().readings(bus.data());
}

[[noreturn]] void refuse_memory(std::size_t bytes) {
  cudaGetLastError();
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  CHECK_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
  throw Error(no_device_memory(bytes, free_bytes, all_bytes), ExitCode::failed);
}

std::byte* allocate(std::size_t size_bytes, MemoryKind kind) {
  if (kind == MemoryKind::pageable) {
    return device(DeviceKind::cpu).allocate(size_bytes, kind);
  }
  const std::size_t bytes = size_bytes == 0 ? 1 : size_bytes;  // so that the pointer is never null
  void* memory = nullptr;
  if (kind == MemoryKind::pinned) {
    CHECK_CUDA(cudaMallocHost(&memory, bytes));
    return static_cast<std::byte*>(memory);
  }
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) refuse_memory(bytes);
  CHECK_CUDA(status);
  return static_cast<std::byte*>(memory);
}

// Destructors call this, so it must not throw an error of an earlier kernel.
void release(std::byte* memory, MemoryKind kind) {
  if (kind == MemoryKind::pageable) {
    device(DeviceKind::cpu).release(memory, kind);
  } else if (kind == MemoryKind::pinned) {
    cudaFreeHost(memory);
  } else {
    cudaFree(memory);
  }
}

// Uses the work stream, because its kernels do not wait for the default stream.
void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  CHECK_CUDA(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, work_stream()));
  CHECK_CUDA(cudaStreamSynchronize(work_stream()));
}

void synchronize() {
  CHECK_CUDA(cudaDeviceSynchronize());
}

// The events are recorded by nodes of the graph (cudaEventRecordExternal). Null if something cannot
// be captured.
Graph captured(const std::function<void(unsigned)>& runs) {
  const cudaStream_t stream = work_stream();
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  bool complete = true;
  try {
    runs(cudaEventRecordExternal);
  } catch (const std::exception&) {
    complete = false;  // an error of the work itself will occur again without a capture
  }
  cudaGraph_t graph = nullptr;
  const cudaError_t status = cudaStreamEndCapture(stream, &graph);
  cudaGetLastError();
  Graph owner(graph);
  return complete && status == cudaSuccess ? std::move(owner) : nullptr;
}

// Null if there is no graph, or if this driver cannot run a node of it in a graph.
ReadyGraph ready(const Graph& graph) {
  if (graph == nullptr) return nullptr;
  cudaGraphExec_t instance = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&instance, graph.get(), 0);
  if (status == cudaErrorNotSupported) {
    cudaGetLastError();
    return nullptr;
  }
  CHECK_CUDA(status);
  return ReadyGraph(instance);
}

double time_s(const std::function<void()>& work, int times) {
  CHECK(times >= 1, "{} runs to time", times);
  const cudaStream_t stream = work_stream();
  const Event start(cudaEventDefault);
  const Event stop(cudaEventDefault);
  const auto runs = [&](unsigned record) {
    work();
    CHECK_CUDA(cudaEventRecordWithFlags(start.get(), stream, record));
    for (int i = 0; i < times; ++i) work();
    CHECK_CUDA(cudaEventRecordWithFlags(stop.get(), stream, record));
  };
  const ReadyGraph graph = ready(captured(runs));  // lives until the replay is over
  if (graph != nullptr) {
    CHECK_CUDA(cudaGraphUpload(graph.get(), stream));
    CHECK_CUDA(cudaGraphLaunch(graph.get(), stream));
  } else {
    runs(cudaEventRecordDefault);
  }
  CHECK_CUDA(cudaStreamSynchronize(stream));
  float elapsed_ms = 0;
  CHECK_CUDA(cudaEventElapsedTime(&elapsed_ms, start.get(), stop.get()));
  return 1e-3 * elapsed_ms;
}

// Later calls on `to` wait for the present work of `from`.
void join(cudaStream_t from, cudaStream_t to) {
  const Event event(cudaEventDisableTiming);
  CHECK_CUDA(cudaEventRecord(event.get(), from));
  CHECK_CUDA(cudaStreamWaitEvent(to, event.get(), 0));
}

void run_beside(const std::vector<std::function<void()>>& works) {
  Streams& all = streams();
  CHECK(works.size() <= all.lanes.size(), "{} works beside each other", works.size());
  CHECK(all.now == all.main, "works of run_beside call it again");
  struct Back {  // restores the state, also if a work throws
    Streams& all;
    ~Back() { all.now = all.main; }
  } const back{all};
  for (std::size_t i = 0; i < works.size(); ++i) join(all.main, all.lanes[i]);
  for (std::size_t i = 0; i < works.size(); ++i) {
    all.now = all.lanes[i];
    works[i]();
  }
  for (std::size_t i = 0; i < works.size(); ++i) join(all.lanes[i], all.main);
}

constexpr Device kCuda = {
    DeviceKind::cuda, "cuda",   why_unusable, count, select,      describe, readings,
    disturbed,        allocate, release,      copy,  synchronize, time_s,   run_beside,
};

}  // namespace

cudaStream_t work_stream() {
  return streams().now;
}

const Device& cuda_device() {
  return kCuda;
}

}  // namespace windtunnel
