#include "sim/study/rollout/engine_pool.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Share of an engine's room for keys and values that a new sequence must leave to running ones.
constexpr double kReserve = 0.01;

}  // namespace

int engines_of(const std::vector<EngineGroup>& groups) {
  int engines = 0;
  for (const EngineGroup& group : groups) engines += group.engines;
  return engines;
}

double least_capacity(const std::vector<EngineGroup>& groups) {
  double least = kNever_s;
  for (const EngineGroup& group : groups) least = std::min(least, group.speed.capacity);
  return least;
}

EnginePool::EnginePool(std::vector<EngineGroup> groups) : groups_(std::move(groups)) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const auto& [speed, engines] = groups_[i];
    CHECK(engines > 0 && speed.most_sequences() > 0, "{} engines of {} sequences", engines,
          speed.most_sequences());
    Engine own;
    own.group = i;
    engines_.insert(engines_.end(), engines, own);
  }
  CHECK(!engines_.empty(), "no engines");
}

double EnginePool::written_of(const Engine& engine, const Running& running) const {
  return samples_[running.sample].output - (running.end - engine.steps);
}

double EnginePool::tokens_of(const Waiting& waiting) const {
  return samples_[waiting.sample].prompt + waiting.written;
}

// Returns the whole steps until a sequence ends or there is no room for another token of each.
double EnginePool::steps_to_event(const Engine& engine) const {
  if (engine.running.empty()) return kNever_s;
  double end = kNever_s;
  for (const Running& each : engine.running) end = std::min(end, each.end);
  double steps = end - engine.steps;
  if (engine.count() > 1) {
    const double room = std::max(0.0, speed_of(engine).capacity - engine.context);
    steps = std::min(steps, std::floor(room / engine.count()));
  }
  return steps;
}

void EnginePool::foresee(Engine& engine) const {
  engine.event_s = kNever_s;
  if (engine.away) engine.event_s = engine.now_s;
  if (engine.running.empty()) return;
  engine.event_s = engine.now_s + speed_of(engine).decode_s(steps_to_event(engine), engine.count(),
                                                            engine.context);
}

void EnginePool::spend(Engine& engine, double seconds) {
  engine.now_s += seconds;
  totals_.busy_s += seconds;
  totals_.sequence_s += seconds * engine.count();
}

void EnginePool::advance(Engine& engine, double steps) {
  if (steps <= 0) return;
  const int count = engine.count();
  spend(engine, speed_of(engine).decode_s(steps, count, engine.context));
  engine.steps += steps;
  engine.context += steps * count;
  totals_.written += steps * count;
}

// Advances the engine to the end of its current step, but not past its next event.
void EnginePool::advance_to(Engine& engine, double now_s) {
  if (engine.running.empty()) {
    engine.now_s = std::max(engine.now_s, now_s);  // a failed engine's now_s may lie ahead
    return;
  }
  const double left_s = now_s - engine.now_s;
  if (left_s <= 0) return;
  // The steps satisfy steps * (first + grows * (steps - 1) / 2) >= left.
  const double first_s = speed_of(engine).decode_s(1, engine.count(), engine.context);
  const double grows_s = speed_of(engine).context_s * engine.count();
  const double b = first_s - grows_s / 2;
  const double steps = 2 * left_s / (b + std::sqrt(b * b + 2 * grows_s * left_s));
  advance(engine, std::min(std::ceil(steps * (1 - 1e-12)), steps_to_event(engine)));
}

bool EnginePool::has_room(const Engine& engine) const {
  if (engine.away) return false;
  if (engine.running.empty()) return true;
  if (engine.full || engine.count() >= speed_of(engine).most_sequences()) return false;
  const double needed = engine.context + tokens_of(queue_.front()) + engine.count() + 1;
  return needed <= (1 - kReserve) * speed_of(engine).capacity;
}

// Gives the engine the next sample of the queue.
void EnginePool::take(Engine& engine) {
  const Waiting next = queue_.front();
  queue_.pop_front();
  const double tokens = tokens_of(next);
  const double left = samples_[next.sample].output - next.written - 1;
  engine.running.push_back({next.sample, engine.steps + left});
  spend(engine, speed_of(engine).prompt_s(tokens));
  engine.context += tokens + 1;
  totals_.written += 1;
}

// Gives each waiting sample to the engine that has the fewest sequences at that moment.
void EnginePool::give_out(const std::vector<Engine*>& among) {
  while (!queue_.empty()) {
    Engine* best = nullptr;
    for (Engine* each : among) {
      if (has_room(*each) && (best == nullptr || each->count() < best->count())) best = each;
    }
    if (best == nullptr) break;
    take(*best);
  }
  for (Engine* each : among) foresee(*each);
}

void EnginePool::give_out_at(double now_s) {
  std::vector<Engine*> all;
  for (Engine& each : engines_) {
    advance_to(each, now_s);
    all.push_back(&each);
  }
  give_out(all);
}

void EnginePool::give_back_youngest(Engine& engine) {
  const Running youngest = engine.running.back();
  engine.running.pop_back();
  const double written = written_of(engine, youngest);
  engine.context -= samples_[youngest.sample].prompt + written;
  queue_.push_front({youngest.sample, written});
  engine.full = true;
  ++totals_.returned;
}

// Returns whether a sequence went back to the queue.
bool EnginePool::handle(Engine& engine) {
  if (engine.away) {
    engine.away = false;
    return false;
  }
  advance(engine, steps_to_event(engine));
  const std::size_t before = engine.running.size();
  std::erase_if(engine.running, [&](const Running& each) {
    if (each.end > engine.steps) return false;
    const RolloutSample& sample = samples_[each.sample];
    engine.context -= sample.prompt + sample.output;
    ended_.push_back({each.sample, engine.now_s});
    return true;
  });
  if (engine.running.size() < before) {
    engine.full = false;
    return false;
  }
  give_back_youngest(engine);
  return true;
}

// Engines with simultaneous events share the waiting samples. Others have no room then.
void EnginePool::handle_all(double at_s) {
  std::vector<Engine*> handled;
  bool returned = false;
  for (Engine& each : engines_) {
    if (each.event_s > at_s) continue;
    returned |= handle(each);
    handled.push_back(&each);
  }
  if (returned) {
    give_out_at(at_s);
  } else {
    give_out(handled);
  }
}

void EnginePool::submit(double now_s, const std::vector<RolloutSample>& samples) {
  for (const RolloutSample& each : samples) {
    CHECK(each.output >= 1 && each.prompt + each.output <= least_capacity(groups_),
          "a sample of {} and {} tokens in {}", each.prompt, each.output, least_capacity(groups_));
    queue_.push_back({static_cast<int>(samples_.size()), 0});
    samples_.push_back(each);
  }
  give_out_at(now_s);
}

std::optional<EndedSample> EnginePool::next(double until_s) {
  while (ended_.empty()) {
    const double at_s = std::ranges::min_element(engines_, {}, &Engine::event_s)->event_s;
    if (at_s == kNever_s || at_s > until_s) return std::nullopt;
    handle_all(at_s);
  }
  if (ended_.front().at_s > until_s) return std::nullopt;
  const EndedSample ended = ended_.front();
  ended_.pop_front();
  return ended;
}

void EnginePool::pause(double now_s, double for_s, bool computes_again) {
  for (Engine& each : engines_) {
    advance_to(each, now_s);
    each.now_s += for_s;
    if (computes_again) {
      for (const Running& running : each.running) {
        spend(each,
              speed_of(each).prompt_s(samples_[running.sample].prompt + written_of(each, running)));
      }
    }
    foresee(each);
  }
}

void EnginePool::fail(int engine, double now_s, double for_s) {
  Engine& failed = engines_[engine];
  advance_to(failed, now_s);
  for (const Running& each : failed.running) {
    totals_.lost += written_of(failed, each);
    queue_.push_front({each.sample, 0});
  }
  failed.running.clear();
  failed.context = 0;
  failed.full = false;
  failed.away = true;
  failed.now_s += for_s;
  give_out_at(now_s);
}

double generation_s(const EngineSpeed& speed, int engines,
                    const std::vector<RolloutSample>& samples) {
  EnginePool pool(speed, engines);
  pool.submit(0, samples);
  double end_s = 0;
  while (const auto ended = pool.next()) end_s = std::max(end_s, ended->at_s);
  return end_s;
}

}  // namespace windtunnel
