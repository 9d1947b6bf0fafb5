// How a data-parallel step tolerates stragglers: workers compute more than their part of the batch
// so that the step need not wait for all, or it drops a part of the batch. A worker is a replica; n
// is the number of workers. Explained in docs/physics/stragglers.md.
#pragma once

#include <algorithm>
#include <string>

#include "models/base/choice.hpp"

namespace windtunnel {

enum class RedundancyScheme {
  none,
  gradient_coding,  // GC(n, s): Tandon et al. 2017, arXiv 1612.03301
  // Sequential gradient coding: Krishnan, Ebrahimi, Khisti 2023, arXiv 2211.13802. A straggler's
  // unfinished work is repeated some rounds later; m_sgc repeats a part of it and codes the rest.
  sr_sgc,
  m_sgc,
  replicated,    // r workers compute the same part
  drop_slowest,  // the gradient is that of the other workers
  // as drop_slowest, but the others cover the whole batch: Chen et al. 2016, arXiv 1604.00981
  backup_workers,
  // As drop_slowest, with the number dropped that gives most progress per second: Xu et al. 2020,
  // arXiv 2004.14696.
  dynamic_backup,
};
template <>
inline constexpr Choice<RedundancyScheme> kChoices<RedundancyScheme>[] = {
    {"none", RedundancyScheme::none},
    {"gradient-coding", RedundancyScheme::gradient_coding},
    {"sr-sgc", RedundancyScheme::sr_sgc},
    {"m-sgc", RedundancyScheme::m_sgc},
    {"replicated", RedundancyScheme::replicated},
    {"drop-slowest", RedundancyScheme::drop_slowest},
    {"backup-workers", RedundancyScheme::backup_workers},
    {"dynamic-backup", RedundancyScheme::dynamic_backup}};

// Workers for which a step waits; this decides which numbers of Redundancy a scheme reads.
enum class WaitForm {
  all,
  all_but,     // all except `stragglers` of them
  one_copy,    // of each part of the batch
  window,      // workers that have not straggled in it: `burst`, `window`, `distinct`
  best_count,  // as many as `noise` makes best
};

struct RedundancyTraits {
  RedundancyScheme scheme;
  WaitForm form = WaitForm::all;
  bool exact = true;  // the gradient is that of the whole batch
};
inline constexpr RedundancyTraits kRedundancySchemes[] = {
    {.scheme = RedundancyScheme::none},
    {.scheme = RedundancyScheme::gradient_coding, .form = WaitForm::all_but},
    {.scheme = RedundancyScheme::sr_sgc, .form = WaitForm::window},
    {.scheme = RedundancyScheme::m_sgc, .form = WaitForm::window},
    {.scheme = RedundancyScheme::replicated, .form = WaitForm::one_copy},
    {.scheme = RedundancyScheme::drop_slowest, .form = WaitForm::all_but, .exact = false},
    {.scheme = RedundancyScheme::backup_workers, .form = WaitForm::all_but},
    {.scheme = RedundancyScheme::dynamic_backup, .form = WaitForm::best_count, .exact = false}};
static_assert(std::ranges::equal(kChoices<RedundancyScheme>, kRedundancySchemes, {},
                                 &Choice<RedundancyScheme>::value, &RedundancyTraits::scheme),
              "a row for every scheme, in the order of their words");
constexpr const RedundancyTraits& traits_of(RedundancyScheme scheme) {
  return *std::ranges::find(kRedundancySchemes, scheme, &RedundancyTraits::scheme);
}

struct Redundancy {
  RedundancyScheme scheme = RedundancyScheme::none;
  int stragglers = 1;  // workers that a step does not wait for: s, k or b
  int copies = 2;      // replicated: r
  // Sequential codes: in any `window` rounds (W) at most `distinct` workers straggle (lambda), each
  // only within `burst` rounds (B).
  int burst = 1;
  int window = 2;
  int distinct = 1;
  // A worker is a straggler if it takes longer than (1 + tolerance) times the fastest (mu).
  double tolerance = 0;
  // dynamic_backup: k workers' gradients make progress k / (1 + k / noise); noise 0: k.
  double noise = 0;
};

// Why the scheme cannot run on `workers` workers; empty: it can.
std::string why_not(const Redundancy& redundancy, int workers);

// GC, or the GC inside SR-SGC, allows this number of stragglers per step.
int coded_stragglers(const Redundancy& redundancy);
// Work of a worker in a step, relative to the n-th part of the batch.
double load_of(const Redundancy& redundancy, int workers);
// Additional rounds until the gradient of a step is complete (T).
int delay_of(const Redundancy& redundancy);
// Number of gradients, each of another step, that a worker sends in a round.
int results_of(const Redundancy& redundancy);

// "gradient-coding, 15 stragglers".
std::string to_string(const Redundancy& redundancy);

// A step makes this progress with the gradients of `workers` workers. Noise in the gradients
// (Redundancy::noise) limits it: McCandlish et al. 2018 (arXiv 1812.06162, equation 2.10).
double step_progress(double noise, double workers);

}  // namespace windtunnel
