#include "report/figures/figures.hpp"

#include <algorithm>
#include <cmath>
#include <windtunnel/figures.hpp>

#include "report/api/translation.hpp"

namespace windtunnel_api {
namespace {

Better better_of(core::Better better) {
  switch (better) {
    case core::Better::neither:
      return Better::neither;
    case core::Better::lower:
      return Better::lower;
    case core::Better::higher:
      return Better::higher;
  }
  return Better::neither;
}

// Appends all values of a figure. Several values under one figure get a key each.
class Reader {
 public:
  explicit Reader(std::vector<Figure>& figures) : figures_(figures) {}

  void add(const core::Figure& figure, const core::FigureValue& value) {
    const Figure named = {.key = figure.key,
                          .title = figure.title,
                          .unit = std::string(core::unit_form(figure.unit).base),
                          .better = better_of(figure.better),
                          .help = figure.help,
                          .origin = figure.origin};
    if (const auto* parts = std::get_if<std::map<std::string, core::Estimate>>(&value)) {
      for (const auto& [name, estimate] : *parts) add(named, name, estimate);
    } else if (const auto* estimate = std::get_if<core::Estimate>(&value)) {
      add(named, "", *estimate);
    } else {
      add(named, core::number_of(value));
    }
  }

  template <class Part>
  void add(const std::string& below, std::span<const core::PartFigure<Part>> figures,
           const Part& part) {
    for (const core::PartFigure<Part>& figure : figures) {
      add({.key = fmt::format("{}.{}", below, figure.key),
           .title = figure.title,
           .unit = std::string(core::unit_form(figure.unit).base),
           .better = better_of(figure.better),
           .help = figure.help,
           .origin = figure.origin},
          part.*figure.member);
    }
  }

 private:
  void add(Figure figure, double value) {
    if (!std::isfinite(value)) return;
    figure.value = value;
    figures_.push_back(std::move(figure));
  }

  void add(Figure figure, const std::string& name, const core::Estimate& estimate) {
    if (!name.empty()) figure.key += "." + name;
    figure.interval = Interval{estimate.low, estimate.high};
    add(std::move(figure), estimate.mean);
  }

  std::vector<Figure>& figures_;
};

}  // namespace

Figures::Figures(std::vector<Figure> figures) : figures_(std::move(figures)) {}

const Figure* Figures::find(std::string_view key) const {
  const auto found = std::ranges::find(figures_, key, &Figure::key);
  return found == figures_.end() ? nullptr : &*found;
}

const Figure& Figures::at(std::string_view key) const {
  if (const Figure* figure = find(key)) return *figure;
  std::vector<std::string> known;
  for (const Figure& figure : figures_) known.push_back(figure.key);
  throw Error(core::unknown_name("figure", key, known), {}, Error::Cause::input);
}

Figures figures_of(const core::Record& record) {
  std::vector<Figure> figures;
  Reader reader(figures);
  const bool is_simulated = record.ranks > 0;
  for (const core::Figure& figure : core::figures()) {
    if (is_simulated || !figure.key.starts_with("origin.")) reader.add(figure, figure.of(record));
  }
  if (record.campaign) {
    int index = 0;
    for (const core::TierReport& tier : record.campaign->tiers) {
      reader.add(fmt::format("campaign.tiers.{}", index++), core::tier_figures(), tier);
    }
    if (record.campaign->interval) {
      reader.add("campaign.interval", core::interval_figures(), *record.campaign->interval);
    }
  }
  return Figures(std::move(figures));
}

}  // namespace windtunnel_api
