#include "validate/harness/ranks/rank_welcome.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

using WelcomeClock = std::chrono::steady_clock;

constexpr auto kHelloTime =
    std::chrono::duration_cast<WelcomeClock::duration>(std::chrono::duration<double>(kHelloS));

// Unidentified connections at a time, in addition to the number of ranks; each takes a descriptor.
constexpr size_t kMostStrangers = 64;

// A process that has connected and not yet identified itself.
struct Guest {
  int socket = -1;
  Hello hello;
  size_t heard = 0;  // received bytes of `hello`
  WelcomeClock::time_point until;
};

// Accepts the ranks above this one among unknown processes, without waiting for silent ones.
class Welcome {
 public:
  Welcome(const Hello& own, int listening, WelcomeClock::time_point until, MetRanks& met)
      : own_(own), listening_(listening), until_(until), met_(met) {
    fcntl(listening, F_SETFL, fcntl(listening, F_GETFL) | O_NONBLOCK);
    missing_ = met.sockets.size() - static_cast<size_t>(own.rank) - 1;
  }
  ~Welcome() {
    for (const Guest& guest : guests_) send_away(guest);
  }
  Welcome(const Welcome&) = delete;
  Welcome& operator=(const Welcome&) = delete;

  void run() {
    while (missing_ > 0) {
      if (WelcomeClock::now() > until_) {
        throw Error(fmt::format("{} of the ranks above did not connect", missing_),
                    ExitCode::failed);
      }
      std::vector<pollfd> waits = {{listening_, POLLIN, 0}};
      for (const Guest& guest : guests_) waits.push_back({guest.socket, POLLIN, 0});
      constexpr int kLookMs = 100;
      poll(waits.data(), waits.size(), kLookMs);
      std::erase_if(guests_, [this](Guest& guest) { return is_settled(guest); });
      for (int left = kStrangersAtOnce; left > 0 && let_in(); --left) {
      }
    }
  }

 private:
  // Accepts a connection. If too many are unidentified, drops the oldest of these.
  bool let_in() {
    Guest guest;
    guest.socket = accept4(listening_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (guest.socket < 0) return false;
    guest.until = WelcomeClock::now() + kHelloTime;
    guests_.push_back(guest);
    if (guests_.size() > kMostStrangers + met_.sockets.size()) {
      send_away(guests_.front());
      guests_.erase(guests_.begin());
    }
    return true;
  }

  void send_away(const Guest& guest) {
    close(guest.socket);
    ++met_.strangers;
  }

  // Whether it has identified itself, or has been silent for too long.
  bool is_settled(Guest& guest) {
    auto* const to = reinterpret_cast<std::byte*>(&guest.hello);
    const ssize_t count = recv(guest.socket, to + guest.heard, sizeof guest.hello - guest.heard, 0);
    if (count > 0) guest.heard += static_cast<size_t>(count);
    const bool waits = count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
    if (guest.heard < sizeof guest.hello) {
      if (waits && WelcomeClock::now() < guest.until) return false;
      send_away(guest);
      return true;
    }
    const Hello& hello = guest.hello;
    const bool known = hello.magic == own_.magic && hello.job == own_.job &&
                       hello.rank > own_.rank && hello.rank < std::ssize(met_.sockets);
    if (!known || met_.sockets[static_cast<size_t>(hello.rank)] >= 0) {
      send_away(guest);
    } else {
      met_.sockets[static_cast<size_t>(hello.rank)] = guest.socket;
      --missing_;
    }
    return true;
  }

  const Hello& own_;
  int listening_;
  WelcomeClock::time_point until_;
  MetRanks& met_;
  std::vector<Guest> guests_;
  size_t missing_ = 0;
};

}  // namespace

void welcome_ranks(const Hello& own, int listening, WelcomeClock::time_point until, MetRanks& met) {
  Welcome(own, listening, until, met).run();
}

}  // namespace windtunnel
