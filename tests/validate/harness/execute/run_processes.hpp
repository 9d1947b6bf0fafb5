// The processes of an execution as somebody outside sees them: what they listen on and where.
#pragma once

#include <sys/types.h>

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
// Of its network, those that the process holds open.
std::set<ListeningPort> ports_of(pid_t process);
ino_t network_of(pid_t process);         // 0: it is gone
std::set<ino_t> networks_in_use();       // by any process of this machine
std::set<ino_t> listening_in_network();  // inodes of this process's network

// `body` in a process of its own, whose last word is what it returns. What its processes leave
// behind becomes a child of this one.
class Runner {
 public:
  explicit Runner(const std::function<std::string()>& body);
  pid_t process() const { return process_; }
  std::vector<pid_t> ranks(std::size_t count) const;  // waits for so many; sorted
  std::string said();                                 // waits for its end
 private:
  pid_t process_ = 0;
  int pipe_ = -1;
};

}  // namespace windtunnel
