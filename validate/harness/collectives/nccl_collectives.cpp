#include "validate/harness/collectives/nccl_collectives.hpp"

#include <dlfcn.h>
#include <nccl.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/work_stream.cuh"
#include "models/base/error.hpp"
#include "validate/harness/ranks/rank_watch.hpp"

namespace windtunnel {
namespace {

// The functions in use, with the types of nccl.h.
struct Nccl {
  void* library = nullptr;
  std::string fault;  // why they cannot be called; empty: they can

  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) comm_init_rank = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;

  Nccl();

 private:
  void open();
  template <typename Function>
  void find(const char* name, Function& function);
};

template <typename Function>
void Nccl::find(const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr && fault.empty()) {
    fault = fmt::format("libnccl.so.2 is too old: it has no function {}", name);
  }
}

// Opens the library that the system or LD_LIBRARY_PATH finds, else that of the build.
void Nccl::open() {
  for (const char* name : {"libnccl.so.2", WINDTUNNEL_NCCL_LIBRARY}) {
    if (std::strlen(name) > 0) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return;
    if (fault.empty()) fault = dlerror();
  }
  fault = fmt::format(
      "NCCL was not found ({}); install libnccl2, or add its folder to LD_LIBRARY_PATH", fault);
}

Nccl::Nccl() {
  open();
  if (library == nullptr) return;
  fault.clear();
  find("ncclGetVersion", get_version);
  find("ncclGetErrorString", error_string);
  find("ncclGetLastError", last_error);
  find("ncclGetUniqueId", get_unique_id);
  find("ncclCommInitRank", comm_init_rank);
  find("ncclCommGetAsyncError", comm_get_async_error);
  find("ncclCommDestroy", comm_destroy);
  find("ncclCommAbort", comm_abort);
  find("ncclAllReduce", all_reduce);
  find("ncclReduceScatter", reduce_scatter);
  find("ncclAllGather", all_gather);
  find("ncclBroadcast", broadcast);
  find("ncclSend", send);
  find("ncclRecv", recv);
  find("ncclGroupStart", group_start);
  find("ncclGroupEnd", group_end);
}

const Nccl& nccl() {
  static const Nccl library;
  return library;
}

// NCCL's last error has more detail than the status.
std::string words_of(ncclResult_t status, ncclComm_t communicator) {
  const char* const more = nccl().last_error(communicator);
  const bool has_more = more != nullptr && std::strlen(more) > 0;
  return fmt::format("{}{}", nccl().error_string(status),
                     has_more ? fmt::format(" ({})", more) : "");
}

void check(ncclResult_t status, const char* call, ncclComm_t communicator) {
  if (status == ncclSuccess) return;
  throw Error(fmt::format("{}: {}", call, words_of(status, communicator)), ExitCode::failed);
}

// NCCL refuses two ranks of one host on one device, and its direct transports between them hang.
// Each rank therefore pretends to be a host of its own and sends through sockets. Variables that
// the user set stay.
void pass_for_hosts(int rank, const DeviceShare& share) {
  const std::string host = fmt::format("windtunnel-{}", rank);
  setenv("NCCL_HOSTID", host.c_str(), 1);
  setenv("NCCL_P2P_DISABLE", "1", 0);
  setenv("NCCL_SHM_DISABLE", "1", 0);
  setenv("NCCL_NET", "Socket", 0);
  if (share.hosts == 1) setenv("NCCL_SOCKET_IFNAME", "lo", 0);
}

// Returns the id that rank 0 creates and sends over the group.
ncclUniqueId shared_id(TcpGroup& group) {
  ncclUniqueId id = {};
  std::string fault;
  if (group.rank() == 0) {
    const ncclResult_t status = nccl().get_unique_id(&id);
    if (status != ncclSuccess)
      fault = fmt::format("ncclGetUniqueId: {}", words_of(status, nullptr));
  }
  agree(group, fault);
  const std::span bytes(reinterpret_cast<std::byte*>(&id), sizeof id);
  if (group.rank() != 0) {
    group.receive(0, bytes);
    return id;
  }
  for (int rank = 1; rank < group.ranks(); ++rank) group.send(rank, bytes);
  return id;
}

// If a rank fails, kernels of the others would wait forever. The watch of rank 0 ends them by
// taking the communicator from another thread, but never during a call.
class NcclCollectives : public Collectives {
 public:
  NcclCollectives(const ncclUniqueId& id, const TcpGroup& group)
      : rank_(group.rank()),
        ranks_(group.ranks()),
        communicator_(joined(id, rank_, ranks_)),
        hook_(group.watch(), [this] { abort(); }) {
    try {
      connect();
    } catch (...) {
      abort();  // no destructor runs, and others wait for this rank
      throw;
    }
  }
  // After a fault another rank may be gone, and an orderly end would wait for it.
  ~NcclCollectives() override {
    if (std::uncaught_exceptions() > exceptions_ || !healthy()) {
      abort();
      return;
    }
    cudaStreamSynchronize(work_stream());
    const ncclComm_t whole = taken();
    if (whole != nullptr) nccl().comm_destroy(whole);
  }
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }

  void all_reduce(float* values, size_t elements) override {
    if (elements == 0) return;
    const std::lock_guard call(calls_);
    start("ncclAllReduce", nccl().all_reduce(values, values, elements, ncclFloat32, ncclSum,
                                             communicator(), work_stream()));
  }
  void reduce_scatter(const float* values, float* part, size_t part_elements) override {
    if (part_elements == 0) return;
    const std::lock_guard call(calls_);
    start("ncclReduceScatter", nccl().reduce_scatter(values, part, part_elements, ncclFloat32,
                                                     ncclSum, communicator(), work_stream()));
  }
  void all_gather(const std::byte* part, std::byte* all, size_t part_bytes) override {
    if (part_bytes == 0) return;
    const std::lock_guard call(calls_);
    start("ncclAllGather",
          nccl().all_gather(part, all, part_bytes, ncclUint8, communicator(), work_stream()));
  }
  void broadcast(std::byte* values, size_t size_bytes, int root) override {
    if (size_bytes == 0) return;
    const std::lock_guard call(calls_);
    start("ncclBroadcast", nccl().broadcast(values, values, size_bytes, ncclUint8, root,
                                            communicator(), work_stream()));
  }
  // Exchanges a part with each rank at the same time.
  void all_to_all(const std::byte* out, std::byte* in, size_t part_bytes) override {
    if (part_bytes == 0) return;
    std::vector<Message> messages;
    for (int other = 0; other < ranks_; ++other) {
      const size_t at = static_cast<size_t>(other) * part_bytes;
      messages.push_back({other, out + at, part_bytes, other, in + at, part_bytes});
    }
    start_together(messages);
  }
  void exchange(int to, const std::byte* out, size_t out_bytes, int from, std::byte* in,
                size_t in_bytes) override {
    start_together({{to, out, out_bytes, from, in, in_bytes}});
  }

 private:
  // Connects every two ranks. NCCL would otherwise do this at their first exchange, within the
  // first timing or capture.
  void connect() {
    const auto size_bytes = static_cast<size_t>(ranks_);
    const DeviceBuffer out(device(DeviceKind::cuda), size_bytes);
    const DeviceBuffer in(device(DeviceKind::cuda), size_bytes);
    all_to_all(out.data(), in.data(), 1);
    CHECK_CUDA(cudaStreamSynchronize(work_stream()));
  }

  struct Message {
    int to = 0;
    const std::byte* out = nullptr;
    size_t out_bytes = 0;
    int from = 0;
    std::byte* in = nullptr;
    size_t in_bytes = 0;
  };

  static ncclComm_t joined(const ncclUniqueId& id, int rank, int ranks) {
    ncclComm_t communicator = nullptr;
    check(nccl().comm_init_rank(&communicator, ranks, id, rank), "ncclCommInitRank", nullptr);
    return communicator;
  }

  // The caller must hold `calls_`, and use the result before it releases that.
  ncclComm_t communicator() const {
    if (communicator_ == nullptr) throw Error("NCCL: another rank has failed", ExitCode::failed);
    return communicator_;
  }

  // Takes the communicator, which the caller must end; nullptr: it was already taken.
  ncclComm_t taken() {
    const std::lock_guard no_call(calls_);
    return std::exchange(communicator_, nullptr);
  }

  // Ends running kernels, whose results are then undefined. NCCL returns only when graphs that
  // contain its collectives are destroyed. The lock is not held meanwhile, so callers of a
  // collective do not wait for that.
  void abort() {
    const ncclComm_t broken = taken();
    if (broken != nullptr) nccl().comm_abort(broken);
  }

  // Also checks asynchronous errors of earlier calls.
  void start(const char* call, ncclResult_t status) const {
    check(status, call, communicator_);
    ncclResult_t before = ncclSuccess;
    check(nccl().comm_get_async_error(communicator_, &before), "ncclCommGetAsyncError",
          communicator_);
    check(before, call, communicator_);
  }

  // Always ends the NCCL group, because it belongs to the thread. Reports the first fault.
  void start_together(const std::vector<Message>& messages) const {
    const cudaStream_t stream = work_stream();
    const std::lock_guard call(calls_);
    check(nccl().group_start(), "ncclGroupStart", communicator());
    ncclResult_t sent = ncclSuccess;
    ncclResult_t received = ncclSuccess;
    for (const Message& each : messages) {
      if (each.out_bytes > 0 && sent == ncclSuccess) {
        sent = nccl().send(each.out, each.out_bytes, ncclUint8, each.to, communicator_, stream);
      }
      if (each.in_bytes > 0 && received == ncclSuccess) {
        received = nccl().recv(each.in, each.in_bytes, ncclUint8, each.from, communicator_, stream);
      }
    }
    const ncclResult_t ended = nccl().group_end();
    check(sent, "ncclSend", communicator_);
    check(received, "ncclRecv", communicator_);
    start("ncclGroupEnd", ended);
  }

  bool healthy() const {
    const std::lock_guard call(calls_);
    ncclResult_t status = ncclSuccess;
    return communicator_ != nullptr &&
           nccl().comm_get_async_error(communicator_, &status) == ncclSuccess &&
           status == ncclSuccess;
  }

  int rank_;
  int ranks_;
  int exceptions_ = std::uncaught_exceptions();
  mutable std::mutex calls_;
  ncclComm_t communicator_;  // nullptr: ended
  FailureHook hook_;         // declared last, so destroyed before what it ends
};

}  // namespace

std::string why_no_nccl() {
  return nccl().fault;
}

std::string nccl_version() {
  int code = 0;
  if (!nccl().fault.empty() || nccl().get_version(&code) != ncclSuccess) return "";
  // This is the encoding of versions since 2.9.
  return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100);
}

std::unique_ptr<Collectives> nccl_collectives(TcpGroup& group, const DeviceShare& share) {
  if (share.ranks_per_device > 1) pass_for_hosts(group.rank(), share);
  // NCCL would register the buffers of captured collectives, but the buffers of a training step are
  // not registered.
  setenv("NCCL_GRAPH_REGISTER", "0", 0);
  setenv("NCCL_RUNTIME_CONNECT", "0", 0);  // rings and trees are connected now, not when first used
  std::string fault = why_no_nccl();
  if (fault.empty()) fault = device(DeviceKind::cuda).why_unusable();
  agree(group, fault);
  const std::vector<std::string> versions = told_by_all(group, nccl_version());
  if (most_alike(versions) != group.ranks()) {
    throw Error(
        fmt::format("ranks have different versions of NCCL: {}", fmt::join(versions, ", ")));
  }
  const ncclUniqueId id = shared_id(group);
  return std::make_unique<NcclCollectives>(id, group);
}

}  // namespace windtunnel
