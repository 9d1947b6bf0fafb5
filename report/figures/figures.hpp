// The figures of a result as values: title, unit, which direction is better, explanation, and how
// to read it from a Record. Console, JSON, SQLite, comparisons, rankings and pages use this table;
// no other code has a title or a unit. A schedule without a job has figures of its own
// (report/schedule), whose times may have no unit.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/results/record.hpp"
#include "report/figures/figure_text.hpp"

namespace windtunnel {

// The value of a figure in a record. monostate: the figure does not apply. A number (or mean of an
// estimate) that is not finite: it applies but is not known.
using FigureValue = std::variant<std::monostate, double, bool, std::string, Estimate,
                                 std::map<std::string, Estimate>>;
double number_of(const FigureValue& value);  // the mean of an estimate; NaN for a word or nothing

enum class Better { neither, lower, higher };
const char* to_string(Better better);  // "", "lower", "higher"
// The value turned so that more is better, for ranking.
double worth_of(Better better, double value);

inline constexpr const char* kSimulated = "simulated";
inline constexpr const char* kClosedForm = "closed form";

// How an error of the cost models changes a figure, if everything takes f times as long as
// predicted. A time is multiplied by f and a rate divided by f. Goodput was simulated with longer
// steps (goodput_by_model); days and costs of training follow from f and the goodput. Memory has an
// error of its own (error.memory).
enum class Follows { none, time, rate, goodput, training, memory };

struct FigureRange {
  double low = 0;
  double high = 0;
};

struct Figure {
  std::string key;  // its path in the run document: "iteration.time_s"
  std::string title;
  Unit unit;
  Better better;
  std::string help;
  std::function<FigureValue(const Record&)> of;
  const char* origin = kSimulated;
  Follows follows = Follows::none;
  // Returns the range of the figure from uncertain inputs other than step times.
  std::function<std::optional<FigureRange>(const Record&)> of_inputs = {};
  bool warns = false;  // a campaign's summary warns if the figure is not 0

  std::string text(const Record& record) const;
};

// The order is that of the run document.
const std::vector<Figure>& figures();
const Figure& figure(std::string_view key);  // CHECKs that it exists
// The figures whose key is `prefix`, a dot and one name: "iteration.critical_path_s".
std::vector<const Figure*> figures_below(std::string_view prefix);

// The title of charts and sections that show all figures below a key.
struct FigureGroup {
  std::string_view key, title;
};
std::span<const FigureGroup> figure_groups();
std::string group_title(std::string_view key);

// A figure of a part of a campaign's report. Its key is relative to that part.
template <class Part>
struct PartFigure {
  const char* key;
  const char* title;
  Unit unit;
  Better better;
  const char* help;
  double Part::*member;
  double Part::*needed = nullptr;  // the figure has no text if this member is 0
  const char* origin = kSimulated;

  std::string text(const Part& part) const {
    return needed != nullptr && part.*needed == 0 ? "" : value_text(unit, part.*member);
  }
};
std::span<const PartFigure<TierReport>> tier_figures();          // below "campaign.tiers"
std::span<const PartFigure<IntervalReport>> interval_figures();  // below "campaign.interval"
const PartFigure<IntervalReport>& interval_figure(std::string_view key);

// Smaller shares of the whole are not shown.
inline constexpr double kShownShare = 0.0005;

// The tier that represents a stack: the one that survives best among tiers that are not on storage,
// because storage survives everything and protection schemes differ in saving often and surviving a
// lost node. For a stack of storage alone, that tier. Null if there is no tier.
const TierReport* best_copy(const Record& record);

// The order of points in console, pages and documents.

struct Standing {
  bool fits = true;  // in memory; points that do not fit come last
  double worth = 0;  // more is better; NaN (not known) comes after all numbers
};

// Indices of the points, the best first; equal points keep their order.
std::vector<std::size_t> best_first(const std::vector<Standing>& points);

}  // namespace windtunnel
