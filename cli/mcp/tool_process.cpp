#include "cli/mcp/tool_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kMostOutput = 64 << 20;
constexpr int kLook_ms = 50;  // interval between checks of `cancelled`

struct Pipe {
  int from = -1, to = -1;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      throw Error(fmt::format("no pipe: {}", std::strerror(errno)), ExitCode::failed);
    }
    from = ends[0];
    to = ends[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(from);
    close_end(to);
  }
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

// Runs in the child after fork(), so it must not call anything that could wait for another thread.
[[noreturn]] void become(char* const* words, const Pipe& out, const Pipe& err) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(out.to, STDOUT_FILENO);
  dup2(err.to, STDERR_FILENO);
  execv("/proc/self/exe", words);
  _exit(127);
}

// Reads available data; false once the pipe has ended.
bool take(int from, std::string& to) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(from, buffer.data(), buffer.size());
  if (count > 0) to.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

// Reads until both pipes end.
void collect(Pipe& out, Pipe& err, pid_t child, const std::atomic<bool>& cancelled,
             ProcessOutput& into) {
  while (out.from >= 0 || err.from >= 0) {
    std::array<pollfd, 2> ends = {pollfd{out.from, POLLIN, 0}, pollfd{err.from, POLLIN, 0}};
    poll(ends.data(), ends.size(), kLook_ms);
    if (cancelled || into.out.size() + into.err.size() > kMostOutput) kill(child, SIGKILL);
    if (ends[0].revents != 0 && !take(out.from, into.out)) Pipe::close_end(out.from);
    if (ends[1].revents != 0 && !take(err.from, into.err)) Pipe::close_end(err.from);
  }
}

}  // namespace

ProcessOutput run_self(const std::vector<std::string>& words, const std::atomic<bool>& cancelled) {
  std::vector<std::string> own = {"windtunnel"};
  own.insert(own.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : own) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  Pipe out, err;
  const pid_t child = fork();
  if (child < 0) {
    throw Error(fmt::format("no process: {}", std::strerror(errno)), ExitCode::failed);
  }
  if (child == 0) become(pointers.data(), out, err);
  Pipe::close_end(out.to);
  Pipe::close_end(err.to);
  ProcessOutput result;
  collect(out, err, child, cancelled, result);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace windtunnel
