#include "validate/harness/ranks/rank_sockets.hpp"

#include <netinet/tcp.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "models/base/error.hpp"
#include "validate/harness/ranks/rank_welcome.hpp"

namespace windtunnel {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;

constexpr double kForkedS = 60;  // limit for forked ranks to connect

// Says where a rank listens, as rank 0 reports it. An empty address means rank 0's host, at the
// address that the reader used.
struct Listener {
  std::array<char, 46> address = {};
  std::int32_t port = 0;
};

Clock::time_point after(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Runs one asynchronous operation that `start` begins with the given handler. Closes `part`, on
// which it works, if it has not ended in time.
template <typename Part, typename Start>
boost::system::error_code ended_by(asio::io_context& context, Part& part, Clock::time_point until,
                                   const Start& start) {
  bool ended = false;
  boost::system::error_code fault;
  const auto note = [&](boost::system::error_code error) {
    ended = true;
    fault = error;
  };
  context.restart();
  start(note);
  while (!ended && context.run_one_until(until) > 0) {
  }
  if (ended) return fault;
  part.close(fault);
  context.restart();
  context.run();
  return asio::error::timed_out;
}

template <typename Value>
boost::system::error_code read_value(asio::io_context& context, tcp::socket& socket, Value& value,
                                     Clock::time_point until) {
  return ended_by(context, socket, until, [&](const auto& note) {
    asio::async_read(socket, asio::buffer(&value, sizeof value),
                     [note](boost::system::error_code error, size_t /*bytes*/) { note(error); });
  });
}

template <typename Value>
boost::system::error_code write_value(tcp::socket& socket, const Value& value) {
  boost::system::error_code fault;
  asio::write(socket, asio::buffer(&value, sizeof value), fault);
  return fault;
}

boost::system::error_code accept(asio::io_context& context, tcp::acceptor& listening,
                                 tcp::socket& socket, Clock::time_point until) {
  return ended_by(context, listening, until,
                  [&](const auto& note) { listening.async_accept(socket, note); });
}

// Retries until it succeeds, because the listener may start later.
boost::system::error_code connect(asio::io_context& context, tcp::socket& socket,
                                  const std::vector<tcp::endpoint>& endpoints,
                                  Clock::time_point until) {
  constexpr auto kPause = std::chrono::milliseconds(50);
  boost::system::error_code fault = asio::error::timed_out;
  while (Clock::now() < until) {
    for (const tcp::endpoint& endpoint : endpoints) {
      boost::system::error_code closing;
      socket.close(closing);
      if (endpoint.address().is_loopback()) {
        socket.open(endpoint.protocol(), closing);
        send_unpaced(socket.native_handle());
      }
      const boost::system::error_code tried = ended_by(
          context, socket, until, [&](const auto& note) { socket.async_connect(endpoint, note); });
      if (!tried) return tried;
      if (tried != asio::error::timed_out) fault = tried;
    }
    std::this_thread::sleep_for(kPause);
  }
  return fault;
}

struct Meeting {
  int rank = 0;
  std::uint64_t job = 0;
  std::vector<tcp::endpoint> listeners;  // of all ranks
  Clock::time_point until;
};

// Connects to the ranks below and accepts those above, each of which identifies itself.
MetRanks join(const Meeting& meeting, tcp::acceptor& listening, asio::io_context& context) {
  const auto own = static_cast<size_t>(meeting.rank);
  MetRanks met;
  met.sockets.assign(meeting.listeners.size(), -1);
  Hello hello;
  hello.job = meeting.job;
  hello.rank = meeting.rank;
  for (size_t other = 0; other < own; ++other) {
    tcp::socket socket(context);
    auto fault = connect(context, socket, {meeting.listeners[other]}, meeting.until);
    if (!fault) fault = write_value(socket, hello);
    if (fault) {
      throw Error(fmt::format("cannot connect to rank {}: {}", other, fault.message()),
                  ExitCode::failed);
    }
    met.sockets[other] = socket.release();
  }
  welcome_ranks(hello, listening.native_handle(), meeting.until, met);
  met.listener = listening.release();
  return met;
}

// Accepts connections at every address of this host; `port` 0 takes any free port.
tcp::acceptor listen_everywhere(asio::io_context& context, int port) {
  tcp::acceptor listening(context);
  boost::system::error_code fault;
  listening.open(tcp::v6(), fault);
  const bool v6 = !fault && !listening.set_option(asio::ip::v6_only(false), fault) && !fault;
  if (!v6) {
    listening.close(fault);
    listening.open(tcp::v4());
  }
  listening.set_option(tcp::acceptor::reuse_address(true));
  listening.bind({v6 ? tcp::v6() : tcp::v4(), static_cast<unsigned short>(port)}, fault);
  if (!fault) listening.listen(asio::socket_base::max_listen_connections, fault);
  if (fault == asio::error::address_in_use) {
    throw Error(
        fmt::format("port {} of this host is taken, by another job or by an earlier one that still "
                    "runs; choose another port with --coordinator HOST:PORT or MASTER_PORT",
                    port));
  }
  if (fault) throw Error(fmt::format("port {}: {}", port, fault.message()), ExitCode::failed);
  return listening;
}

std::string listed(const std::vector<int>& ranks) {
  constexpr size_t kShown = 8;
  const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, ranks.size()));
  return fmt::format(
      "{} {}{}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks.begin(), end, ", "),
      ranks.size() > kShown ? fmt::format(" and {} more", ranks.size() - kShown) : "");
}

std::string host_of(const tcp::socket& socket) {
  boost::system::error_code fault;
  const tcp::endpoint peer = socket.remote_endpoint(fault);
  return fault ? "an unknown host" : peer.address().to_string();
}

// Rank 0's side of finding each other. Each rank identifies itself. When the last has come, rank 0
// tells all ranks where all listen; if there will be no group, it tells them why.
class Reception {
 public:
  Reception(const RankPlace& place, std::uint64_t job, double timeout_s)
      : place_(place), job_(job), timeout_s_(timeout_s), until_(after(timeout_s)) {
    for (int rank = 0; rank < place.ranks; ++rank) guests_.emplace_back(context_);
    listeners_.resize(guests_.size());
  }

  void run(int own_port) {
    tcp::acceptor listening = listen_everywhere(context_, place_.port);
    listeners_[0].port = own_port;
    while (!missing().empty()) {
      tcp::socket socket(context_);
      if (accept(context_, listening, socket, until_)) {
        refuse_all(fmt::format("{} of {} did not connect to {}:{} within {:.3g} s",
                               listed(missing()), place_.ranks, place_.host, place_.port,
                               timeout_s_));
      }
      Hello hello;
      const auto until = std::min(until_, after(kHelloS));
      if (read_value(context_, socket, hello, until) || hello.magic != Hello().magic) continue;
      receive(hello, socket);
    }
    for (tcp::socket& guest : guests_) {
      if (!guest.is_open()) continue;
      tell(guest, "");
      asio::write(guest, asio::buffer(listeners_));
    }
  }

 private:
  std::vector<int> missing() const {
    std::vector<int> ranks;
    for (size_t rank = 1; rank < guests_.size(); ++rank) {
      if (!guests_[rank].is_open()) ranks.push_back(static_cast<int>(rank));
    }
    return ranks;
  }

  void receive(const Hello& hello, tcp::socket& socket) {
    if (hello.job != job_) {  // the fault is in the other job
      tell(socket, fmt::format("rank 0 of another job listens at {}:{}; give each job its own port "
                               "with --coordinator HOST:PORT or MASTER_PORT",
                               place_.host, place_.port));
      return;
    }
    std::string fault;
    if (hello.ranks != place_.ranks || hello.rank < 1 || hello.rank >= place_.ranks) {
      fault = fmt::format("rank {} of {} was started with {} ranks, but rank 0 with {}", hello.rank,
                          host_of(socket), hello.ranks, place_.ranks);
    } else if (tcp::socket& guest = guests_[static_cast<size_t>(hello.rank)]; guest.is_open()) {
      fault = fmt::format("rank {} connected twice, from {} and from {}", hello.rank,
                          host_of(guest), host_of(socket));
    }
    if (!fault.empty()) {
      fault += fmt::format(
          "; if two jobs use {}:{}, give each its own port with --coordinator HOST:PORT or "
          "MASTER_PORT",
          place_.host, place_.port);
      tell(socket, fault);
      refuse_all(fault);
    }
    const auto rank = static_cast<size_t>(hello.rank);
    listeners_[rank].port = hello.port;
    if (const auto address = plain(socket.remote_endpoint().address()); !address.is_loopback()) {
      const std::string text = address.to_string();
      std::copy_n(text.begin(), std::min(text.size(), listeners_[rank].address.size() - 1),
                  listeners_[rank].address.begin());
    }
    guests_[rank] = std::move(socket);
  }

  // Converts a mapped IPv4 address to a plain one, because not all hosts have IPv6.
  static asio::ip::address plain(const asio::ip::address& address) {
    if (address.is_v4() || !address.to_v6().is_v4_mapped()) return address;
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }

  static void tell(tcp::socket& socket, const std::string& fault) {
    boost::system::error_code broken;
    const auto length = static_cast<std::uint32_t>(fault.size());
    asio::write(socket, asio::buffer(&length, sizeof length), broken);
    asio::write(socket, asio::buffer(fault), broken);
  }

  [[noreturn]] void refuse_all(const std::string& fault) {
    for (tcp::socket& guest : guests_) {
      if (guest.is_open()) tell(guest, fault);
    }
    throw Error(fault);
  }

  const RankPlace& place_;
  std::uint64_t job_;
  double timeout_s_;
  Clock::time_point until_;
  asio::io_context context_;
  std::vector<tcp::socket> guests_;  // [rank] the own one is closed
  std::vector<Listener> listeners_;
};

void receive_ranks(const RankPlace& place, const Hello& hello, double timeout_s) {
  Reception(place, hello.job, timeout_s).run(hello.port);
}

std::vector<tcp::endpoint> resolved(asio::io_context& context, const RankPlace& place) {
  tcp::resolver resolver(context);
  boost::system::error_code fault;
  std::vector<tcp::endpoint> endpoints;
  for (const auto& entry : resolver.resolve(place.host, std::to_string(place.port), fault)) {
    endpoints.push_back(entry.endpoint());
  }
  if (fault || endpoints.empty()) {
    throw Error(
        fmt::format("the host '{}' of rank 0 is unknown: {}; give another name or an address with "
                    "--coordinator HOST:PORT or MASTER_ADDR",
                    place.host, fault.message()));
  }
  return endpoints;
}

// Asks rank 0 where each rank listens, at an address that this host can reach.
std::vector<tcp::endpoint> ask_reception(const RankPlace& place, const Hello& hello,
                                         double timeout_s) {
  asio::io_context context;
  tcp::socket socket(context);
  auto fault = connect(context, socket, resolved(context, place), after(timeout_s));
  if (fault) {
    throw Error(
        fmt::format("rank 0 did not answer at {}:{} within {:.0f} s ({}); check that it was "
                    "started and that hosts can reach each other at that port",
                    place.host, place.port, timeout_s, fault.message()));
  }
  const asio::ip::address reached = socket.remote_endpoint().address();
  // Rank 0 may have started last; its own timeout comes first.
  const auto until = after(2 * timeout_s + kHelloS);
  fault = write_value(socket, hello);
  std::uint32_t length = 0;
  if (!fault) fault = read_value(context, socket, length, until);
  std::string refusal(fault ? 0 : std::min<std::uint32_t>(length, 10000), '\0');
  std::vector<Listener> listeners(static_cast<size_t>(place.ranks));
  if (!fault && length > 0) {
    asio::read(socket, asio::buffer(refusal), fault);
    throw Error(refusal);
  }
  if (!fault) asio::read(socket, asio::buffer(listeners), fault);
  if (fault) {
    throw Error(fmt::format("rank 0 at {}:{} left before the group was complete: {}", place.host,
                            place.port, fault.message()),
                ExitCode::failed);
  }
  std::vector<tcp::endpoint> endpoints;
  for (const Listener& listener : listeners) {
    const bool at_rank_0 = listener.address.front() == '\0';
    endpoints.emplace_back(at_rank_0 ? reached : asio::ip::make_address(listener.address.data()),
                           static_cast<unsigned short>(listener.port));
  }
  return endpoints;
}

}  // namespace

std::uint64_t run_secret() {
  std::uint64_t secret = 0;
  CHECK(getrandom(&secret, sizeof secret, 0) == sizeof secret, "no random numbers");
  return secret;
}

void send_unpaced(int descriptor) {
  constexpr std::string_view kControl = "reno";
  setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, kControl.data(), kControl.size());
}

void send_at_once(int descriptor) {
  constexpr int kOn = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof kOn);
}

struct ForkedRanks::Ports {
  // Identifies processes of this run; all others are rejected.
  std::uint64_t secret = run_secret();
  asio::io_context context;
  std::vector<tcp::acceptor> acceptors;
};

ForkedRanks::ForkedRanks(int ranks) : ports_(std::make_unique<Ports>()) {
  try {
    for (int rank = 0; rank < ranks; ++rank) {
      ports_->acceptors.emplace_back(ports_->context,
                                     tcp::endpoint(asio::ip::address_v4::loopback(), 0));
      // Accepted connections inherit this setting.
      send_unpaced(ports_->acceptors.back().native_handle());
    }
  } catch (const boost::system::system_error& error) {  // each port takes a descriptor
    throw Error(fmt::format("cannot listen for {} ranks: {}; take fewer", ranks, error.what()),
                ExitCode::failed);
  }
}

ForkedRanks::~ForkedRanks() = default;

MetRanks ForkedRanks::connect(int rank) const {
  Meeting meeting;
  meeting.rank = rank;
  meeting.job = ports_->secret;
  meeting.until = after(kForkedS);
  for (const tcp::acceptor& acceptor : ports_->acceptors) {
    meeting.listeners.push_back(acceptor.local_endpoint());
  }
  // A context does not survive a fork, so each rank has one of its own.
  asio::io_context context;
  tcp::acceptor own(context, tcp::v4(),
                    dup(ports_->acceptors[static_cast<size_t>(rank)].native_handle()));
  return join(meeting, own, context);
}

MetRanks meet_ranks(int rank, const std::vector<RankAddress>& addresses, std::uint64_t secret,
                    double timeout_s) {
  Meeting meeting;
  meeting.rank = rank;
  meeting.job = secret;
  meeting.until = after(timeout_s);
  for (const RankAddress& each : addresses) {
    meeting.listeners.emplace_back(asio::ip::make_address(each.host),
                                   static_cast<unsigned short>(each.port));
  }
  asio::io_context context;
  tcp::acceptor own(context, meeting.listeners[static_cast<size_t>(rank)]);
  return join(meeting, own, context);
}

RankSockets find_ranks(const RankPlace& place, double timeout_s) {
  CHECK(place.rank >= 0 && place.rank < place.ranks, "rank {} of {}", place.rank, place.ranks);
  asio::io_context context;
  tcp::acceptor listening = listen_everywhere(context, 0);
  Hello hello;
  hello.job = job_word(place.job);
  hello.rank = place.rank;
  hello.ranks = place.ranks;
  hello.port = listening.local_endpoint().port();
  Meeting meeting;
  meeting.rank = place.rank;
  meeting.job = hello.job;
  if (place.rank == 0) {
    receive_ranks(place, hello, timeout_s);
    meeting.listeners.resize(static_cast<size_t>(place.ranks));  // rank 0 connects to none
  } else {
    meeting.listeners = ask_reception(place, hello, timeout_s);
  }
  meeting.until = after(timeout_s);
  MetRanks met = join(meeting, listening, context);
  close(met.listener);
  return std::move(met.sockets);
}

}  // namespace windtunnel
