#include "validate/harness/execute/rank_run.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Interval of signs of life.
constexpr std::int64_t kSignNs = 50'000'000;
// Delay before repeating what the wire had no room for.
constexpr std::int64_t kTellAgainNs = 500'000;
// Real seconds of a piece on the narrowest link: flows share links piece by piece.
constexpr double kPieceS = 1e-3;
constexpr double kMostPieces = 64;
constexpr double kPlainPiece = 32e3;  // real bytes of a piece if no bucket limits them

constexpr std::size_t kBlock = std::size_t{1} << 20;
// The file grows no larger: writing then starts again at its beginning.
constexpr std::size_t kFileBytes = std::size_t{64} << 20;

}  // namespace

RankRun::RankRun(const RankSetup& setup, RankWire& wire, const RunClock& clock, Span* spans,
                 Fail fail)
    : setup_(setup),
      tasks_(setup.plan->classes[setup.rank_class].tasks),
      wire_(wire),
      clock_(clock),
      spans_(spans),
      fail_(std::move(fail)),
      board_(*this),
      streams_(setup.tasks_of->streams.size()),
      left_(tasks_.size()) {
  for (TaskIndex t = 0; t < std::ssize(tasks_); ++t) {
    const TaskTemplate& entry = setup.tasks_of->tasks[t];
    if (entry.timed) events_.push({entry.not_before_s, t, false});
    if (entry.kind == TaskKind::recv) receive_of_[{peer_of(t), task(t).tag}] = t;
    if (entry.kind == TaskKind::send) send_of_[{peer_of(t), task(t).tag}] = t;
  }
  board_.add_rank(*setup.tasks_of, tasks_);
}

RankId RankRun::own_rank() const {
  return setup_.plan->classes[setup_.rank_class].members[setup_.member];
}

RankId RankRun::peer_of(TaskIndex t) const {
  return setup_.plan->classes[setup_.rank_class].peers[task(t).peer_slot][setup_.member];
}

std::int32_t RankRun::group_of(TaskIndex t) const {
  return setup_.plan->classes[setup_.rank_class].groups[task(t).group_slot][setup_.member];
}

void RankRun::run(const std::function<bool(bool through)>& all_through,
                  const std::function<void()>& step) {
  step_ = step;
  std::vector<std::thread> threads;
  const auto guarded = [this](const auto& body) {
    try {
      body();
    } catch (const std::exception& error) {
      fail_(error);
    }
  };
  clock_.sleep_until(0);
  guarded([&] {
    const Lock lock(mutex_);
    board_.begin();
  });
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    const StreamTemplate& stream = setup_.tasks_of->streams[s];
    if (stream.passive) continue;
    const bool in_order = stream.order == StreamOrder::in_order;
    threads.emplace_back([this, s, in_order, guarded] {
      guarded([&] { in_order ? run_in_order(s) : run_by_priority(s); });
    });
  }
  guarded([&] { receive_frames(all_through); });
  for (std::thread& thread : threads) thread.join();
}

// ---- streams ----

void RankRun::run_in_order(std::size_t s) {
  for (const TaskIndex t : setup_.tasks_of->streams[s].tasks) {
    {
      Lock lock(mutex_);
      streams_[s].woken.wait(lock, [&] { return board_.may_follow({0, t}); });
    }
    if (task(t).not_before_s > clock_.now_s()) clock_.sleep_until(task(t).not_before_s);
    execute(t);
  }
}

void RankRun::run_by_priority(std::size_t s) {
  for (std::size_t left = setup_.tasks_of->streams[s].tasks.size(); left > 0; --left) {
    std::optional<TaskIndex> next;
    {
      Lock lock(mutex_);
      streams_[s].woken.wait(lock, [&] { return (next = board_.take_ready(0, s)).has_value(); });
    }
    execute(*next);
  }
}

void RankRun::execute(TaskIndex t) {
  const double seconds = setup_.seconds[t];
  if (task(t).kind == TaskKind::send && task(t).synchronous) wait_for_receiver(t);
  spans_[t].start_s = clock_.now_s();
  switch (task(t).kind) {
    case TaskKind::recv:
      wait_for_arrival(t);
      break;
    case TaskKind::collective:
      run_collective(t);
      break;
    default:
      if (task(t).kind == TaskKind::compute && !setup_.kernels.empty()) {
        compute(t);
      } else if (seconds > 0) {
        clock_.sleep_until(spans_[t].start_s + seconds);
      }
      transfer(t, task(t).kind == TaskKind::send);
  }
  const Lock lock(mutex_);
  board_.end({0, t});
  board_.settle();
}

void RankRun::compute(TaskIndex t) {
  const double planned_s = total_seconds(task(t).cost);
  const double slowdown = planned_s > 0 ? setup_.seconds[t] / planned_s : 1;
  const double times = setup_.scale.times;
  const StreamKernels& kernels = *setup_.kernels[task(t).stream];
  const double waits_s = times * kernels.run(task(t).cost, slowdown / times, step_);
  if (waits_s > 0) clock_.sleep_until(clock_.now_s() + waits_s);
}

void RankRun::wait_for_receiver(TaskIndex t) {
  Lock lock(mutex_);
  stream_of(t).woken.wait(lock, [&] { return receivers_.contains(t); });
}

void RankRun::wait_for_arrival(TaskIndex t) {
  Lock lock(mutex_);
  board_.post({0, t});
  stream_of(t).woken.wait(lock, [&] { return board_.has_arrived({0, t}); });
}

// ---- what takes links ----

std::vector<RankRun::Way> RankRun::ways_of(TaskIndex t, bool message) const {
  const auto piece_of = [this](const Way& way) {
    const double rate = std::min(setup_.links->least_capacity(way.route), way.max_rate);
    const double timed = std::isfinite(rate) ? rate * kPieceS * setup_.scale.times
                                             : kPlainPiece * setup_.scale.bytes;
    return std::max(way.left / kMostPieces, timed);
  };
  std::vector<Way> ways;
  if (message) {
    Way way;
    way.route = setup_.links->route(own_rank(), peer_of(t));
    way.left = task(t).bytes;
    way.message = true;
    way.piece = piece_of(way);
    ways.push_back(std::move(way));
  }
  for (const Flow& flow : task(t).flows) {
    Way way;
    for (const Demand& demand : flow.demands) {
      const auto links = setup_.links->resource(own_rank(), demand.resource, demand.weight);
      way.route.insert(way.route.end(), links.begin(), links.end());
      way.bytes = way.bytes && demand.resource != Resource::sm && demand.resource != Resource::cpu;
    }
    way.left = flow.amount * setup_.amount_factor[t];
    way.max_rate = flow.max_rate;
    way.piece = piece_of(way);
    if (way.left > 0) ways.push_back(std::move(way));
  }
  return ways;
}

void RankRun::transfer(TaskIndex t, bool message) {
  std::vector<Way> ways = ways_of(t, message);
  const double from_s = clock_.now_s();
  for (Way& way : ways) way.at_s = from_s;
  double end_s = from_s;
  while (!ways.empty()) {
    const auto next = std::ranges::min_element(ways, {}, &Way::at_s);
    if (next->at_s > from_s) clock_.sleep_until(next->at_s);
    send_piece(t, *next);
    end_s = std::max(end_s, next->at_s);
    if (next->left <= 0) ways.erase(next);
  }
  if (end_s > from_s) clock_.sleep_until(end_s);
  // No bucket tells when data has passed a real network.
  const bool real = message && peer_of(t) != own_rank() && task(t).bytes > 0 &&
                    setup_.links->route(own_rank(), peer_of(t)).empty();
  if (real) wire_.wait_until_sent(peer_of(t));
}

void RankRun::send_piece(TaskIndex t, Way& way) {
  const double units = std::min(way.piece, way.left);
  double end_s = setup_.links->send(way.route, units, way.at_s);
  if (units > 0) end_s = std::max(end_s, way.at_s + units / way.max_rate);
  way.left = units < way.left ? way.left - units : 0;
  way.at_s = end_s;
  const auto real_bytes = static_cast<std::size_t>(units / setup_.scale.bytes);
  step_();
  if (way.message) {
    FrameHead head;
    head.tag = task(t).tag;
    head.due_s = end_s;
    head.last = way.left <= 0 ? 1 : 0;
    const std::vector<std::byte> payload(real_bytes, static_cast<std::byte>(task(t).tag));
    send_frame(peer_of(t), head, payload);
  } else if (way.bytes && task(t).kind != TaskKind::compute) {
    store_.work(task(t).kind, real_bytes);
  }
}

void RankRun::send_frame(RankId to, const FrameHead& head, std::span<const std::byte> payload) {
  if (to != own_rank()) return wire_.send(to, head, payload);
  on_frame(to, head, {payload.begin(), payload.end()});
  wire_.wake();
}

// ---- what comes from others ----

void RankRun::receive_frames(const std::function<bool(bool through)>& all_through) {
  for (;;) {
    double next_s = std::numeric_limits<double>::infinity();
    bool through = false;
    bool to_tell = false;
    {
      const Lock lock(mutex_);
      take_due_events();
      send_notices();
      if (!events_.empty()) next_s = events_.top().at_s;
      through = left_ == 0;
      to_tell = !notices_.empty();
    }
    if (all_through(through && !to_tell)) return;
    std::int64_t until_ns = RunClock::monotonic_ns() + (to_tell ? kTellAgainNs : kSignNs);
    if (next_s < std::numeric_limits<double>::infinity()) {
      until_ns = std::min(until_ns, clock_.real_ns(next_s));
    }
    const bool any =
        wire_.receive_until(until_ns, [this](int from, const FrameHead& head, auto payload) {
          on_frame(from, head, std::move(payload));
        });
    if (any) step_();
  }
}

void RankRun::take_due_events() {
  while (!events_.empty() && events_.top().at_s <= clock_.now_s()) {
    const Event event = events_.top();
    events_.pop();
    if (event.arrival) {
      board_.arrive({0, event.task});
    } else {
      board_.time_has_come({0, event.task});
    }
    board_.settle();
  }
}

void RankRun::on_frame(int from, const FrameHead& head, std::vector<std::byte> payload) {
  if (head.channel == kPaddingChannel) return;
  const Lock lock(mutex_);
  if (head.channel >= 0) {
    pieces_[{head.channel, head.sequence, from}].push_back({head.due_s, std::move(payload)});
    for (StreamState& stream : streams_) stream.woken.notify_all();
    return;
  }
  const bool posted = head.channel == kPostedChannel;
  const auto& tasks = posted ? send_of_ : receive_of_;
  const auto found = tasks.find({from, head.tag});
  CHECK(found != tasks.end(), "rank {} has no task for tag {} of rank {}", own_rank(), head.tag,
        from);
  const TaskIndex t = found->second;
  if (posted) {
    receivers_.insert(t);
    return wake({0, t});
  }
  const auto expected = static_cast<std::byte>(head.tag);
  CHECK(payload.empty() || (payload.front() == expected && payload.back() == expected),
        "rank {}: the bytes of task '{}' are not those that were sent", own_rank(), task(t).name);
  if (head.last != 0) events_.push({head.due_s, t, true});
}

void RankRun::send_notices() {
  while (!notices_.empty()) {
    const TaskIndex t = notices_.front();
    if (!wire_.send_at_once(peer_of(t), notice_of(t))) return;
    notices_.pop_front();
  }
}

RankRun::Piece RankRun::take_piece(const PieceKey& key, StreamState& stream) {
  Lock lock(mutex_);
  std::deque<Piece>* queue = nullptr;
  stream.woken.wait(lock, [&] {
    const auto found = pieces_.find(key);
    queue = found == pieces_.end() ? nullptr : &found->second;
    return queue != nullptr && !queue->empty();
  });
  Piece piece = std::move(queue->front());
  queue->pop_front();
  if (queue->empty()) pieces_.erase(key);
  return piece;
}

// ---- bookkeeping, with the lock held ----

void RankRun::on_posted(TaskRef receive) {
  const TaskIndex t = receive.task;
  const Counterpart send = setup_.tasks_of->tasks[t].counterpart;
  if (!setup_.plan->classes[send.rank_class].tasks[send.task].synchronous) return;
  if (peer_of(t) == own_rank()) {
    const TaskIndex own = send_of_.at({own_rank(), task(t).tag});
    receivers_.insert(own);
    return wake({0, own});
  }
  notices_.push_back(t);
  wire_.wake();
}

void RankRun::on_end(TaskRef ended) {
  spans_[ended.task].end_s = clock_.now_s();
  step_();
  if (--left_ == 0) wire_.wake();
}

FrameHead RankRun::notice_of(TaskIndex t) const {
  FrameHead head;
  head.channel = kPostedChannel;
  head.tag = task(t).tag;
  return head;
}

RankStore::~RankStore() {
  if (file_ >= 0) close(file_);
}

void RankStore::work(TaskKind kind, std::size_t size_bytes) {
  const std::lock_guard lock(mutex_);
  if (from_.empty()) {
    from_.assign(kBlock, std::byte{0x5a});
    to_.assign(kBlock, std::byte{0});
  }
  while (size_bytes > 0) {
    const std::size_t now = std::min(size_bytes, kBlock);
    size_bytes -= now;
    switch (kind) {
      case TaskKind::store:
        write(std::span(from_).first(now));
        break;
      case TaskKind::encode:
        for (std::size_t i = 0; i < now; ++i) to_[i] ^= from_[i];
        break;
      default:
        std::copy_n(from_.begin(), now, to_.begin());
    }
  }
}

void RankStore::write(std::span<const std::byte> bytes) {
  const auto refuse = [](const char* what) {
    throw Error(fmt::format("{} {}: {}", what, std::filesystem::temp_directory_path().string(),
                            std::strerror(errno)),
                ExitCode::failed);
  };
  if (file_ < 0) {
    std::string path = std::filesystem::temp_directory_path() / "windtunnel-store-XXXXXX";
    file_ = mkostemp(path.data(), O_CLOEXEC);
    if (file_ < 0) refuse("no file in");
    unlink(path.c_str());
  }
  while (!bytes.empty()) {
    const auto at = static_cast<off_t>(written_bytes_ % kFileBytes);
    const ssize_t count = pwrite(file_, bytes.data(), bytes.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) refuse("nothing more can be written to");
    written_bytes_ += static_cast<std::size_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace windtunnel
