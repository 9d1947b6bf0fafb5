// Event simulation of engines that generate samples. Between two events (a sample ends, memory is
// full) time is a sum of steps in closed form (EngineSpeed::decode_s), so that thousands of samples
// of any length are simulated exactly and fast.
// Samples wait in one queue. An engine takes the next one when a sequence ends and the keys and
// values of the new one fit. If several engines have room, the one with the fewest sequences takes
// it. If growing sequences fill the memory, the youngest returns to the queue with its generated
// tokens, whose keys and values are later computed again (as in vLLM). Then no new sequence starts
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

// Tokens of a prompt, and tokens that are generated. The prefill makes the first of these.
struct RolloutSample {
  double prompt = 0;
  double output = 1;
};

struct EndedSample {
  int sample = 0;  // index in order of submission
  double at_s = 0;
};

// Engines of equal speed, on nodes of one kind.
struct EngineGroup {
  EngineSpeed speed;
  int engines = 1;
};
int engines_of(const std::vector<EngineGroup>& groups);
// Returns the number of tokens whose keys and values fit into the smallest engine.
double least_capacity(const std::vector<EngineGroup>& groups);

class EnginePool {
 public:
  explicit EnginePool(std::vector<EngineGroup> groups);
  EnginePool(EngineSpeed speed, int engines)
      : EnginePool(std::vector<EngineGroup>{{std::move(speed), engines}}) {}

  void submit(double now_s, const std::vector<RolloutSample>& samples);
  // Returns the next sample that ends by `until_s`.
  std::optional<EndedSample> next(double until_s = kNever_s);
  // Stops all engines for `for_s` after their current step. `computes_again`: keys and values are
  // computed again with new weights.
  void pause(double now_s, double for_s, bool computes_again);
  // Takes the engine away for `for_s`. Other engines repeat its unfinished samples.
  void fail(int engine, double now_s, double for_s);

  // Sums over all engines and the time so far.
  struct Totals {
    double busy_s = 0;          // time with at least one sequence
    double sequence_s = 0;      // time, counted once for each sequence
    double written = 0;         // tokens that were generated
    double lost = 0;            // tokens that failures have lost
    std::int64_t returned = 0;  // sequences that returned to the queue because memory was full
  };
  const Totals& totals() const { return totals_; }
  int engines() const { return static_cast<int>(engines_.size()); }

 private:
  struct Waiting {
    int sample = 0;
    double written = 0;  // tokens already generated
  };
  struct Running {
    int sample = 0;
    double end = 0;  // the engine's step at which it ends
  };
  struct Engine {
    std::size_t group = 0;  // index into groups_
    double now_s = 0;
    double steps = 0;
    double context = 0;            // total tokens of the sequences that run
    bool full = false;             // no new sequence starts until one ends
    bool away = false;             // failed; returns at now_s
    double event_s = kNever_s;     // time of its next event
    std::vector<Running> running;  // the youngest is last
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

// Returns the time until all samples are complete, on engines that start idle.
double generation_s(const EngineSpeed& speed, int engines,
                    const std::vector<RolloutSample>& samples);

}  // namespace windtunnel
