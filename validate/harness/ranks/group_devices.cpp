#include "validate/harness/ranks/group_devices.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <map>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Identifies this machine's current boot: containers of one host may have different names, and
// hosts may have equal ones.
std::string host_name() {
  std::array<char, 256> name = {};
  gethostname(name.data(), name.size() - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot.empty() ? name.data() : boot;
}

// Returns the cores on which this process may run, a character each.
std::string core_names() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  std::string names(CPU_SETSIZE, '0');
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cores)) names[static_cast<size_t>(core)] = '1';
  }
  return names;
}

// Returns the most ranks per core. Launchers may give each rank cores of its own, or all ranks the
// same.
int most_on_cores(const std::vector<std::string>& hosts, const std::vector<std::string>& cores) {
  std::map<std::string, std::pair<int, std::string>> of_host;  // ranks, and cores of any
  for (size_t rank = 0; rank < hosts.size(); ++rank) {
    auto& [ranks, any] = of_host[hosts[rank]];
    any.resize(cores[rank].size(), '0');
    ++ranks;
    for (size_t i = 0; i < any.size(); ++i) any[i] = std::max(any[i], cores[rank][i]);
  }
  int most = 1;
  for (const auto& [host, shared] : of_host) {
    const auto count =
        std::max(1, static_cast<int>(std::count(shared.second.begin(), shared.second.end(), '1')));
    most = std::max(most, (shared.first + count - 1) / count);
  }
  return most;
}

void send_text(TcpGroup& group, int to, const std::string& text) {
  const std::uint64_t size = text.size();
  group.send(to, std::as_bytes(std::span(&size, 1)));
  group.send(to, std::as_bytes(std::span(text)));
}

std::string receive_text(TcpGroup& group, int from) {
  std::uint64_t size = 0;
  group.receive(from, std::as_writable_bytes(std::span(&size, 1)));
  std::string text(size, '\0');
  group.receive(from, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace

// Texts go through rank 0, because they are short.
std::vector<std::string> told_by_all(TcpGroup& group, const std::string& own) {
  std::vector<std::string> told(static_cast<size_t>(group.ranks()));
  if (group.rank() != 0) {
    send_text(group, 0, own);
    for (std::string& text : told) text = receive_text(group, 0);
    return told;
  }
  told[0] = own;
  for (int rank = 1; rank < group.ranks(); ++rank) {
    told[static_cast<size_t>(rank)] = receive_text(group, rank);
  }
  for (int rank = 1; rank < group.ranks(); ++rank) {
    for (const std::string& text : told) send_text(group, rank, text);
  }
  return told;
}

void agree(TcpGroup& group, const std::string& fault) {
  const std::vector<std::string> told = told_by_all(group, fault);
  for (size_t rank = 0; rank < told.size(); ++rank) {
    if (!told[rank].empty()) throw AgreedFault(fmt::format("rank {}: {}", rank, told[rank]));
  }
}

int most_alike(const std::vector<std::string>& told) {
  std::map<std::string, int> counts;
  int most = 0;
  for (const std::string& text : told) most = std::max(most, ++counts[text]);
  return most;
}

double least_of_all(TcpGroup& group, double own) {
  for (const std::string& told : told_by_all(group, fmt::format("{}", own))) {
    own = std::min(own, std::stod(told));
  }
  return own;
}

DeviceShare take_devices(TcpGroup& group, const Device& device) {
  const std::vector<std::string> hosts = told_by_all(group, host_name());
  const auto own = hosts.begin() + group.rank();
  DeviceShare share;
  share.local_rank = static_cast<int>(std::count(hosts.begin(), own, *own));
  share.local_ranks = static_cast<int>(std::count(hosts.begin(), hosts.end(), *own));
  agree(group, device.why_unusable());
  // If a launcher gives each rank a device, the rank sees only that device.
  share.index = share.local_rank % device.count();
  device.select(share.index);
  share.ranks_per_device = device.kind == DeviceKind::cpu
                               ? most_on_cores(hosts, told_by_all(group, core_names()))
                               : most_alike(told_by_all(group, device.describe().id));
  std::vector<std::string> different = hosts;
  std::ranges::sort(different);
  share.hosts =
      static_cast<int>(std::unique(different.begin(), different.end()) - different.begin());
  return share;
}

UsableDevices usable_devices(DeviceKind kind) {
  UsableDevices usable;
  run_ranks(2, [&](TcpGroup& group) {
    if (group.rank() == 1) {
      const Device& where = device(kind);
      send_text(group, 0, where.why_unusable());
      const std::int32_t count = where.count();
      group.send(0, std::as_bytes(std::span(&count, 1)));
      return;
    }
    usable.why_none = receive_text(group, 1);
    std::int32_t count = 0;
    group.receive(1, std::as_writable_bytes(std::span(&count, 1)));
    usable.count = count;
  });
  return usable;
}

}  // namespace windtunnel
