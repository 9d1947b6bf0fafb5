// Engines that write samples, by events: what happens between two of them (a sample ends, memory
// is full) is a sum of steps in closed form (EngineSpeed::decode_s), so that thousands of samples
// of any length are exact and quick.
//
// Samples wait in one queue. An engine takes the next one whenever a sequence ends there and the
// keys and values of the next find room; of several engines with room the one with the fewest
// sequences. Where growing sequences fill the memory the youngest goes back to the queue with what
// it has written, whose keys and values are computed again (as vLLM does), and nothing is taken
// until another one ends.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "models/cost/inference/engine_speed.hpp"

namespace windtunnel {

inline constexpr double kNever_s = std::numeric_limits<double>::infinity();

// Tokens of a prompt and of what is written behind it, the first of which its prefill makes.
struct RolloutSample {
  double prompt = 0;
  double output = 1;
};

struct EndedSample {
  int sample = 0;  // in the order in which they were submitted
  double at_s = 0;
};

// Engines of one speed: those on nodes of one kind.
struct EngineGroup {
  EngineSpeed speed;
  int engines = 1;
};
int engines_of(const std::vector<EngineGroup>& groups);
// Tokens that the keys and values of the smallest of them hold.
double least_capacity(const std::vector<EngineGroup>& groups);

class EnginePool {
 public:
  explicit EnginePool(std::vector<EngineGroup> groups);
  EnginePool(EngineSpeed speed, int engines)
      : EnginePool(std::vector<EngineGroup>{{std::move(speed), engines}}) {}

  void submit(double now_s, const std::vector<RolloutSample>& samples);
  // The next sample that ends, if not later than that.
  std::optional<EndedSample> next(double until_s = kNever_s);
  // All engines stop behind the step that they are in, for so long. `computes_again`: keys and
  // values of what they hold, by new weights.
  void pause(double now_s, double for_s, bool computes_again);
  // The engine is away for so long; others write again what it had begun.
  void fail(int engine, double now_s, double for_s);

  // Sums over all engines and time so far.
  struct Totals {
    double busy_s = 0;          // with at least one sequence
    double sequence_s = 0;      // sequences times seconds of it
    double written = 0;         // tokens
    double lost = 0;            // tokens of them, by failures
    std::int64_t returned = 0;  // sequences to the queue as memory was full
  };
  const Totals& totals() const { return totals_; }
  int engines() const { return static_cast<int>(engines_.size()); }

 private:
  struct Waiting {
    int sample = 0;
    double written = 0;  // tokens that it has already
  };
  struct Running {
    int sample = 0;
    double end = 0;  // steps of its engine when it is through
  };
  struct Engine {
    std::size_t group = 0;  // of groups_
    double now_s = 0;
    double steps = 0;
    double context = 0;            // tokens of all running
    bool full = false;             // nothing is taken until a sequence ends
    bool away = false;             // failed, until now_s
    double event_s = kNever_s;     // the next one
    std::vector<Running> running;  // the youngest last
    int count() const { return static_cast<int>(running.size()); }
  };

  double steps_to_event(const Engine& engine) const;
  void foresee(Engine& engine) const;
  void advance(Engine& engine, double steps);
  void advance_to(Engine& engine, double now_s);
  void spend(Engine& engine, double seconds);
  double written_of(const Engine& engine, const Running& running) const;
  double tokens_of(const Waiting& waiting) const;
  bool has_room(const Engine& engine) const;
  void take(Engine& engine);
  void give_out(const std::vector<Engine*>& among);
  void give_out_at(double now_s);
  void give_back_youngest(Engine& engine);
  bool handle(Engine& engine);
  void handle_all(double at_s);

  const EngineSpeed& speed_of(const Engine& engine) const { return groups_[engine.group].speed; }

  std::vector<EngineGroup> groups_;
  std::vector<Engine> engines_;
  std::vector<RolloutSample> samples_;
  std::deque<Waiting> queue_;
  std::deque<EndedSample> ended_;
  Totals totals_;
};

// Until all samples are through, of engines that are idle before.
double generation_s(const EngineSpeed& speed, int engines,
                    const std::vector<RolloutSample>& samples);

}  // namespace windtunnel
