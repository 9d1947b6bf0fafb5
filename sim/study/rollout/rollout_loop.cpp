#include "sim/study/rollout/rollout_loop.hpp"

#include <algorithm>
#include <deque>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

double tokens_of(const std::vector<RolloutSample>& samples) {
  double tokens = 0;
  for (const RolloutSample& each : samples) tokens += each.prompt + each.output;
  return tokens;
}

double training_s(const LoopInputs& inputs, double tokens) {
  return inputs.token_s * tokens + inputs.spec.reward_s;
}

void add_lengths(const std::vector<RolloutSample>& samples, LoopTimes& times) {
  for (const RolloutSample& each : samples) {
    times.output_tokens += each.output / static_cast<double>(samples.size());
    times.square_tokens += each.output * each.output / static_cast<double>(samples.size());
  }
}

// A batch by engines that hold nothing before.
struct Generation {
  double seconds = 0;
  EnginePool::Totals totals;
};

Generation generation(const LoopInputs& inputs, const std::vector<RolloutSample>& samples) {
  EnginePool pool(inputs.engines);
  pool.submit(0, samples);
  Generation result;
  while (const auto ended = pool.next()) result.seconds = std::max(result.seconds, ended->at_s);
  result.totals = pool.totals();
  return result;
}

// Divides the sums over `iterations` iterations.
void take_means(int iterations, const EnginePool::Totals& totals, LoopTimes& times) {
  for (double LoopTimes::*sum :
       {&LoopTimes::period_s, &LoopTimes::generation_s, &LoopTimes::training_s,
        &LoopTimes::output_tokens, &LoopTimes::square_tokens}) {
    times.*sum /= iterations;
  }
  times.running = totals.busy_s > 0 ? totals.sequence_s / totals.busy_s : 0;
  times.token_time_s = totals.written > 0 ? totals.sequence_s / totals.written : 0;
  times.returned = static_cast<double>(totals.returned) / iterations;
}

void set_idle(const LoopInputs& inputs, double busy_s, LoopTimes& times) {
  const double waits_s = inputs.transfer_s + inputs.switch_s;
  const double engine_s = busy_s / engines_of(inputs.engines);  // of an iteration
  if (inputs.spec.colocated) {
    times.actors_idle = times.learner_idle = (times.generation_s - engine_s) / times.period_s;
    return;
  }
  times.actors_idle = std::max(0.0, 1 - (engine_s + waits_s) / times.period_s);
  times.learner_idle = std::max(0.0, 1 - (times.training_s + waits_s) / times.period_s);
}

// Batches one by one; or in parallel to the next one if the learner is one step behind.
LoopTimes run_batches(const LoopInputs& inputs) {
  const RolloutSpec& spec = inputs.spec;
  const bool beside = spec.mode == RolloutMode::one_step_off;
  LoopTimes times;
  EnginePool::Totals all;
  std::vector<double> training;
  std::vector<double> generating;
  for (int i = 0; i < spec.iterations; ++i) {
    const std::vector<RolloutSample> samples = draw_batch(spec, i);
    const Generation own = generation(inputs, samples);
    add_lengths(samples, times);
    generating.push_back(own.seconds);
    training.push_back(training_s(inputs, tokens_of(samples)));
    all.busy_s += own.totals.busy_s;
    all.sequence_s += own.totals.sequence_s;
    all.written += own.totals.written;
    all.returned += own.totals.returned;
  }
  for (int i = 0; i < spec.iterations; ++i) {
    // Behind the last batch comes the first again.
    const double next_s = generating[(i + 1) % spec.iterations];
    times.period_s += beside ? std::max(next_s, training[i]) : generating[i] + training[i];
    times.period_s += inputs.transfer_s + inputs.switch_s;
    times.generation_s += generating[i];
    times.training_s += training[i];
  }
  take_means(spec.iterations, all, times);
  times.staleness = beside ? 1 : 0;
  set_idle(inputs, all.busy_s / spec.iterations, times);
  return times;
}

class AsynchronousLoop {
 public:
  explicit AsynchronousLoop(const LoopInputs& inputs)
      : inputs_(inputs), spec_(inputs.spec), pool_(inputs.engines) {}

  LoopTimes run() {
    const int warm_up = std::max(4, 2 * spec_.staleness + 2);
    for (int i = 0; i <= spec_.staleness; ++i) begin_batch(0);
    while (version_ < warm_up) step();
    const double from_s = now_s_;
    const EnginePool::Totals before = pool_.totals();
    times_ = {};
    while (version_ < warm_up + spec_.iterations) step();
    EnginePool::Totals totals = pool_.totals();
    totals.busy_s -= before.busy_s;
    totals.sequence_s -= before.sequence_s;
    totals.written -= before.written;
    totals.returned -= before.returned;
    times_.period_s = now_s_ - from_s;
    times_.generation_s = totals.busy_s / engines_of(inputs_.engines);
    take_means(spec_.iterations, totals, times_);
    times_.staleness /= static_cast<double>(spec_.iterations) * spec_.batch();
    set_idle(inputs_, totals.busy_s / spec_.iterations, times_);
    return times_;
  }

 private:
  void begin_batch(double now_s) {
    const std::vector<RolloutSample> samples = draw_batch(spec_, begun_++);
    samples_.insert(samples_.end(), samples.begin(), samples.end());
    born_.insert(born_.end(), samples.size(), version_);
    pool_.submit(now_s, samples);
  }

  // One version further: a batch is complete and learned from, and its weights are sent.
  void step() {
    while (std::ssize(ready_) < spec_.batch()) collect(kNever_s);
    const double begin_s = std::max(now_s_, ready_[spec_.batch() - 1].at_s);
    std::vector<RolloutSample> batch;
    for (int i = 0; i < spec_.batch(); ++i) {
      batch.push_back(samples_[ready_[i].sample]);
      times_.staleness += version_ - born_[ready_[i].sample];
    }
    ready_.erase(ready_.begin(), ready_.begin() + spec_.batch());
    const double taken_s = training_s(inputs_, tokens_of(batch));
    add_lengths(batch, times_);
    times_.training_s += taken_s;
    const double end_s = begin_s + taken_s;
    while (collect(end_s)) {
    }
    ++version_;
    pool_.pause(end_s, inputs_.stop_s, !spec_.keeps_cache);
    begin_batch(end_s + inputs_.transfer_s);
    now_s_ = end_s + inputs_.transfer_s;
  }

  bool collect(double until_s) {
    const auto ended = pool_.next(until_s);
    CHECK(ended || until_s < kNever_s, "no sample is under way");
    if (ended) ready_.push_back(*ended);
    return ended.has_value();
  }

  const LoopInputs& inputs_;
  const RolloutSpec& spec_;
  EnginePool pool_;
  std::vector<RolloutSample> samples_;
  std::vector<int> born_;  // [sample] version when it was begun
  std::deque<EndedSample> ready_;
  int begun_ = 0;  // batches
  int version_ = 0;
  double now_s_ = 0;
  LoopTimes times_;
};

}  // namespace

std::vector<RolloutSample> draw_batch(const RolloutSpec& spec, int iteration) {
  std::vector<RolloutSample> samples;
  // Seeds of iterations are disjoint from those of other scenarios' first iterations.
  const std::uint64_t seed = spec.seed + 1000003ULL * static_cast<std::uint64_t>(iteration);
  for (const int output : draw_lengths(spec.output, spec.batch(), seed)) {
    samples.push_back({static_cast<double>(spec.prompt_length), static_cast<double>(output)});
  }
  return samples;
}

LoopTimes run_loop(const LoopInputs& inputs) {
  if (inputs.spec.mode == RolloutMode::asynchronous) return AsynchronousLoop(inputs).run();
  return run_batches(inputs);
}

EngineLosses engine_losses(const LoopTimes& times, double rate_per_s, double away_s) {
  if (rate_per_s <= 0 || times.output_tokens <= 0) return {};
  const double age_tokens = times.square_tokens / (2 * times.output_tokens);
  return {.lost_share = rate_per_s * times.token_time_s * age_tokens,
          .away_share = rate_per_s * away_s / (1 + rate_per_s * away_s)};
}

double period_with(const LoopTimes& times, const LoopInputs& inputs, const EngineLosses& losses) {
  const double longer_s = times.generation_s * (losses.factor() - 1);
  const double waits_s = inputs.transfer_s + inputs.switch_s;
  if (inputs.spec.mode == RolloutMode::synchronous) return times.period_s + longer_s;
  // Engines can make up for losses while they have no work of their own.
  const double room_s = std::max(0.0, times.period_s - waits_s - times.generation_s);
  return times.period_s + std::max(0.0, longer_s - room_s);
}

}  // namespace windtunnel
