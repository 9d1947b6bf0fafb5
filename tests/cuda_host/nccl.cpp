// NCCL between processes that share a file: each pair of ranks has a box, which holds a piece of a
// message at a time. Every collective consists of point-to-point messages, all in flight at once,
// and sums in the order of ranks.
#include <fcntl.h>
#include <nccl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t kPiece = 64 << 10;
constexpr std::chrono::seconds kPatience(60);

struct Box {
  std::atomic<std::size_t> full;  // bytes in it; 0: empty
  std::byte piece[kPiece];
};

struct Shared {
  std::atomic<int> joined;
  std::atomic<bool> aborted;
  Box boxes[];  // one for each ordered pair of ranks
};

struct Message {
  int peer;
  const std::byte* out;  // null in a receive
  std::byte* in;
  std::size_t left;
};

std::size_t size_of(int ranks) {
  return sizeof(Shared) +
         static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks) * sizeof(Box);
}

// Works in streams share ownership of the group until they have run.
struct Group {
  Shared* shared;
  int rank;
  int ranks;
  std::string path;

  ~Group() {
    munmap(shared, size_of(ranks));
    if (rank == 0) unlink(path.c_str());
  }
  Box& box(int from, int to) const { return shared->boxes[from * ranks + to]; }
  bool move(Message& message) const;
  void finish(std::vector<Message> messages) const;
};

// Moves a piece of the message if the box holds one (receive) or is empty (send); returns whether
// it did.
bool Group::move(Message& message) const {
  const std::size_t size = std::min(message.left, kPiece);
  if (message.out != nullptr) {
    Box& to = box(rank, message.peer);
    if (to.full.load() != 0) return false;
    std::memcpy(to.piece, message.out, size);
    to.full.store(size);
    message.out += size;
  } else {
    Box& from = box(message.peer, rank);
    if (from.full.load() == 0) return false;
    if (from.full.load() != size) {
      std::fprintf(stderr, "cuda_host: a rank sends what another does not receive\n");
      std::abort();
    }
    std::memcpy(message.in, from.piece, size);
    from.full.store(0);
    message.in += size;
  }
  message.left -= size;
  return true;
}

// Messages between two ranks are exchanged in the order of their calls.
void Group::finish(std::vector<Message> messages) const {
  auto heard = std::chrono::steady_clock::now();
  while (!messages.empty() && !shared->aborted) {
    bool moved = false;
    std::vector<Message> rest;
    std::vector<int> busy;  // 2 * peer for a send, 2 * peer + 1 for a receive
    for (Message& message : messages) {
      const int way = 2 * message.peer + (message.out == nullptr ? 1 : 0);
      const bool first = std::find(busy.begin(), busy.end(), way) == busy.end();
      if (first && message.left > 0) moved |= move(message);
      if (message.left == 0) continue;
      busy.push_back(way);
      rest.push_back(message);
    }
    messages = std::move(rest);
    const auto now = std::chrono::steady_clock::now();
    if (moved) heard = now;
    if (now - heard > kPatience) {
      std::fprintf(stderr, "cuda_host: rank %d waits for a message that does not come\n", rank);
      std::abort();
    }
    if (!moved) sched_yield();
  }
}

}  // namespace

struct ncclComm {
  std::shared_ptr<Group> group;
};

namespace {

// Sends and receives between ncclGroupStart and ncclGroupEnd.
struct Pending {
  int depth = 0;
  std::shared_ptr<Group> group;
  cudaStream_t stream = nullptr;
  std::vector<Message> messages;
};
thread_local Pending pending;

std::size_t bytes_of(std::size_t count, ncclDataType_t type) {
  return type == ncclFloat32 ? 4 * count : count;
}

ncclResult_t enqueue(cudaStream_t stream, std::function<void()> work) {
  return cuda_host::enqueue(stream, std::move(work)) == cudaSuccess ? ncclSuccess
                                                                    : ncclUnhandledCudaError;
}

ncclResult_t flush() {
  if (pending.messages.empty()) return ncclSuccess;
  const std::shared_ptr<Group> group = std::move(pending.group);
  return enqueue(pending.stream, [group, messages = std::exchange(pending.messages, {})] {
    group->finish(messages);
  });
}

ncclResult_t message(int peer, const void* from, void* to, std::size_t bytes,
                     ncclComm_t communicator, cudaStream_t stream) {
  if (peer < 0 || peer >= communicator->group->ranks || bytes == 0) return ncclInvalidArgument;
  pending.group = communicator->group;
  pending.stream = stream;
  pending.messages.push_back(
      {peer, static_cast<const std::byte*>(from), static_cast<std::byte*>(to), bytes});
  return pending.depth > 0 ? ncclSuccess : flush();
}

// Returns the parts of all ranks in their order, each of `bytes` bytes.
std::vector<std::byte> gathered(const Group& group, const std::byte* own, std::size_t bytes) {
  std::vector<std::byte> all(static_cast<std::size_t>(group.ranks) * bytes);
  std::vector<Message> messages;
  for (int peer = 0; peer < group.ranks; ++peer) {
    messages.push_back({peer, own, nullptr, bytes});
    messages.push_back({peer, nullptr, all.data() + static_cast<std::size_t>(peer) * bytes, bytes});
  }
  group.finish(std::move(messages));
  return all;
}

std::vector<float> summed(const Group& group, const void* own, std::size_t count) {
  const std::vector<std::byte> all =
      gathered(group, static_cast<const std::byte*>(own), count * sizeof(float));
  std::vector<float> sums(count);
  const auto* const values = reinterpret_cast<const float*>(all.data());
  for (std::size_t i = 0; i < all.size() / sizeof(float); ++i) sums[i % count] += values[i];
  return sums;
}

}  // namespace

ncclResult_t ncclGetVersion(int* version) {
  *version = 22800;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess ? "no error" : "an error";
}

const char* ncclGetLastError(ncclComm_t /*communicator*/) {
  return "";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  *id = {};
  std::strcpy(id->internal, "/tmp/cuda_host_nccl_XXXXXX");
  const int file = mkstemp(id->internal);
  if (file < 0) return ncclSystemError;
  close(file);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank) {
  const int file = open(id.internal, O_RDWR);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size_of(ranks))) != 0) return ncclSystemError;
  void* const memory = mmap(nullptr, size_of(ranks), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return ncclSystemError;
  auto* const shared = static_cast<Shared*>(memory);
  auto group = std::make_shared<Group>();
  group->shared = shared;
  group->rank = rank;
  group->ranks = ranks;
  group->path = id.internal;
  ++shared->joined;
  const auto begun = std::chrono::steady_clock::now();
  while (shared->joined < ranks && !shared->aborted) {
    if (std::chrono::steady_clock::now() - begun > kPatience) return ncclSystemError;
    sched_yield();
  }
  *communicator = new ncclComm{group};
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* status) {
  *status = communicator->group->shared->aborted ? ncclRemoteError : ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  communicator->group->shared->aborted = true;
  delete communicator;
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t communicator, cudaStream_t stream) {
  if (type != ncclFloat32 || op != ncclSum) return ncclInvalidArgument;
  return enqueue(stream, [=, group = communicator->group] {
    const std::vector<float> sums = summed(*group, from, count);
    std::memcpy(to, sums.data(), count * sizeof(float));
  });
}

ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t communicator, cudaStream_t stream) {
  if (type != ncclFloat32 || op != ncclSum) return ncclInvalidArgument;
  return enqueue(stream, [=, group = communicator->group] {
    const auto ranks = static_cast<std::size_t>(group->ranks);
    const std::vector<float> sums = summed(*group, from, ranks * count);
    std::memcpy(to, sums.data() + static_cast<std::size_t>(group->rank) * count,
                count * sizeof(float));
  });
}

ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclComm_t communicator, cudaStream_t stream) {
  const std::size_t bytes = bytes_of(count, type);
  return enqueue(stream, [=, group = communicator->group] {
    const std::vector<std::byte> all = gathered(*group, static_cast<const std::byte*>(from), bytes);
    std::memcpy(to, all.data(), all.size());
  });
}

ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t communicator, cudaStream_t stream) {
  const std::size_t bytes = bytes_of(count, type);
  return enqueue(stream, [=, group = communicator->group] {
    std::vector<Message> messages;
    if (group->rank != root) {
      messages.push_back({root, nullptr, static_cast<std::byte*>(to), bytes});
    }
    for (int peer = 0; group->rank == root && peer < group->ranks; ++peer) {
      if (peer != root) {
        messages.push_back({peer, static_cast<const std::byte*>(from), nullptr, bytes});
      }
    }
    group->finish(std::move(messages));
    if (group->rank == root && from != to) std::memmove(to, from, bytes);
  });
}

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
  return message(peer, from, nullptr, bytes_of(count, type), communicator, stream);
}

ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
  return message(peer, nullptr, to, bytes_of(count, type), communicator, stream);
}

ncclResult_t ncclGroupStart() {
  ++pending.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (pending.depth == 0) return ncclInvalidUsage;
  return --pending.depth > 0 ? ncclSuccess : flush();
}
