
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "models/results/rank_parts.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

std::optional<SummarySection> rank_section(const Record& record, std::size_t most) {
  std::vector<RankParts> ranks = rank_parts(record.job, record.plan, record.timeline);
  if (ranks.empty()) return std::nullopt;
  SummarySection section{
      "Where each rank's step goes (kernels, exchanges not hidden by kernels, bubble)", {}, {}};
  const std::size_t left_out = ranks.size() - std::min(ranks.size(), most);
  ranks.resize(ranks.size() - left_out);
  std::vector<int> shown;
  section.table.columns = {{"rank"}};
  for (int c = 0; c < kCategories; ++c) {
    if (std::ranges::none_of(ranks, [&](const RankParts& rank) { return rank.seconds[c] > 0; })) {
      continue;
    }
    shown.push_back(c);
    section.table.columns.push_back({to_string(static_cast<Category>(c)), Align::right});
  }
  section.table.columns.push_back({"bubble", Align::right});
  section.table.columns.push_back({"simulated step", Align::right});
  for (const RankParts& rank : ranks) {
    std::vector<std::string> row = {rank.rank};
    for (const int c : shown) {
      row.push_back(rank.seconds[c] > 0 ? value_text(Unit::seconds, rank.seconds[c]) : "");
    }
    row.push_back(value_text(Unit::seconds, rank.bubble_s));
    const double step_s = std::accumulate(rank.seconds.begin(), rank.seconds.end(), rank.bubble_s);
    row.push_back(value_text(Unit::seconds, step_s));
    section.table.rows.push_back(std::move(row));
  }
  if (left_out > 0) section.add("left out", "{} further ranks", left_out);
  return section;
}

}  // namespace windtunnel
