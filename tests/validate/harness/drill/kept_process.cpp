#include "tests/validate/harness/drill/kept_process.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "models/base/error.hpp"
#include "validate/harness/ranks/own_core.hpp"

namespace windtunnel {
namespace {

enum What : char {
  kPut = 'p',
  kGet = 'g',
  kFlip = 'f',
  kWrite = 'w',
  kRead = 'r',
  kTrain = 't',
  kHolds = 'h',
  kRename = 'n',
};

bool send_all(int socket, const void* data, std::size_t size_bytes) {
  const char* at = static_cast<const char*>(data);
  while (size_bytes > 0) {
    const ssize_t count = send(socket, at, size_bytes, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size_bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t size_bytes) {
  char* at = static_cast<char*>(data);
  while (size_bytes > 0) {
    const ssize_t count = recv(socket, at, size_bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size_bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

// A step changes every byte in a way that depends on the step's number, so no two states are equal.
void train_step(Bytes& state, int node, std::int64_t step) {
  std::uint64_t word = static_cast<std::uint64_t>(step) * 0x9e3779b97f4a7c15ULL +
                       static_cast<std::uint64_t>(node) + 1;
  for (std::byte& value : state) {
    word = word * 6364136223846793005ULL + 1442695040888963407ULL;
    value ^= static_cast<std::byte>(word >> 56);
  }
}

// Writes a second file first and renames it, so that a reader sees all or nothing.
bool write_whole(const std::string& path, const Bytes& bytes) {
  const std::string part = path + kPartOfFile;
  std::ofstream file(part, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file.good() && std::rename(part.c_str(), path.c_str()) == 0;
}

bool read_whole(const std::string& path, Bytes& bytes) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return false;
  bytes.resize(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return file.good();
}

}  // namespace

struct KeptProcess::Request {
  char what = kGet;
  std::int32_t node = 0;
  std::int64_t from = 0, to = 0;  // range of steps
  std::uint64_t name_bytes = 0, path_bytes = 0, size_bytes = 0;
};

Bytes trained_state(int node, std::int64_t steps, std::size_t size_bytes) {
  Bytes state(size_bytes);
  for (std::int64_t step = 0; step < steps; ++step) train_step(state, node, step);
  return state;
}

KeptProcess::KeptProcess() {
  std::array<int, 2> ends = {};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0) process_ = fork_child();
  if (process_ < 0 || ends[0] == ends[1]) {
    throw Error(fmt::format("no process that holds bytes: {}", std::strerror(errno)),
                ExitCode::failed);
  }
  if (process_ == 0) {
    keep_only(ends[1]);  // closes the sockets of other processes, too
    serve(ends[1]);
  }
  close(ends[1]);
  socket_ = ends[0];
}

KeptProcess::~KeptProcess() {
  kill_now();
}

KeptProcess::KeptProcess(KeptProcess&& other) noexcept
    : process_(std::exchange(other.process_, 0)), socket_(std::exchange(other.socket_, -1)) {}

KeptProcess& KeptProcess::operator=(KeptProcess&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(socket_, other.socket_);
  return *this;
}

void KeptProcess::kill_now() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  if (socket_ >= 0) close(socket_);
  process_ = 0;
  socket_ = -1;
}

void KeptProcess::serve(int socket) {
  std::map<std::string, Bytes> held;
  for (Request request; receive_all(socket, &request, sizeof request);) {
    std::string name(request.name_bytes, '\0'), path(request.path_bytes, '\0');
    Bytes bytes(request.size_bytes);
    receive_all(socket, name.data(), name.size());
    receive_all(socket, path.data(), path.size());
    receive_all(socket, bytes.data(), bytes.size());
    const auto found = held.find(name);
    bool well = found != held.end();
    Bytes answer;
    if (request.what == kPut) {
      held[name] = std::move(bytes);
      well = true;
    } else if (request.what == kRead) {
      well = read_whole(path, held[name]);
    } else if (request.what == kTrain) {
      for (std::int64_t step = request.from; well && step < request.to; ++step) {
        train_step(found->second, request.node, step);
      }
    } else if (well && request.what == kHolds) {
      well = is_whole(found->second, request.from);
    } else if (well && request.what == kRename) {
      held[path] = std::move(found->second);
      held.erase(name);
    } else if (well && request.what == kGet) {
      answer = found->second;
    } else if (well && request.what == kFlip && !found->second.empty()) {
      found->second[found->second.size() / 2] ^= std::byte{1};
    } else if (well && request.what == kWrite) {
      well = write_whole(path, found->second);
    }
    const std::uint64_t head[2] = {well ? 1U : 0U, answer.size()};
    send_all(socket, head, sizeof head);
    send_all(socket, answer.data(), answer.size());
  }
  _exit(0);
}

bool KeptProcess::ask(Request request, const std::string& name, const std::string& path,
                      std::span<const std::byte> bytes, Bytes& answer) {
  request.name_bytes = name.size();
  request.path_bytes = path.size();
  request.size_bytes = bytes.size();
  std::uint64_t head[2] = {};
  if (socket_ < 0 || !send_all(socket_, &request, sizeof request) ||
      !send_all(socket_, name.data(), name.size()) ||
      !send_all(socket_, path.data(), path.size()) ||
      !send_all(socket_, bytes.data(), bytes.size()) || !receive_all(socket_, head, sizeof head)) {
    return false;
  }
  answer.resize(head[1]);
  return receive_all(socket_, answer.data(), answer.size()) && head[0] == 1;
}

KeptProcess::Request KeptProcess::asked(char what) {
  Request request;
  request.what = what;
  return request;
}

bool KeptProcess::put(const std::string& name, std::span<const std::byte> bytes) {
  Bytes none;
  return ask(asked(kPut), name, "", bytes, none);
}

std::optional<Bytes> KeptProcess::get(const std::string& name) {
  Bytes bytes;
  if (!ask(asked(kGet), name, "", {}, bytes)) return {};
  return bytes;
}

bool KeptProcess::flip_byte(const std::string& name) {
  Bytes none;
  return ask(asked(kFlip), name, "", {}, none);
}

bool KeptProcess::holds(const std::string& name, std::int64_t iteration) {
  Bytes none;
  Request request;
  request.what = kHolds;
  request.from = iteration;
  return ask(request, name, "", {}, none);
}

bool KeptProcess::rename(const std::string& staged, const std::string& name) {
  Bytes none;
  return ask(asked(kRename), staged, name, {}, none);
}

bool KeptProcess::write_file(const std::string& name, const std::string& path) {
  Bytes none;
  return ask(asked(kWrite), name, path, {}, none);
}

bool KeptProcess::read_file(const std::string& name, const std::string& path) {
  Bytes none;
  return ask(asked(kRead), name, path, {}, none);
}

bool KeptProcess::train(const std::string& name, int node, std::int64_t from, std::int64_t to) {
  Bytes none;
  Request request;
  request.what = kTrain;
  request.node = node;
  request.from = from;
  request.to = to;
  return ask(request, name, "", {}, none);
}

}  // namespace windtunnel
