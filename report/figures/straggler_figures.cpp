#include "report/figures/figure_parts.hpp"

namespace windtunnel {
namespace {

using enum Unit;
using enum Better;

template <auto member>
FigureValue of_stragglers(const Record& record) {
  const std::optional<StragglerReport>& own = record.iteration.stragglers;
  return own ? FigureValue((*own).*member) : FigureValue();
}
template <auto member>
FigureValue of_redundancy(const Record& record) {
  return record.job.redundancy ? of_stragglers<member>(record) : FigureValue();
}

}  // namespace

std::vector<Figure> straggler_figures() {
  return {
      {"iteration.stragglers.step_s", "mean over steps", seconds, lower,
       "sampled under the machine's stragglers; of islands, between their exchanges",
       of_stragglers<&StragglerReport::step_s>},
      {"iteration.stragglers.waiting_s", "if all were waited for", seconds, lower,
       "a step that waits for the slowest of all, without redundant work",
       of_stragglers<&StragglerReport::waiting_s>},
      {"iteration.stragglers.load", "load", events, lower,
       "what a replica computes over its part of the batch", of_redundancy<&StragglerReport::load>},
      {"iteration.stragglers.missing", "replicas left out", events, lower,
       "that a step does not wait for, on average", of_redundancy<&StragglerReport::missing>},
      {"iteration.stragglers.waited_share", "waited out", share, lower,
       "of the steps, that waited beyond the tolerance for want of replicas",
       of_redundancy<&StragglerReport::waited_share>},
      {"iteration.stragglers.gradient_share", "of the batch in the gradient", share, higher,
       "on average", of_redundancy<&StragglerReport::gradient_share>}};
}

}  // namespace windtunnel
