// The figures of a result as values: what each is called, in which unit it is written, which way is
// better, what it says, and how it is read off a Record. Console, JSON, SQLite, comparisons,
// rankings and pages look them up here; nothing else knows a title or a unit. A schedule by itself
// has figures of its own (report/schedule), whose times may be in no unit.
#pragma once

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

// What a record has of a figure. Nothing: the question does not arise. A number that is not finite,
// or an estimate of such a mean: it arises and has no answer.
using FigureValue = std::variant<std::monostate, double, bool, std::string, Estimate,
                                 std::map<std::string, Estimate>>;
double number_of(
    const FigureValue& value);  // of an estimate its mean; not a number: a word, nothing

enum class Better { neither, lower, higher };
const char* to_string(Better better);  // "", "lower", "higher"
// A number by which points rank, as more of it is better.
double worth_of(Better better, double value);

inline constexpr const char* kSimulated = "simulated";
inline constexpr const char* kClosedForm = "closed form";

// What an error of the cost models does to a figure: when all that they predict takes f times as
// long, so does a time, and a rate is an f-th. Goodput was simulated so (goodput_by_model); days
// and costs of training grow with f and fall with it. Memory has an error of its own
// (error.memory).
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
  // Where the figure is by what is not known of its own inputs, step times apart.
  std::function<std::optional<FigureRange>(const Record&)> of_inputs = {};
  bool warns = false;  // that something does not keep up: told of a campaign where it is not 0

  std::string text(const Record& record) const;
};

// In the order of the run document.
const std::vector<Figure>& figures();
const Figure& figure(std::string_view key);  // CHECKs that there is one
// Those whose key is `prefix`, a dot and one name: "iteration.critical_path_s".
std::vector<const Figure*> figures_below(std::string_view prefix);

// Charts and sections that show all figures below a key are called so.
struct FigureGroup {
  std::string_view key, title;
};
std::span<const FigureGroup> figure_groups();
std::string group_title(std::string_view key);

// The figures of a part of a campaign's report; keys count from that part on.
template <class Part>
struct PartFigure {
  const char* key;
  const char* title;
  Unit unit;
  Better better;
  const char* help;
  double Part::*member;
  double Part::*needed = nullptr;  // 0: the figure has no text
  const char* origin = kSimulated;

  std::string text(const Part& part) const {
    return needed != nullptr && part.*needed == 0 ? "" : value_text(unit, part.*member);
  }
};
std::span<const PartFigure<TierReport>> tier_figures();          // below "campaign.tiers"
std::span<const PartFigure<IntervalReport>> interval_figures();  // below "campaign.interval"
const PartFigure<IntervalReport>& interval_figure(std::string_view key);

// Rows and parts below this share of the whole are noise to the reader.
inline constexpr double kShownShare = 0.0005;

// The tier that stands for a stack of them: of those that are not on storage, which survives
// everything, the one that survives best. Saving often and surviving a lost node is what protection
// schemes differ in. A stack of storage alone shows that. Null where there is none.
const TierReport* best_copy(const Record& record);

}  // namespace windtunnel
