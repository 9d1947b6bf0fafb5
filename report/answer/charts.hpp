// Charts of an answer's page as values, which report/web/src/answer.js draws by kind. Values are in
// base units; the chart's unit says how to write them.
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

// One item of a range chart: a value with its interval, and further marks.
struct RangeItem {
  std::string name;
  Estimate value;          // low == high: no interval is known
  std::string group = {};  // a heading above the first item of each group
  std::string tip = {};    // shown on hover; lines
  bool best = false;
  std::map<std::string, double> marks = {};  // further values on the same axis, by name
};

struct RangeChart {
  std::string title, note;
  ChartAxis axis;
  std::vector<RangeItem> items;
  double floor = 0;  // if above 0: the axis is logarithmic, and smaller values are drawn here
};
Json chart_json(const RangeChart& chart);

struct ScatterPoint {
  double x = 0, y = 0;
  std::string tip = {};
  std::string label = {};  // written next to the point
};

struct ScatterGroup {
  std::string name;
  std::vector<ScatterPoint> points;
  std::vector<std::pair<double, double>> line = {};  // [point] (x, y) of a line
};

struct ScatterChart {
  std::string title, note;
  ChartAxis x, y;
  std::vector<ScatterGroup> groups;
  bool logarithmic = false;
  // Relative errors: draws the line x = y and a band on either side for each.
  std::vector<double> bands = {};
  bool one_at_a_time = false;  // the reader chooses which group to see
};
// A logarithmic chart omits points that are not above 0.
Json chart_json(const ScatterChart& chart);

// Shares of a whole, the largest on top. `of` selects the colours (report/web/src/colours.js).
enum class SharesOf { category, loss };
Json shares_chart(const std::string& title, SharesOf of,
                  const std::vector<std::pair<std::string, double>>& shares);

// Charts of a simulated job for the page of a command that found the job.

// Charts of the step's parts, memory of each pipeline rank, the parts of the wall time, and goodput
// over the interval of snapshots, if the record has them. `storage_note` says how the interval of
// the tier on storage was chosen. `record` must outlive the sections.
std::vector<SummarySection> record_charts(const Record& record,
                                          const std::string& storage_note = "");

}  // namespace windtunnel
