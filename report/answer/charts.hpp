// Charts of an answer's page as values. report/web/src/answer.js draws them by their kind; values
// are in base units and written by the unit's form.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/results/record.hpp"
#include "report/figures/figure_text.hpp"
#include "report/text/answer.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

struct ChartAxis {
  std::string name;
  Unit unit;
};

// Things side by side, each with a value, its interval and what else is known of it.
struct RangeItem {
  std::string name;
  Estimate value;          // low == high: no interval is known
  std::string group = {};  // stands above the first item of each
  std::string tip = {};    // on hover; lines
  bool best = false;
  std::map<std::string, double> marks = {};  // further values on the same axis, by name
};

struct RangeChart {
  std::string title, note;
  ChartAxis axis;
  std::vector<RangeItem> items;
  double floor = 0;  // above 0: values below stand there, on a logarithmic axis
};
Json chart_json(const RangeChart& chart);

struct ScatterPoint {
  double x = 0, y = 0;
  std::string tip = {};
  std::string label = {};  // stands beside the point
};

struct ScatterGroup {
  std::string name;
  std::vector<ScatterPoint> points;
  std::vector<std::pair<double, double>> line = {};  // [point] (x, y), drawn through
};

struct ScatterChart {
  std::string title, note;
  ChartAxis x, y;
  std::vector<ScatterGroup> groups;
  bool logarithmic = false;
  std::vector<double> bands = {};  // shares: lines x = y, and so far beside it
  bool one_at_a_time = false;      // the reader chooses a group
};
// A logarithmic chart leaves out points that are not above 0.
Json chart_json(const ScatterChart& chart);

// Shares of a whole, the largest on top. `of`: whose colours, as report/web/src/colours.js has
// them.
enum class SharesOf { category, loss };
Json shares_chart(const std::string& title, SharesOf of,
                  const std::vector<std::pair<std::string, double>>& shares);

// Charts of a simulated job for the page of a command that found it.

// Where the step goes, memory of each pipeline rank, where the wall time goes, goodput over the
// interval of snapshots: those that the record has. `storage_note`: a sentence on how that of the
// tier on storage was chosen. `record` has to outlive them.
std::vector<SummarySection> record_charts(const Record& record,
                                          const std::string& storage_note = "");

}  // namespace windtunnel
