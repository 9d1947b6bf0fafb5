// These functions show the processes of an execution from outside: their ports and networks.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace windtunnel {

std::vector<pid_t> children_of(pid_t process);

struct ListeningPort {
  std::string address;  // as /proc/net/tcp writes it
  int port = 0;
  ino_t inode = 0;
  auto operator<=>(const ListeningPort&) const = default;
};
// Returns the ports in the process's network that the process holds open.
std::set<ListeningPort> ports_of(pid_t process);
std::size_t threads_of(pid_t process);
std::set<ino_t> networks_in_use();       // by all processes of this machine
std::set<ino_t> listening_in_network();  // inodes in this process's network

// Keeps the network of a process: meanwhile the kernel gives its inode to no other network, and
// networks_in_use() lists it only while a process is in it.
class NetworkHold {
 public:
  explicit NetworkHold(pid_t process);
  ~NetworkHold();
  NetworkHold(const NetworkHold&) = delete;
  NetworkHold& operator=(const NetworkHold&) = delete;
  ino_t network() const;

 private:
  int descriptor_ = -1;
};

// Waits for a condition, at most kLongestWait, which is longer than any load on the machine delays
// it, and returns whether it came true.
inline constexpr std::chrono::seconds kLongestWait{60};
bool comes_true(const std::function<bool()>& condition);

// Runs `body` in a separate process; the process's last message is what `body` returns. Processes
// that it leaves behind become children of this one.
class Runner {
 public:
  explicit Runner(const std::function<std::string()>& body);
  pid_t process() const { return process_; }
  std::vector<pid_t> ranks(std::size_t count) const;  // waits for this number; in order of creation
  bool has_spoken() const;                            // it has ended, or is about to
  std::string said();                                 // its message; waits for its end
 private:
  pid_t process_ = 0;
  int pipe_ = -1;
};

}  // namespace windtunnel
