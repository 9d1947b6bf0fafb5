#include "policies/lengths/pack_passes.hpp"

#include <algorithm>

#include "policies/lengths/length_pool.hpp"

namespace windtunnel {
namespace {

// Returns the passes of each GPU of the pool in order; a GPU without packs has none.
std::vector<PackPasses> packs_of(const LengthPlan& plan, int gpus) {
  std::vector<PackPasses> passes(gpus);
  for (int r = 0; r < std::ssize(plan.rounds); ++r) {
    for (int p = 0; p < std::ssize(plan.rounds[r]); ++p) {
      const LengthPack& pack = plan.rounds[r][p];
      for (int gpu = pack.first; gpu < pack.first + pack.ranks; ++gpu) {
        passes[gpu].push_back({r, p});
      }
    }
    for (PackPasses& own : passes) {
      const bool idle = own.empty() || own.back().round < r;
      if (idle && plan.rounds.size() > 1) own.push_back({r});
    }
  }
  return passes;
}

// Gives all GPUs equally many passes, in which the ranks of a pack meet, because gathers and
// reductions of every pass, or exchanges with experts, synchronise them. Packs of one round are
// nested, wide ones first. They go to the end, and passes without a pack to the front, so that the
// last reductions still overlap a backward pass.
void put_in_step(const Job& job, const LengthPlan& plan, std::vector<PackPasses>& passes) {
  std::size_t most = 1;
  for (const PackPasses& own : passes) most = std::max(most, own.size());
  most = whole_groups(job, static_cast<int>(most));
  for (PackPasses& own : passes) {
    if (plan.rounds.size() == 1) {
      std::ranges::stable_sort(own, {}, [&](const PackPass& pass) {
        return pass.pack < 0 ? 0 : plan.rounds[pass.round][pass.pack].ranks;
      });
    }
    own.insert(own.begin(), most - own.size(), PackPass{});
  }
}

double tokens_of(const LengthPlan& plan, const PackPass& pass) {
  if (pass.pack < 0) return 0;
  const LengthPack& pack = plan.rounds[pass.round][pass.pack];
  return pack.tokens / pack.ranks;
}

// Adds the GPUs that each pass waits for: all GPUs of a round wait for the previous round; the
// ranks of a pack wait for each other, and for the GPUs whose experts they need. Their tokens are
// spread evenly over these experts.
void add_meetings(const Job& job, const LengthPlan& plan, std::vector<PackPasses>& passes) {
  const int gpus = static_cast<int>(passes.size());
  for (PackPasses& own : passes) {
    for (PackPass& pass : own) {
      if (pass.round > 0) pass.meets.push_back({0, gpus});
      if (pass.pack < 0) continue;
      const LengthPack& pack = plan.rounds[pass.round][pass.pack];
      if (pack.ranks > 1) pass.meets.push_back({pack.first, pack.ranks});
    }
  }
  const int width = expert_gpus(job);
  for (int first = 0; width > 1 && first < gpus; first += width) {
    for (std::size_t i = 0; i < passes[first].size(); ++i) {
      double mean = 0;
      for (int gpu = first; gpu < first + width; ++gpu) {
        mean += tokens_of(plan, passes[gpu][i]) / width;
      }
      for (int gpu = first; gpu < first + width; ++gpu) {
        PackPass& pass = passes[gpu][i];
        pass.expert_tokens = mean - tokens_of(plan, pass);
        pass.meets.push_back({first, width});
      }
    }
  }
}

}  // namespace

std::vector<PackPasses> passes_of(const Job& job, const LengthPlan& plan) {
  std::vector<PackPasses> passes = packs_of(plan, pool_gpus(job));
  if (in_step(job)) put_in_step(job, plan, passes);
  for (PackPasses& own : passes) {
    if (own.empty()) own.emplace_back();
  }
  add_meetings(job, plan, passes);
  return passes;
}

}  // namespace windtunnel
