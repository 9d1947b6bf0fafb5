#include "sim/engine/child.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <mutex>
#include <system_error>
#include <thread>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// First byte of what the child sends. After kError the exit code follows.
constexpr char kResult = 'r';
constexpr char kError = 'e';
constexpr char kInternalError = 'i';

constexpr std::size_t kChunk = 1 << 16;

Error without_result() {
  return Error("the simulation ended without a result", ExitCode::failed);
}

void send_outcome(PipeWriter& out, const std::function<void(PipeWriter&)>& body) {
  std::string message;
  try {
    out.put(kResult);
    body(out);
  } catch (const Error& error) {
    message = std::string({kError, static_cast<char>(error.code())}) + error.what();
  } catch (const std::exception& error) {
    message = kInternalError + std::string(error.what());
  }
  if (!message.empty()) {
    if (out.has_sent()) _exit(1);  // part of a result has been sent
    out.drop();
    out.put_bytes(message.data(), message.size());
  }
  out.flush();
}

[[noreturn]] void child_main(int pipe_end, const std::function<void(PipeWriter&)>& body) {
  // The simulation runs in a new thread, because it then usually allocates from that thread's heap.
  // On the parent's heap nearly every page would be written to, and so copied, which takes half of
  // the system time of a small simulation.
  PipeWriter out(pipe_end);
  try {
    std::thread([&] { send_outcome(out, body); }).join();
  } catch (const std::system_error&) {  // no further thread is allowed
    send_outcome(out, body);
  }
  _exit(0);  // not exit(): buffers and handlers belong to the parent
}

}  // namespace

void PipeWriter::put_bytes(const void* bytes, std::size_t size) {
  const char* from = static_cast<const char*>(bytes);
  if (waiting_.size() + size > kChunk) flush();
  if (size > kChunk) return send(from, size);
  waiting_.append(from, size);
}

void PipeWriter::flush() {
  send(waiting_.data(), waiting_.size());
  waiting_.clear();
}

void PipeWriter::send(const char* bytes, std::size_t size) {
  sent_ = sent_ || size > 0;
  while (size > 0) {
    const ssize_t n = write(end_, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) _exit(1);  // the parent has ended
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
}

std::size_t PipeReader::receive(char* bytes, std::size_t size) {
  for (;;) {
    const ssize_t n = read(end_, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    return n < 0 ? 0 : static_cast<std::size_t>(n);
  }
}

void PipeReader::get_bytes(void* bytes, std::size_t size) {
  char* to = static_cast<char*>(bytes);
  while (size > 0) {
    std::size_t n = std::min(size, ahead_.size() - at_);
    if (n > 0) {
      std::memcpy(to, ahead_.data() + at_, n);
      at_ += n;
    } else if (size >= kChunk) {
      n = receive(to, size);
      if (n == 0) throw without_result();
    } else {
      ahead_.resize(kChunk);
      ahead_.resize(receive(ahead_.data(), kChunk));
      at_ = 0;
      if (ahead_.empty()) throw without_result();
    }
    to += n;
    size -= n;
  }
}

std::string PipeReader::rest() {
  std::string all = ahead_.substr(at_);
  std::string chunk(kChunk, '\0');
  while (const std::size_t n = receive(chunk.data(), kChunk)) all.append(chunk, 0, n);
  return all;
}

void run_in_child(const std::function<void(PipeWriter&)>& body,
                  const std::function<void(PipeReader&)>& read) {
  // Both processes would otherwise write what is buffered now.
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  int ends[2];
  // Several threads may run children. No child may inherit the writing end of another child's pipe,
  // or that pipe would stay open until both have ended.
  static std::mutex forking;
  std::unique_lock lock(forking);
  if (pipe(ends) != 0) {
    throw Error(fmt::format("cannot open a pipe: {}", std::strerror(errno)), ExitCode::failed);
  }
  const pid_t child = fork();
  if (child == 0) {
    lock.unlock();  // the child may fork, too
    close(ends[0]);
    child_main(ends[1], body);
  }
  close(ends[1]);
  lock.unlock();
  if (child < 0) {
    close(ends[0]);
    throw Error(fmt::format("cannot fork: {}", std::strerror(errno)), ExitCode::failed);
  }
  PipeReader in(ends[0]);
  char kind = 0;
  std::string message;
  std::exception_ptr thrown;
  try {
    in.get(kind);
    if (kind == kResult) read(in);
    message = in.rest();
    CHECK(kind != kResult || message.empty(), "the child's reply is too long");
  } catch (...) {
    thrown = std::current_exception();
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // A child that dies of SIGPIPE has lost its reader. The exception that stopped the reader then
  // says more.
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE) {
    throw Error(fmt::format("the simulation was killed by signal {} ({})", WTERMSIG(status),
                            strsignal(WTERMSIG(status))),
                ExitCode::failed);
  }
  if (thrown) std::rethrow_exception(thrown);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw without_result();
  if (kind == kError) throw Error(message.substr(1), static_cast<ExitCode>(message[0]));
  if (kind == kInternalError) throw InternalError(message);
}

}  // namespace windtunnel
