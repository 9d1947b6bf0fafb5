#include "sim/study/record_invariants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "models/plan/task_cost.hpp"

namespace windtunnel {
namespace {

struct Named {
  const char* what;
  double value;
};

bool adds_up(double sum, double whole) {
  return std::abs(sum - whole) <= kInvariantRounding * std::max(std::abs(sum), std::abs(whole));
}

class InvariantCheck {
 public:
  explicit InvariantCheck(const Record& record) : record_(record) {}

  std::vector<std::string> broken() && {
    iteration();
    memory();
    if (record_.campaign) campaign(*record_.campaign);
    return std::move(broken_);
  }

 private:
  void expect(bool holds, std::string text) {
    if (!holds) broken_.push_back(std::move(text));
  }
  void expect_number(double value, std::string_view what) {
    expect(!std::isnan(value), fmt::format("{} is not a number", what));
  }

  void iteration() {
    const IterationReport& report = record_.iteration;
    for (const auto& [what, value] :
         {Named{"the step time", report.time_s}, Named{"tokens a second", report.tokens_per_s},
          Named{"MFU", report.mfu}, Named{"HFU", report.hfu},
          Named{"MFU with causal attention in half", report.mfu_causal},
          Named{"HFU with causal attention in half", report.hfu_causal},
          Named{"the longest bubble", report.bubble.makespan_s},
          Named{"the idle share", report.bubble.idle},
          Named{"the step's range", report.error.value}}) {
      expect_number(value, what);
    }
    expect(report.hfu >= report.mfu * (1 - kInvariantRounding),
           fmt::format("hardware FLOPs ({} of the peak) are fewer than those of the model ({})",
                       report.hfu, report.mfu));
    expect(report.hfu_causal >= report.mfu_causal * (1 - kInvariantRounding),
           fmt::format("with causal attention in half, hardware FLOPs ({} of the peak) are fewer "
                       "than those of the model ({})",
                       report.hfu_causal, report.mfu_causal));
    double path_s = 0;
    for (int i = 0; i < kCategories; ++i) {
      const double part_s = report.critical_path_s[i];
      path_s += part_s;
      expect(part_s >= -kInvariantRounding * report.time_s,
             fmt::format("the part '{}' of the critical path is negative: {} s",
                         to_string(static_cast<Category>(i)), part_s));
    }
    expect(adds_up(path_s, report.time_s),
           fmt::format("the parts of the critical path add up to {} s of a step of {} s", path_s,
                       report.time_s));
    const double origins_s = std::accumulate(report.origin_s.begin(), report.origin_s.end(), 0.0);
    expect(adds_up(origins_s, report.time_s),
           fmt::format("the seconds by origin add up to {} s of a step of {} s", origins_s,
                       report.time_s));
  }

  void memory() {
    for (const GpuMemory& rank : record_.iteration.memory) {
      for (const auto& [what, bytes] :
           {Named{"weights", rank.weights}, Named{"gradients", rank.gradients},
            Named{"optimizer state", rank.optimizer}, Named{"activations", rank.activations},
            Named{"buffers", rank.buffers}}) {
        expect(bytes >= 0, fmt::format("{} take {} bytes of a GPU", what, bytes));
      }
    }
  }

  void expect_estimate(const Estimate& estimate, std::string_view what) {
    for (const double value :
         {estimate.mean, estimate.low, estimate.high, estimate.p05, estimate.p95}) {
      expect_number(value, what);
    }
  }

  void campaign(const CampaignReport& report) {
    expect_estimate(report.goodput, "goodput");
    expect_estimate(report.ettr, "ETTR");
    expect_estimate(report.nodes_down, "the number of nodes down");
    expect_estimate(report.job_days, "the number of days");
    expect_estimate(report.job_cost_usd, "the cost");
    expect_number(report.goodput_by_model.if_faster, "the range of goodput");
    expect_number(report.goodput_by_model.if_slower, "the range of goodput");
    double all_s = report.useful_s.mean;
    double all_shares = report.goodput.mean;
    for (int i = 0; i < kLosses; ++i) {
      const double lost_s = report.lost_s[i].mean;
      all_s += lost_s;
      all_shares += report.lost[i].mean;
      expect_estimate(report.lost[i], to_string(static_cast<Loss>(i)));
      expect(lost_s >= -kInvariantRounding * report.wall_s.mean,
             fmt::format("the lost time '{}' is negative: {} s", to_string(static_cast<Loss>(i)),
                         lost_s));
    }
    expect(
        adds_up(all_s, report.wall_s.mean),
        fmt::format("useful and lost seconds add up to {} s of {} s", all_s, report.wall_s.mean));
    expect(adds_up(all_shares, 1),
           fmt::format("goodput and the lost shares add up to {} of the wall time", all_shares));
  }

  const Record& record_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_invariants(const Record& record) {
  return InvariantCheck(record).broken();
}

std::vector<Note> invariant_notes(const Record& record) {
  std::vector<Note> notes;
  for (const std::string& text : broken_invariants(record)) {
    notes.push_back({"internal check", text + ": figures of this result contradict each other; "
                                              "please report this together with the scenario"});
  }
  return notes;
}

}  // namespace windtunnel
