// A Record as the few lines that a busy person reads: the console prints them, the page shows them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/results/record.hpp"
#include "report/text/table.hpp"

namespace windtunnel {

struct SummaryRow {
  std::string label;
  std::string value;
};

struct SummarySection {
  std::string title;
  std::vector<SummaryRow> rows;
  TextTable table{};  // stands above the rows; without columns: none
};

struct Summary {
  std::string title;                // the scenario's name
  std::string subtitle;             // model, GPUs, layout
  std::vector<SummaryRow> figures;  // the five or six numbers that matter most
  std::vector<SummarySection> sections;
};

Summary summarise(const Record& record);

// Of the whole job's days and cost: false where no tokens or no price are given (0), and where some
// replica makes no progress (infinite).
bool is_known(const Estimate& estimate);

// Of the iterations to the target quality, if nothing fails; nothing where the scenario names none.
struct JobTotals {
  double steps = 0;
  double days = 0;
  double cost_usd = 0;  // 0: no price is given
};
std::optional<JobTotals> job_totals(const Record& record);

// "tp 8, pp 16 (8 chunks each), dp 128, zero1": what differs from 1.
std::string layout_text(const Layout& layout);

// What an iteration works through: tokens, of a layer network samples.
const char* item_noun(const Job& job);
std::string batch_text(const Job& job);  // "2,048 x 8,192 tokens"

std::string with_separators(double count);  // 16384 -> "16,384", rounded

}  // namespace windtunnel
