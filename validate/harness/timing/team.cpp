#include "validate/harness/timing/team.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr double kClockDrift = 0.01;
constexpr double kStolenShare = 0.05;  // share of a core that a hypervisor gave to others

bool moved(double before, double after) {
  return before > 0 && after > 0 && std::abs(after / before - 1) > kClockDrift;
}

// Returns whether a block of `block_s` is unreliable, given the device's readings. The clock of a
// CPU is no criterion: it follows the load of all cores within milliseconds.
bool tainted(const Device& device, const DeviceReadings& before, const DeviceReadings& after,
             double block_s) {
  if (device.kind == DeviceKind::cpu) {
    return after.stolen_s - before.stolen_s > kStolenShare * block_s;
  }
  return ((before.throttle_reasons | after.throttle_reasons) & kThrottled) != 0 ||
         moved(before.clock_Hz, after.clock_Hz) ||
         moved(before.memory_clock_Hz, after.memory_clock_Hz);
}

// Waits briefly for a moment in which other tenants of the machine, which pause for parts of a
// millisecond, leave it alone.
bool left_alone(const Device& device) {
  constexpr int kLooks = 200;
  for (int look = 0; look < kLooks; ++look) {
    if (!device.disturbed()) return true;
  }
  return false;
}

// The bytes of a value, sent between ranks of the same program.
template <typename Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span<const Value, 1>(&value, 1));
}

template <typename Value>
Value received(TcpGroup& group, int from) {
  Value value = {};
  group.receive(from, std::as_writable_bytes(std::span<Value, 1>(&value, 1)));
  return value;
}

std::string received_text(TcpGroup& group, std::size_t length) {
  std::string text(length, '\0');
  group.receive(0, std::as_writable_bytes(std::span<char>(text)));
  return text;
}

// The same steps may be measured both warm and cold.
std::string name_of(const TimedWork& work) {
  return to_text(work.steps) + (work.cache == CacheState::cold ? " cold" : "");
}

}  // namespace

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Team::Order {
  enum class Kind : std::int32_t { prepare, time, drop, end };
  Kind kind = Kind::end;
  std::int32_t times = 0;
  std::uint64_t text_length = 0;  // of the work's name, which follows
};

void TeamMember::prepare(const TimedWork& work) {
  before_ = device_.readings();
  started_s_ = now_s();
  run_ = work.prepare();
}

Timing TeamMember::time(int times, TcpGroup* group) const {
  Timing timing;
  timing.disturbed = !left_alone(device_);
  if (group != nullptr) group->barrier();
  timing.seconds = device_.time_s(run_, times);
  if (device_.disturbed()) timing.disturbed = true;
  return timing;
}

BlockReadings TeamMember::drop() {
  run_ = nullptr;
  BlockReadings block{before_, device_.readings()};
  block.tainted = tainted(device_, block.before, block.after, now_s() - started_s_);
  return block;
}

Team::Team(const Device& device, TcpGroup* group) : own_(device), group_(group) {
  CHECK(group == nullptr || group->rank() == 0, "rank {} leads a team", group->rank());
}

Team::~Team() {
  try {
    tell({Order::Kind::end});
  } catch (const Error&) {
    // The rank with a broken connection has ended.
  }
}

void Team::tell(const Order& order, std::string_view work) {
  Order told = order;
  told.text_length = work.size();
  for (int other = 1; other < ranks(); ++other) {
    group_->send(other, bytes_of(told));
    group_->send(other, std::as_bytes(std::span(work)));
  }
}

void Team::prepare(const TimedWork& work) {
  tell({Order::Kind::prepare}, name_of(work));
  own_.prepare(work);
}

Timing Team::time(int times) {
  tell({Order::Kind::time, times});
  Timing slowest = own_.time(times, ranks() > 1 ? group_ : nullptr);
  for (int other = 1; other < ranks(); ++other) {
    const auto theirs = received<Timing>(*group_, other);
    slowest.seconds = std::max(slowest.seconds, theirs.seconds);
    if (theirs.disturbed) slowest.disturbed = true;
  }
  return slowest;
}

BlockReadings Team::drop() {
  tell({Order::Kind::drop});
  BlockReadings block = own_.drop();
  for (int other = 1; other < ranks(); ++other) {
    if (received<bool>(*group_, other)) block.tainted = true;
  }
  return block;
}

// Runs a team's orders on any rank other than 0.
class Follower {
 public:
  Follower(std::span<const TimedWork> works, const Device& device, TcpGroup& group)
      : works_(works), group_(group), own_(device) {}

  void run() {
    while (follow(received<Team::Order>(group_, 0))) {
    }
  }

 private:
  bool follow(const Team::Order& order);
  const TimedWork& work_of(const std::string& name) const;

  std::span<const TimedWork> works_;
  TcpGroup& group_;
  TeamMember own_;
};

const TimedWork& Follower::work_of(const std::string& name) const {
  for (const TimedWork& work : works_) {
    if (name_of(work) == name) return work;
  }
  throw Error(fmt::format("rank 0 measures '{}', which this rank does not know; start all ranks "
                          "with the same options on identical devices",
                          name),
              ExitCode::failed);
}

bool Follower::follow(const Team::Order& order) {
  using Kind = Team::Order::Kind;
  switch (order.kind) {
    case Kind::prepare:
      own_.prepare(work_of(received_text(group_, order.text_length)));
      return true;
    case Kind::time:
      group_.send(0, bytes_of(own_.time(order.times, &group_)));
      return true;
    case Kind::drop:
      group_.send(0, bytes_of(own_.drop().tainted));
      return true;
    case Kind::end:
      return false;
  }
  throw Error("rank 0 sent a command that this rank does not know", ExitCode::failed);
}

void follow(std::span<const TimedWork> works, const Device& device, TcpGroup& group) {
  CHECK(group.rank() > 0, "rank 0 follows");
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  Follower(works, device, group).run();
}

}  // namespace windtunnel
