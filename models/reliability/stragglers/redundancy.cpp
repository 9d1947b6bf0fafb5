#include "models/reliability/stragglers/redundancy.hpp"

#include <fmt/format.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

std::string why_not_sequential(const Redundancy& own, int workers) {
  if (own.tolerance <= 0) {
    return "needs a tolerance: how much longer than the fastest a worker may take, e.g. 1";
  }
  if (own.distinct > workers) {
    return fmt::format("lambda {} is more than the {} workers", own.distinct, workers);
  }
  if (own.burst >= own.window) {
    return fmt::format("burst {} must be less than window {}", own.burst, own.window);
  }
  if (own.scheme == RedundancyScheme::sr_sgc && (own.window - 1) % own.burst != 0) {
    return fmt::format("burst {} must divide window - 1, which is {}, for sr-sgc", own.burst,
                       own.window - 1);
  }
  return {};
}

}  // namespace

std::string why_not(const Redundancy& own, int workers) {
  if (own.scheme != RedundancyScheme::none && workers == 1) {
    return "there is only one replica (layout.dp; in each island), so no other can do its work";
  }
  switch (traits_of(own.scheme).form) {
    case WaitForm::window:
      return why_not_sequential(own, workers);
    case WaitForm::all_but:
      if (own.stragglers < workers) return {};
      return fmt::format("with {} stragglers among {} workers none is left", own.stragglers,
                         workers);
    case WaitForm::one_copy:
      if (workers % own.copies == 0) return {};
      return fmt::format("{} copies do not divide the {} workers", own.copies, workers);
    case WaitForm::all:
    case WaitForm::best_count:
      break;
  }
  return {};
}

// The paper on sequential gradient coding states in section 3.1: s = ceil(B lambda / (W - 1 + B)).
int coded_stragglers(const Redundancy& own) {
  if (own.scheme == RedundancyScheme::gradient_coding) return own.stragglers;
  CHECK(own.scheme == RedundancyScheme::sr_sgc, "{} is no code over workers alone",
        name_of(own.scheme));
  const int rounds = own.window - 1 + own.burst;
  return (own.burst * own.distinct + rounds - 1) / rounds;
}

// M-SGC: a job consists of W - 1 + B small tasks, one in each round. W - 1 of them each process a
// part of the data that no other worker has, and B are coded, each over lambda + 1 parts (the
// paper's section 3.3; the formula is that of the authors' program,
// github.com/mamaj/Sequential-Gradient-Coding).
double load_of(const Redundancy& own, int workers) {
  const double n = workers;
  switch (own.scheme) {
    case RedundancyScheme::gradient_coding:
    case RedundancyScheme::sr_sgc:
      return coded_stragglers(own) + 1;
    case RedundancyScheme::m_sgc: {
      const double tasks = own.window - 1 + own.burst;
      if (own.distinct >= workers) return tasks / (own.window - 1);
      const double parts = own.distinct + 1;
      return parts * tasks / (own.burst + (own.window - 1) * parts);
    }
    case RedundancyScheme::replicated:
      return own.copies;
    case RedundancyScheme::backup_workers:
      return n / (n - own.stragglers);
    default:
      return 1;
  }
}

int delay_of(const Redundancy& own) {
  if (own.scheme == RedundancyScheme::sr_sgc) return own.burst;
  return own.scheme == RedundancyScheme::m_sgc ? own.window - 2 + own.burst : 0;
}

int results_of(const Redundancy& own) {
  return own.scheme == RedundancyScheme::m_sgc ? own.window - 1 + own.burst : 1;
}

std::string to_string(const Redundancy& own) {
  std::string text(name_of(own.scheme));
  switch (traits_of(own.scheme).form) {
    case WaitForm::all_but:
      return text + fmt::format(", {} stragglers", own.stragglers);
    case WaitForm::one_copy:
      return text + fmt::format(", {} copies", own.copies);
    case WaitForm::window:
      return text +
             fmt::format(", burst {}, window {}, lambda {}", own.burst, own.window, own.distinct);
    case WaitForm::all:
    case WaitForm::best_count:
      break;
  }
  return text;
}

double step_progress(double noise, double workers) {
  return noise > 0 ? workers / (1 + workers / noise) : workers;
}

}  // namespace windtunnel
