#include "sim/engine/child.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>
#include <system_error>
#include <thread>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// First byte of what the child sends; an Error's exit code follows it.
constexpr char kResult = 'r';
constexpr char kError = 'e';
constexpr char kInternalError = 'i';

std::string outcome_of(const std::function<std::string()>& body) {
  try {
    return kResult + body();
  } catch (const Error& error) {
    return std::string({kError, static_cast<char>(error.code())}) + error.what();
  } catch (const std::exception& error) {
    return kInternalError + std::string(error.what());
  }
}

[[noreturn]] void child_main(int pipe_end, const std::function<std::string()>& body) {
  // The simulation usually allocates from the heap of a new thread. On the parent's heap nearly
  // every page would be written to, and so copied: half of the system time of a small simulation.
  std::string message;
  try {
    std::thread([&] { message = outcome_of(body); }).join();
  } catch (const std::system_error&) {  // no further thread is allowed
    message = outcome_of(body);
  }
  size_t sent = 0;
  while (sent < message.size()) {
    const ssize_t n = write(pipe_end, message.data() + sent, message.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) _exit(1);  // the parent has gone
    sent += static_cast<size_t>(n);
  }
  _exit(0);  // not exit: buffers and handlers belong to the parent
}

std::string read_all(int pipe_end) {
  std::string message;
  std::string chunk(1 << 16, '\0');
  for (;;) {
    const ssize_t n = read(pipe_end, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return message;
    message.append(chunk, 0, static_cast<size_t>(n));
  }
}

}  // namespace

std::string run_in_child(const std::function<std::string()>& body) {
  // Flushes, because both processes would otherwise write what is buffered now.
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  int ends[2];
  // Several threads may run children: none may inherit the writing end of another one's pipe, or
  // that pipe would stay open until both have ended.
  static std::mutex forking;
  std::unique_lock lock(forking);
  if (pipe(ends) != 0) {
    throw Error(fmt::format("cannot open a pipe: {}", std::strerror(errno)), ExitCode::failed);
  }
  const pid_t child = fork();
  if (child == 0) {
    lock.unlock();  // for children of its own
    close(ends[0]);
    child_main(ends[1], body);
  }
  close(ends[1]);
  lock.unlock();
  if (child < 0) {
    close(ends[0]);
    throw Error(fmt::format("cannot fork: {}", std::strerror(errno)), ExitCode::failed);
  }
  std::string message = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    throw Error(fmt::format("the simulation was killed by signal {} ({})", WTERMSIG(status),
                            strsignal(WTERMSIG(status))),
                ExitCode::failed);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || message.empty()) {
    throw Error("the simulation ended without a result", ExitCode::failed);
  }
  if (message[0] == kError) {
    throw Error(message.substr(2), static_cast<ExitCode>(message[1]));
  }
  if (message[0] == kInternalError) throw InternalError(message.substr(1));
  return message.erase(0, 1);
}

}  // namespace windtunnel
