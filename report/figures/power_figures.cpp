#include "report/figures/power_figures.hpp"

#include "models/power/power_report.hpp"

namespace windtunnel {
namespace {

using enum Unit;
using enum Better;
using Report = PowerReport;

// Nothing where power is not asked for.
std::function<FigureValue(const Record&)> of(FigureValue (*value)(const Report&)) {
  return [value](const Record& record) {
    return record.power == nullptr ? FigureValue() : value(*record.power);
  };
}

// Nothing where the number is 0: no tokens, or no price.
FigureValue if_any(double number) {
  return number > 0 ? FigureValue(number) : FigureValue();
}

// Of energy at the price of cluster.power.usd_per_kwh.
FigureValue paid(const Report& report, double energy_J) {
  return if_any(report.usd_of(energy_J));
}

}  // namespace

std::vector<Figure> power_figures() {
  return {
      {"power.mean_W", "mean power", watts, lower,
       "of nodes, switches and storage, over a step; without what cooling and conversion add (PUE)",
       of([](const Report& report) { return FigureValue(report.cluster.mean_W); })},
      {"power.peak_W", "peak power", watts, lower, "likewise, the most at one time of a step",
       of([](const Report& report) { return FigureValue(report.cluster.peak_W); })},
      {"power.swing", "swing", share, lower,
       "of the peak, by which power falls in the lowest phase of a step",
       of([](const Report& report) {
         return FigureValue(1 - report.cluster.least_W / report.cluster.peak_W);
       })},
      {"power.aligned", "peaks in phase", share, neither,
       "peak of all nodes together, over the sum of the peak of each",
       of([](const Report& report) { return FigureValue(report.aligned); })},
      {"power.node_mean_W", "node, mean", watts, lower, "of the node with the highest peak",
       of([](const Report& report) { return FigureValue(report.node.mean_W); })},
      {"power.node_peak_W", "node, peak", watts, lower, "likewise",
       of([](const Report& report) { return FigureValue(report.node.peak_W); })},
      {"power.rack_mean_W", "rack, mean", watts, lower,
       "of the rack (cluster.power.rack_nodes) with the highest peak, without switches",
       of([](const Report& report) { return FigureValue(report.rack.mean_W); })},
      {"power.rack_peak_W", "rack, peak", watts, lower, "likewise",
       of([](const Report& report) { return FigureValue(report.rack.peak_W); })},
      {"power.clock", "clock under the cap", share, higher,
       "over the one without cluster.power.cap_watts", of([](const Report& report) {
         return report.spec.cap_W > 0 ? FigureValue(report.clock) : FigureValue();
       })},
      {"power.step_J", "energy of a step", joules, lower, "with PUE",
       of([](const Report& report) { return FigureValue(report.step_J); }), kSimulated,
       Follows::time},
      {"power.token_J", "energy per token", joules, lower, "likewise (of networks: per sample)",
       of([](const Report& report) { return FigureValue(report.token_J); }), kSimulated,
       Follows::time},
      {"power.step_usd", "energy cost of a step", usd, lower, "at cluster.power.usd_per_kwh",
       of([](const Report& report) { return paid(report, report.step_J); }), kSimulated,
       Follows::time},
      {"power.million_tokens_usd", "energy cost per million tokens", usd, lower, "likewise",
       of([](const Report& report) { return paid(report, 1e6 * report.token_J); }), kSimulated,
       Follows::time},
      {"power.undisturbed_J", "undisturbed energy", joules, lower,
       "of all tokens, if nothing fails",
       of([](const Report& report) { return if_any(report.undisturbed_J); }), kSimulated,
       Follows::time},
      {"power.undisturbed_usd", "undisturbed energy cost", usd, lower, "likewise",
       of([](const Report& report) { return paid(report, report.undisturbed_J); }), kSimulated,
       Follows::time},
      {"power.campaign_W", "mean power of the campaign", watts, lower,
       "GPUs idle while the job detects a failure, restarts or waits", of([](const Report& report) {
         return report.campaign_W ? FigureValue(*report.campaign_W) : FigureValue();
       })},
      {"power.run_J", "energy of the run", joules, lower, "all tokens at this goodput",
       of([](const Report& report) {
         return report.run ? FigureValue(report.run->energy_J) : FigureValue();
       }),
       kSimulated, Follows::training},
      {"power.run_usd", "energy cost of the run", usd, lower, "likewise",
       of([](const Report& report) {
         const bool known = report.run && report.run->usd.mean > 0;
         return known ? FigureValue(report.run->usd) : FigureValue();
       }),
       kSimulated, Follows::training}};
}

}  // namespace windtunnel
