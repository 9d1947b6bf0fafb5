#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "models/base/units.hpp"
#include "models/power/power_report.hpp"
#include "report/figures/model_range.hpp"
#include "report/figures/shown_studies.hpp"

namespace windtunnel {
namespace {

using enum Unit;
using enum Better;
using Report = PowerReport;

using Value = FigureValue (*)(const Report&);

// Nothing if the scenario does not ask for power.
std::function<FigureValue(const Record&)> of(Value value) {
  return [value](const Record& record) {
    const auto* report = record.studies.find<PowerReport>();
    return report == nullptr ? FigureValue() : value(*report);
  };
}

// Nothing if the number is 0, which means no tokens or no price.
FigureValue if_any(double number) {
  return number > 0 ? FigureValue(number) : FigureValue();
}

// The cost of this energy at cluster.power.usd_per_kwh.
FigureValue paid(const Report& report, double energy_J) {
  return if_any(report.usd_of(energy_J));
}

// Their values read only the PowerReport of a record: of_inputs passes records with nothing else.
std::vector<Figure> draw_figures() {
  return {
      {"power.mean_W", "mean power", watts, lower,
       "mean power over a step of nodes, switches and storage, without cooling and conversion "
       "(PUE)",
       of([](const Report& report) { return FigureValue(report.cluster.mean_W); })},
      {"power.peak_W", "peak power", watts, lower, "the highest power at any time of a step",
       of([](const Report& report) { return FigureValue(report.cluster.peak_W); })},
      {"power.swing", "swing", share, lower,
       "how far power falls below its peak in the lowest phase of a step, as a share of the peak",
       of([](const Report& report) {
         return FigureValue(1 - report.cluster.least_W / report.cluster.peak_W);
       })},
      {"power.aligned", "peaks in phase", share, neither,
       "peak of all nodes together, divided by the sum of their own peaks",
       of([](const Report& report) { return FigureValue(report.aligned); })},
      {"power.node_mean_W", "node, mean", watts, lower,
       "mean power of the node with the highest peak",
       of([](const Report& report) { return FigureValue(report.node.mean_W); })},
      {"power.node_peak_W", "node, peak", watts, lower, "the highest power of that node",
       of([](const Report& report) { return FigureValue(report.node.peak_W); })},
      {"power.rack_mean_W", "rack, mean", watts, lower,
       "mean power of the rack (cluster.power.rack_nodes) with the highest peak, without switches",
       of([](const Report& report) { return FigureValue(report.rack.mean_W); })},
      {"power.rack_peak_W", "rack, peak", watts, lower, "the highest power of that rack",
       of([](const Report& report) { return FigureValue(report.rack.peak_W); })},
      {"power.network_W", "network part", watts, lower,
       "power of the switches and cable ends of cluster.fabric for this number of nodes; or "
       "cluster.power.switch_watts for each NIC",
       of([](const Report& report) { return if_any(report.network_W); })},
      {"power.switches", "switches", count, lower,
       "number of switches for the nodes and spares, counted from cluster.fabric",
       of([](const Report& report) { return if_any(report.network.switches); })},
      {"power.clock", "clock under the cap", share, higher,
       "clock, relative to the clock without cluster.power.cap_watts", of([](const Report& report) {
         return report.spec.cap_W > 0 ? FigureValue(report.clock) : FigureValue();
       })},
      {"power.step_J", "energy of a step", joules, lower, "energy of a step, with PUE",
       of([](const Report& report) { return FigureValue(report.step_J); }), kSimulated,
       Follows::time},
      {"power.token_J", "energy per token", joules, lower,
       "energy per token, with PUE (layer tables: per sample)",
       of([](const Report& report) { return FigureValue(report.token_J); }), kSimulated,
       Follows::time},
      {"power.step_usd", "energy cost of a step", usd, lower,
       "energy cost of a step at cluster.power.usd_per_kwh",
       of([](const Report& report) { return paid(report, report.step_J); }), kSimulated,
       Follows::time},
      {"power.million_tokens_usd", "energy cost per million tokens", usd, lower,
       "energy cost per million tokens at cluster.power.usd_per_kwh",
       of([](const Report& report) { return paid(report, 1e6 * report.token_J); }), kSimulated,
       Follows::time},
      {"power.undisturbed_J", "undisturbed energy", joules, lower,
       "energy of all tokens, if nothing fails",
       of([](const Report& report) { return if_any(report.undisturbed_J); }), kSimulated,
       Follows::time},
      {"power.undisturbed_usd", "undisturbed energy cost", usd, lower,
       "energy cost of all tokens, if nothing fails, at cluster.power.usd_per_kwh",
       of([](const Report& report) { return paid(report, report.undisturbed_J); }), kSimulated,
       Follows::time},
      {"power.campaign_W", "mean power of the campaign", watts, lower,
       "mean power over the campaign; GPUs idle while the job detects a failure, restarts or waits",
       of([](const Report& report) {
         return report.campaign_W ? FigureValue(*report.campaign_W) : FigureValue();
       })},
      {"power.run_J", "energy of the run", joules, lower, "energy of all tokens at this goodput",
       of([](const Report& report) {
         return report.run ? FigureValue(report.run->energy_J) : FigureValue();
       }),
       kSimulated, Follows::training},
      {"power.run_usd", "energy cost of the run", usd, lower,
       "energy cost of all tokens at this goodput, at cluster.power.usd_per_kwh",
       of([](const Report& report) {
         const bool known = report.run && report.run->usd.mean > 0;
         return known ? FigureValue(report.run->usd) : FigureValue();
       }),
       kSimulated, Follows::training}};
}

// The cost of the machines by depreciation, with their energy.
double owned_usd_per_s(const Report& report) {
  const double energy_W = report.cluster.mean_W * report.spec.pue;
  return report.owned_usd_per_s > 0 ? report.owned_usd_per_s + report.usd_of(energy_W) : 0;
}

// The duration of a step, derived from its energy and mean power.
double step_s(const Report& report) {
  return report.step_J / (report.cluster.mean_W * report.spec.pue);
}

double one_step(const Report&) {
  return 1;
}

double per_million_tokens(const Report& report) {
  return 1e6 * report.token_J / report.step_J;
}

// This is the rent of all GPUs for a number of steps, at the price per hour.
std::function<FigureValue(const Record&)> rented(double (*steps)(const Report&)) {
  return [steps](const Record& record) {
    const auto* report = record.studies.find<PowerReport>();
    if (report == nullptr) return FigureValue();
    const double step_usd = price_usd_per_s(record.job) * record.iteration.time_s;
    return if_any(step_usd * steps(*report));
  };
}

FigureValue of_row(const Report& report, FigureValue (*value)(const RowReport&)) {
  return report.row ? value(*report.row) : FigureValue();
}

FigureValue if_it_holds(const RowReport& row, double value) {
  return row.holds ? FigureValue(value) : FigureValue();
}

std::vector<Figure> price_figures() {
  return {
      {"power.machines_usd", "price of the machines", usd, lower,
       "purchase price of nodes, spares and network",
       of([](const Report& report) { return if_any(report.machines_usd); })},
      {"power.network_usd", "price of the network", usd, lower,
       "price of the switches, cables and cable ends of cluster.fabric for the nodes and spares; "
       "or cluster.power.nic_usd for each NIC",
       of([](const Report& report) { return if_any(report.network_usd); })},
      {"power.network_share", "network part", share, lower,
       "network's share of the price of the machines", of([](const Report& report) {
         return report.machines_usd > 0 ? FigureValue(report.network_usd / report.machines_usd)
                                        : FigureValue();
       })},
      {"power.owned_hour_usd", "cost of an hour", usd, lower,
       "cost of an hour of all machines, written off over cluster.power.years, and of their energy",
       of([](const Report& report) { return if_any(owned_usd_per_s(report) * kHour_s); })},
      {"power.owned_step_usd", "cost of a step, owned", usd, lower,
       "cost of a step on all machines, written off over cluster.power.years, and of their energy",
       of([](const Report& report) { return if_any(owned_usd_per_s(report) * step_s(report)); }),
       kSimulated, Follows::time},
      {"power.owned_million_tokens_usd", "cost per million tokens, owned", usd, lower,
       "cost per million tokens on all machines, written off over cluster.power.years, and of "
       "their energy",
       of([](const Report& report) {
         return if_any(owned_usd_per_s(report) * step_s(report) * per_million_tokens(report));
       }),
       kSimulated, Follows::time},
      {"power.owned_undisturbed_usd", "undisturbed cost, owned", usd, lower,
       "cost of all tokens, if nothing fails: machines written off over cluster.power.years, and "
       "their energy",
       of([](const Report& report) {
         return if_any(owned_usd_per_s(report) * step_s(report) * report.undisturbed_J /
                       report.step_J);
       }),
       kSimulated, Follows::time},
      {"power.rented_step_usd", "cost of a step, rented", usd, lower,
       "cost of a step on all GPUs, including spares, at job.price or the prices of pools",
       rented(one_step), kSimulated, Follows::time},
      {"power.rented_million_tokens_usd", "cost per million tokens, rented", usd, lower,
       "cost per million tokens on all GPUs, including spares, at job.price or the prices of pools",
       rented(per_million_tokens), kSimulated, Follows::time},
      {"power.row_fitting", "nodes that fit", share, higher,
       "nodes that fit without a cap, relative to those for which a row's supply was planned, each "
       "at its limit",
       of([](const Report& report) {
         return of_row(report, [](const RowReport& row) { return FigureValue(row.fitting); });
       })},
      {"power.row_capped", "capped", share, lower,
       "share of the time under a cap, with cluster.power.more_nodes in a row",
       of([](const Report& report) {
         return of_row(report, [](const RowReport& row) { return FigureValue(row.capped_share); });
       })},
      {"power.row_clock", "lowest clock", share, higher,
       "the lowest clock that a cap causes, with cluster.power.more_nodes in a row",
       of([](const Report& report) {
         return of_row(report, [](const RowReport& row) { return if_it_holds(row, row.clock); });
       })},
      {"power.row_slowdown", "a step takes", share, lower,
       "upper bound of how much longer a step takes, as if all capped kernels were bound by "
       "arithmetic",
       of([](const Report& report) {
         return of_row(report, [](const RowReport& row) { return if_it_holds(row, row.slowdown); });
       })}};
}

// The values that the figure can have by definition.
FigureRange domain_of(const Figure& figure) {
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  if (figure.key == "power.row_slowdown") return {1, kUnlimited};
  const bool part = figure.key == "power.row_clock" || figure.key == "power.row_capped" ||
                    figure.key == "power.clock" || figure.key == "power.network_share";
  return {0, part ? 1 : kUnlimited};
}

// Adds the range from uncertain inputs. They are independent, so each is varied alone and the
// differences add in quadrature. Ends at which the figure has no value are skipped.
Figure with_inputs(Figure figure) {
  const auto value = figure.of;
  figure.of_inputs =
      [value, domain = domain_of(figure)](const Record& record) -> std::optional<FigureRange> {
    const auto* power = record.studies.find<PowerReport>();
    if (power == nullptr || power->at_low.empty()) return std::nullopt;
    const auto at = [&](const Report& report) {
      Record other;
      other.studies.set(report);
      return number_of(value(other));
    };
    const double middle = number_of(value(record));
    if (!std::isfinite(middle)) return std::nullopt;
    double below = 0;
    double above = 0;
    for (std::size_t i = 0; i < power->at_low.size(); ++i) {
      // NaN if the figure has no value there; fmin and fmax ignore it.
      const double low = at(power->at_low[i]) - middle;
      const double high = at(power->at_high[i]) - middle;
      below = std::hypot(below, std::fmin(0.0, std::fmin(low, high)));
      above = std::hypot(above, std::fmax(0.0, std::fmax(low, high)));
    }
    if (!(below + above > 1e-9 * std::abs(middle))) return std::nullopt;
    return FigureRange{std::max(domain.low, middle - below), std::min(domain.high, middle + above)};
  };
  return figure;
}

std::vector<Figure> power_figures() {
  std::vector<Figure> figures = draw_figures();
  std::ranges::move(price_figures(), std::back_inserter(figures));
  for (Figure& each : figures) each = with_inputs(std::move(each));
  return figures;
}

// The value, with the range from trials, the cost models and uncertain watts.
std::string power_text(const Figure& figure, const Record& record) {
  std::string text = figure.text(record);
  if (text.empty()) return text;
  const std::optional<FigureRange> range = wider_range(figure, record);
  if (range) text += fmt::format("  ({})", range_text(figure.unit, range->low, range->high));
  return text;
}

std::vector<SummarySection> power_sections(const Record& record) {
  SummarySection section{"Power and energy", {}};
  add_figures(record, "power", section, power_text);
  const PowerReport& report = *record.studies.find<PowerReport>();
  if (report.network.cables > 0) {
    const NetworkKit& kit = report.spec.kit;
    section.add("network built of", "{:.0f} switches of {} ports ({}), {:.0f} cables",
                report.network.switches, kit.ports, kit.name, report.network.cables);
  }
  const auto& row = report.row;
  if (row && !row->holds) {
    section.rows.push_back(
        {"does not hold", "no clock is low enough for this number of nodes in a row"});
  }
  return {section};
}

}  // namespace

ShownStudy shown_power() {
  return {.key = "power",
          .is_in = [](const Record& record) { return record.studies.has<PowerReport>(); },
          .figures = power_figures,
          .sections = power_sections,
          .columns = {"power.peak_W", "power.step_J"}};
}

}  // namespace windtunnel
