#include "tests/validate/harness/execute/run_processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

// Returns the listening sockets in the network of a process, whichever process holds them.
std::vector<ListeningPort> listening_in(const std::string& process) {
  std::ifstream file("/proc/" + process + "/net/tcp");
  std::vector<ListeningPort> found;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream row(line);
    std::string number, local, remote, state, queues, timer, retransmits, uid, timeout;
    ListeningPort port;
    row >> number >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >>
        port.inode;
    if (state != "0A") continue;
    port.address = local.substr(0, 8);
    port.port = std::stoi(local.substr(9), nullptr, 16);
    found.push_back(port);
  }
  return found;
}

ino_t inode_of(const fs::path& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

std::vector<pid_t> children_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", process));
  return {std::istream_iterator<pid_t>(file), {}};
}

std::set<ListeningPort> ports_of(pid_t process) {
  std::set<ino_t> held;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", process), gone)) {
    held.insert(inode_of(entry.path()));
  }
  std::set<ListeningPort> ports;
  for (const ListeningPort& port : listening_in(std::to_string(process))) {
    if (held.contains(port.inode)) ports.insert(port);
  }
  return ports;
}

ino_t network_of(pid_t process) {
  return inode_of(fmt::format("/proc/{}/ns/net", process));
}

NetworkHold::NetworkHold(pid_t process)
    : descriptor_(open(fmt::format("/proc/{}/ns/net", process).c_str(), O_RDONLY | O_CLOEXEC)) {
  EXPECT_GE(descriptor_, 0);
}

NetworkHold::~NetworkHold() {
  close(descriptor_);
}

ino_t NetworkHold::network() const {
  struct stat status = {};
  return fstat(descriptor_, &status) == 0 ? status.st_ino : 0;
}

std::size_t threads_of(pid_t process) {
  std::error_code gone;
  const fs::directory_iterator threads(fmt::format("/proc/{}/task", process), gone);
  return gone ? 0 : static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

bool comes_true(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + kLongestWait;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    usleep(1000);
  }
  return true;
}

std::set<ino_t> networks_in_use() {
  std::set<ino_t> networks;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    networks.insert(inode_of(entry.path() / "ns/net"));
  }
  networks.erase(0);
  return networks;
}

std::set<ino_t> listening_in_network() {
  std::set<ino_t> inodes;
  for (const ListeningPort& port : listening_in("self")) inodes.insert(port.inode);
  return inodes;
}

Runner::Runner(const std::function<std::string()>& body) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::array<int, 2> ends = {};
  EXPECT_EQ(pipe(ends.data()), 0);
  std::fflush(nullptr);
  process_ = fork();
  if (process_ == 0) {
    const std::string said = body();
    _exit(write(ends[1], said.data(), said.size()) == std::ssize(said) ? 0 : 1);
  }
  close(ends[1]);
  pipe_ = ends[0];
}

std::vector<pid_t> Runner::ranks(std::size_t count) const {
  std::vector<pid_t> found;
  comes_true([&] { return (found = children_of(process_)).size() >= count; });
  EXPECT_EQ(found.size(), count);
  return found;
}

bool Runner::has_spoken() const {
  pollfd word = {pipe_, POLLIN, 0};
  return poll(&word, 1, 0) > 0;
}

std::string Runner::said() {
  std::string text(500, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(pipe_, text.data(), 500))));
  close(pipe_);
  EXPECT_EQ(waitpid(process_, nullptr, 0), process_);
  return text;
}

}  // namespace windtunnel
