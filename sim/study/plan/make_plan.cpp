#include "sim/study/plan/make_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/calibration/prediction_error.hpp"
#include "models/reliability/saving_interval.hpp"
#include "models/results/familiarity.hpp"
#include "models/results/paired_gain.hpp"
#include "scenarios/language/library/facts/measured_runs.hpp"
#include "scenarios/language/library/facts/planning.hpp"
#include "scenarios/language/text/document.hpp"
#include "sim/campaign/campaign.hpp"
#include "sim/study/decisive_numbers.hpp"
#include "sim/study/interval_advice.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/optimise.hpp"
#include "sim/study/paired_trials.hpp"
#include "sim/study/plan/goal_search.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

constexpr int kRanked = 12;        // layouts that are kept for each number of nodes
constexpr int kSpareShare = 8;     // at most an eighth of the cluster becomes spares
constexpr int kFurtherShare = 32;  // one further node is tried for every 32 requested ones
constexpr int kMostSimulated = 5;  // numbers of spares that are simulated
// A number of training nodes is not simulated if its estimate is below this share of the best.
constexpr double kNear = 0.85;
// No more spares are tried once a layout reaches this share of the progress expected of as many
// nodes.
constexpr double kAsGood = 0.97;
constexpr double kShortest_s = kDay_s, kLongest_s = 180 * kDay_s;
// Snapshot intervals that are tried. At longer ones a loss spike would undo too much.
constexpr std::array<double, 9> kIntervals_s = {
    kPlanShortestInterval_s, 10 * kMinute_s, 15 * kMinute_s, 20 * kMinute_s,
    30 * kMinute_s,          kHour_s,        2 * kHour_s,    3 * kHour_s,
    kPlanLongestInterval_s};
// If an interval has this much less goodput than the shortest, longer ones are not tried.
constexpr double kHopeless = 0.02;
// A plan that fits with a smaller chance than this is compared with one that fits with this chance.
constexpr double kSureToFit = 0.95;

// Returns the stack with another interval of its tier on storage.
UsualPart saved_every(const UsualPart& stack, double every_s) {
  DocumentNode tiers = parse_document(stack.text, kPlanFile);
  for (DocumentNode& tier : tiers.items) {
    if (tier.value_of("tier")->text != "storage") continue;
    tier.find("every")->value.text = format_quantity(every_s, Dimension::seconds);
  }
  return {stack.name, flow_text(tiers), stack.source};
}

// Whether ranks are arranged differently; recomputation, chunks and micro-batches do not count.
bool other_layout(const PlanPoint& a, const PlanPoint& b) {
  constexpr std::array<const char*, 4> kAxes = {"layout.tp", "layout.pp", "layout.cp", "layout.ep"};
  return std::ranges::any_of(
      kAxes, [&](const char* axis) { return a.found_at(axis) != b.found_at(axis); });
}

std::vector<int> spare_counts(int nodes) {
  std::vector<int> counts = {0};
  for (int spares = 1; spares <= nodes / kSpareShare; spares *= 2) counts.push_back(spares);
  return counts;
}

class Planner {
 public:
  explicit Planner(const PlanRequest& request) { report_.basis = plan_basis(request); }

  FirstScenario first() {
    const std::vector<Estimated>& layouts = layouts_on(request().nodes);
    PlanPoint point = layouts.front().point;
    point.snapshots = usual_snapshots().front();
    point.campaign_s = campaign_of(layouts.front().tokens_per_s);
    point.trials = trials_of(point);
    take_framework(report_.basis, resolve_case(text_of(point)));
    return {complete_scenario_text(report_.basis, point, guide_of(report_.basis)), report_.basis};
  }

  std::optional<PlanReport> best_unless(const TooSlow& too_slow) {
    choose_nodes_and_layout();
    PlanOption without_failures = best_.option;
    without_failures.days = request().tokens / best_.option.tokens_per_s / kDay_s;
    if (too_slow(report_.basis, without_failures)) return std::nullopt;
    choose_protection();
    simulate_best(StudyDepth::campaign);
    return std::move(report_);
  }

  PlanReport run() {
    choose_nodes_and_layout();
    choose_protection();
    try_more_nodes();
    try_more_room();
    try_fp8();
    const Case best = simulate_best(StudyDepth::intervals);
    compare_with(best);
    GoalSearch goals(report_, [&](int nodes) { return fastest_tokens_per_s(nodes); });
    if (request().deadline_days) report_.for_days = goals.for_days(*request().deadline_days);
    if (request().budget_usd) report_.for_budget = goals.for_budget(*request().budget_usd);
    return std::move(report_);
  }

 private:
  struct Estimated {
    PlanPoint point;
    double tokens_per_s = 0;
  };

  struct Tried {
    PlanOption option;
    MeasuredIteration measured;
    double chosen_by = 0;  // progress under failures that are not reported (to_choose_by())
  };

  const PlanRequest& request() const { return report_.basis.request; }

  void choose_nodes_and_layout() {
    estimate_all();
    choose_spares();
    choose_layout();
  }

  // Neither choice makes steps faster.
  void choose_protection() {
    choose_snapshots();
    choose_without_spare();
  }

  void tell(const std::string& step) const {
    if (request().progress) request().progress(step);
  }

  // Without a campaign there are no failures that keys could change.
  ScenarioText text_of(const PlanPoint& point) const {
    Overrides set = request().set;
    if (point.campaign_s == 0) {
      std::erase_if(set, [](const auto& at) { return at.first.starts_with("failures."); });
    }
    return {.file = kPlanFile, .text = scenario_text(report_.basis, point), .set = set};
  }

  // Returns the fastest layouts on `nodes` nodes, the best first. Each number is searched once.
  const std::vector<Estimated>& layouts_on(int nodes) {
    const auto known = layouts_.find(nodes);
    if (known != layouts_.end()) return known->second;
    return layouts_[nodes] = layouts_on(nodes, allowed(), report_.basis.headroom);
  }
  // Searches with this share of each GPU's memory kept free, and with these further keys.
  std::vector<Estimated> layouts_on(int nodes, const Allowed& allowed, double headroom,
                                    const Overrides& also = {}) {
    PlanPoint point = {.nodes = nodes, .spares = std::max(0, request().nodes - nodes)};
    point.batch = batch_on(report_.basis, nodes);
    std::vector<Overrides> starts = layer_splits(report_.basis, point);
    for (Overrides& start : starts) start.insert(start.end(), also.begin(), also.end());
    const Optimisation result = optimise(text_of(point), starts,
                                         {.layout = true,
                                          .schedule = true,
                                          .micro_batch = true,
                                          .recompute = true,
                                          .allowed = allowed,
                                          .headroom = headroom,
                                          .top = kRanked,
                                          .simulated = 0,
                                          .threads = request().threads});
    report_.estimated += result.estimated;
    std::vector<Estimated> layouts;
    for (const RankedConfiguration& at : result.best) {
      Estimated& estimated = layouts.emplace_back(Estimated{point, 0});
      estimated.point.found = at.set;
      estimated.tokens_per_s =
          static_cast<double>(point.batch) * report_.basis.sequence / at.estimated_s;
    }
    return layouts;
  }

  Allowed allowed() const {
    const Framework& framework = report_.basis.framework;
    return {framework.schedules, framework.sharding, framework.sharding_in_pipelines};
  }

  // Returns the length of the campaign: that of the training, in whole days.
  double campaign_of(double tokens_per_s) const {
    const double days = std::ceil(request().tokens / tokens_per_s / kDay_s);
    return std::clamp(days * kDay_s, kShortest_s, kLongest_s);
  }

  // If nothing fits, names the least of twice, four times, ... the nodes on which something does.
  std::string enough_nodes_text() {
    for (int nodes = 2 * request().nodes; nodes <= kMostPlanNodes; nodes *= 2) {
      tell(fmt::format("searching layouts on {} nodes", nodes));
      try {
        layouts_on(nodes);
        return fmt::format("\n{} nodes are enough, {} too few", nodes,
                           nodes == 2 ? "1 is" : fmt::format("{} are", nodes / 2));
      } catch (const Error& error) {
        if (error.code() != ExitCode::failed) throw;
      }
    }
    return "";
  }

  void estimate_all() {
    std::string why;
    for (const int spares : spare_counts(request().nodes)) {
      tell(fmt::format("searching layouts on {} of {} nodes", request().nodes - spares,
                       request().nodes));
      try {
        estimates_.push_back(&layouts_on(request().nodes - spares));
      } catch (const Error& error) {
        if (error.code() != ExitCode::failed) throw;
        if (why.empty()) why = error.what();
      }
    }
    if (estimates_.empty()) throw Error(why + enough_nodes_text(), ExitCode::failed);
    double most = 0;
    for (const auto* layouts : estimates_) most = std::max(most, layouts->front().tokens_per_s);
    campaign_s_ = campaign_of(most);
    PlanPoint point = estimates_.front()->front().point;
    point.snapshots = usual_snapshots().front();
    point.campaign_s = campaign_s_;
    trials_ = trials_of(point);
  }

  // Returns enough trials to meet kPlanFailures in total. If few nodes fail, by a mean over few
  // trials every interval would seem as good as every other.
  int trials_of(PlanPoint point) const {
    point.trials = kPlanTrials;
    const Job job = resolve_case(text_of(point)).job;
    double failures = 0;  // in one trial
    for (const FailureClass& failure : job.failures) {
      const double rate = failure.rate_per_node_s * job.cluster.nodes + failure.rate_per_job_s;
      failures += rate * job.campaign.length_s;
    }
    const double enough = std::ceil(kPlanFailures / std::max(failures, 1e-9));
    return static_cast<int>(std::clamp<double>(enough, kPlanTrials, kMostPlanTrials));
  }

  // Simulates the steps, then campaigns at several intervals of the tier on storage.
  Tried simulated(PlanPoint point) const {
    point.campaign_s = campaign_s_;
    point.trials = trials_;
    const Case the_case = resolve_case(text_of(point));
    return the_case.places.placing([&] {
      Tried tried;
      tried.measured = measure_iteration(
          the_case, {.threads = request().threads, .others = OtherIterations::closed});
      const MeasuredIteration& measured = tried.measured;
      tried.option = {.point = point,
                      .step_s = measured.report.time_s,
                      .tokens_per_s = measured.report.tokens_per_s,
                      .memory_bytes = fullest_bytes(measured.prepared->memory)};
      tried.option.too_big =
          chance_above(the_case.job.calibration.memory_error,
                       usable_bytes(report_.basis.node.gpu) / tried.option.memory_bytes);
      save_best(tried, campaign_inputs(the_case.job, measured.table));
      return tried;
    });
  }

  // Sets interval and goodput of the option. The interval is chosen under other failures than those
  // that give the goodput.
  void save_best(Tried& tried, CampaignInputs inputs) const {
    std::vector<double> intervals_s;
    std::vector<double> goodput;              // [interval] mean over the trials
    std::vector<std::vector<double>> trials;  // [interval]
    size_t best = 0;
    const double training_s =
        inputs.tokens / inputs.tokens_per_iteration * inputs.table.iteration_s.front();
    for (const double every_s : kIntervals_s) {
      if (every_s > training_s / 2 && !intervals_s.empty()) break;
      if (!save_every(every_s, inputs) && every_s < kIntervals_s.back()) continue;
      intervals_s.push_back(every_s);
      const CampaignReport campaign = run_campaign(to_choose_by(inputs), request().threads);
      goodput.push_back(campaign.goodput.mean);
      trials.push_back(campaign.trial_goodput);
      if (goodput.back() > goodput[best]) best = goodput.size() - 1;
      if (goodput.back() < goodput.front() - kHopeless) break;
    }
    const auto [shortest, longest] = as_good_places(trials, best);
    save_every(intervals_s[longest], inputs);
    const CampaignReport campaign = run_campaign(inputs, request().threads);
    PlanOption& option = tried.option;
    option.goodput = campaign.goodput;
    option.days = campaign.job_days.mean;
    option.as_good_from_s = intervals_s[shortest];
    option.point.snapshots = saved_every(option.point.snapshots, intervals_s[longest]);
    tried.chosen_by = option.tokens_per_s * goodput[longest];
  }

  // Sets the interval of the tier on storage; other tiers count iterations. Returns false if
  // storage does not allow such frequent snapshots.
  static bool save_every(double every_s, CampaignInputs& inputs) {
    bool allowed = true;
    for (size_t i = 0; i < inputs.table.tiers.size(); ++i) {
      SnapshotTier& tier = inputs.table.tiers[i].tier;
      if (interval_s(tier) <= 0) continue;
      save_every_seconds(tier, every_s);
      allowed = every_s >= storage_interval_s(inputs, i);
    }
    return allowed;
  }

  void keep_better(Tried tried) {
    if (tried.chosen_by > best_.chosen_by) best_ = std::move(tried);
  }

  // An option that is too slow by its estimate is not simulated.
  static PlanOption only_estimated(const Estimated& estimated, double tokens) {
    return {.point = estimated.point,
            .step_s = tokens / estimated.tokens_per_s,
            .tokens_per_s = estimated.tokens_per_s};
  }

  double tokens_of(const PlanPoint& point) const {
    return static_cast<double>(point.batch) * report_.basis.sequence;
  }

  void choose_spares() {
    std::ranges::stable_sort(estimates_, std::greater<>(),
                             [](const auto* layouts) { return layouts->front().tokens_per_s; });
    const double most_tokens_per_s = estimates_.front()->front().tokens_per_s;
    for (const auto* layouts : estimates_) {
      Estimated estimated = layouts->front();
      estimated.point.snapshots = usual_snapshots().front();
      const bool slow = estimated.tokens_per_s < kNear * most_tokens_per_s;
      if (std::ssize(report_.spares) >= kMostSimulated || slow) {
        report_.spares.push_back(only_estimated(estimated, tokens_of(estimated.point)));
        continue;
      }
      tell(fmt::format("simulating {} nodes and {} spares", estimated.point.nodes,
                       estimated.point.spares));
      Tried tried = simulated(estimated.point);
      report_.spares.push_back(tried.option);
      keep_better(std::move(tried));
    }
    std::ranges::sort(report_.spares, {}, [](const PlanOption& at) { return at.point.spares; });
  }

  // Simulates the next layouts of this number of nodes, each in its best form, because the closed
  // form may have ranked wrongly.
  void choose_layout() {
    constexpr size_t kLayouts = 3;
    report_.layouts = {best_.option};
    const std::vector<Estimated>& layouts = layouts_on(best_.option.point.nodes);
    for (Estimated each : layouts) {
      const bool known = std::ranges::any_of(report_.layouts, [&](const PlanOption& at) {
        return !other_layout(at.point, each.point);
      });
      if (known || report_.layouts.size() >= kLayouts) continue;
      each.point.snapshots = usual_snapshots().front();
      if (each.tokens_per_s < kNear * layouts.front().tokens_per_s) {
        report_.layouts.push_back(only_estimated(each, tokens_of(each.point)));
        continue;
      }
      tell("simulating other layouts");
      Tried tried = simulated(each.point);
      report_.layouts.push_back(tried.option);
      if (tried.chosen_by > runner_up_.chosen_by) runner_up_ = std::move(tried);
    }
    if (runner_up_.chosen_by > best_.chosen_by) std::swap(runner_up_, best_);
    std::ranges::stable_sort(report_.layouts, std::greater<>(), &PlanOption::progress_tokens_per_s);
  }

  void choose_snapshots() {
    std::vector<Tried> all;
    all.push_back(std::move(best_));
    for (size_t i = 1; i < usual_snapshots().size(); ++i) {
      const UsualPart& stack = usual_snapshots()[i];
      PlanPoint point = all.front().option.point;
      point.snapshots = stack;
      tell("simulating snapshots: " + stack.name);
      try {
        all.push_back(simulated(point));
      } catch (const Error& error) {  // one node has no peers; hosts may lack the room
        report_.impossible.push_back(fmt::format("{}: {}", stack.name, error.text()));
      }
    }
    double most = 0;
    for (const Tried& each : all) {
      report_.snapshots.push_back(each.option);
      most = std::max(most, each.chosen_by);
    }
    // Takes the first option that is as good as the best.
    best_ = std::move(*std::ranges::find_if(
        all, [&](const Tried& each) { return each.chosen_by >= (1 - kPlanAsGood) * most; }));
  }

  // If no smaller job occurs, the campaign has the same iterations.
  void choose_without_spare() {
    Tried waiting{.option = best_.option, .measured = {}};
    PlanPoint& point = waiting.option.point;
    point.when_no_spare = "wait";
    const Case the_case = resolve_case(text_of(point));
    save_best(waiting, campaign_inputs(the_case.job, best_.measured.table));
    report_.without_spare = {best_.option, waiting.option};
    if (waiting.chosen_by <= (1 + kPlanAsGood) * best_.chosen_by) return;
    best_.option = std::move(waiting.option);
    best_.chosen_by = waiting.chosen_by;
  }

  // Tries some more nodes than were requested, as spares, with the same iterations and intervals.
  void try_more_nodes() {
    PlanOption more = best_.option;
    PlanPoint& point = more.point;
    point.spares += std::max(1, request().nodes / kFurtherShare);
    try {
      const Case the_case = resolve_case(text_of(point));
      const CampaignReport report =
          run_campaign(campaign_inputs(the_case.job, best_.measured.table), request().threads);
      more.goodput = report.goodput;
      more.days = report.job_days.mean;
    } catch (const Error&) {  // the fabric has no further nodes
      return;
    }
    report_.more_nodes = {best_.option, more};
  }

  // Simulates the fastest of these layouts with the nodes and snapshots of the plan. Throws Error
  // as optimise() does if none is possible.
  Tried fastest_beside(const Allowed& allowed, double headroom, const Overrides& also = {}) {
    const PlanPoint& best = best_.option.point;
    PlanPoint point = layouts_on(best.nodes, allowed, headroom, also).front().point;
    point.spares = best.spares;
    point.snapshots = best.snapshots;
    point.when_no_spare = best.when_no_spare;
    return simulated(point);
  }

  // Tries a layout that leaves more of the memory free, with the nodes and snapshots of the plan.
  void try_more_room() {
    const PlanOption& best = best_.option;
    if (request().headroom || best.too_big <= 1 - kSureToFit) return;
    tell("simulating a layout that surely fits");
    const Calibration& calibration = resolve_case(text_of(best.point)).job.calibration;
    const double both_ways = 2 * kSureToFit - 1;  // error_factor() is two-sided
    const double roomy = 1 - 1 / error_factor(calibration.memory_error, both_ways);
    report_.roomy = std::ceil(100 * roomy) / 100;  // --headroom has this precision
    try {
      report_.room = {best, fastest_beside(allowed(), report_.roomy).option};
    } catch (const Error&) {  // no layout fits so well, or none with these snapshots
    }
  }

  // The plan keeps bf16, because whether a model trains well in fp8 is not simulated.
  void try_fp8() {
    const PlanBasis& basis = report_.basis;
    const bool open = std::ranges::count(basis.defaults, "precision", &TakenDefault::what) > 0;
    if (!open || basis.node.gpu.fp8_flops.value <= 0) return;
    tell("simulating fp8");
    try {
      report_.precisions = {
          best_.option, fastest_beside(allowed(), basis.headroom, {{"precision", "fp8"}}).option};
    } catch (const Error&) {  // the software has no fp8, or no layout fits
    }
  }

  // Returns the goodput if nodes failed as rarely, or as often, as on other clusters. Changes only
  // rates that the plan has assumed.
  std::optional<GoodputElsewhere> goodput_elsewhere(const Job& job,
                                                    const CampaignReport& campaign) const {
    std::vector<std::size_t> taken;  // indices of failure classes
    for (std::size_t i = 0; i < job.failures.size(); ++i) {
      if (is_taken(fmt::format("failures.{}.rate", i))) taken.push_back(i);
    }
    if (taken.empty()) return std::nullopt;
    const double factor = error_factor(failure_rate_error(), 0.9);
    const auto goodput = [&](double rates) {
      Job other = job;
      for (const std::size_t i : taken) {
        other.failures[i].rate_per_node_s *= rates;
        other.failures[i].rate_per_job_s *= rates;
      }
      return paired_goodput(campaign_inputs(other, best_.measured.table), campaign,
                            paired_trials(campaign), request().threads)
          .mean;
    };
    return GoodputElsewhere{factor, goodput(1 / factor), goodput(factor)};
  }

  static void take_result(PlanOption& option, const Record& record) {
    option.goodput = record.campaign->goodput;
    option.days = record.campaign->job_days.mean;
  }

  // Completes the best training with the figures that `windtunnel run` gives.
  Case simulate_best(StudyDepth depth) {
    tell("simulating the plan");
    best_.option.point.trials = runner_up_.option.point.trials = trials_;
    Case best = resolve_case(text_of(best_.option.point));
    take_framework(report_.basis, best);
    report_.record = simulate(best, {.threads = request().threads, .depth = depth});
    take_result(best_.option, report_.record);
    report_.best = best_.option;
    report_.scenario =
        complete_scenario_text(report_.basis, best_.option.point, comments_of(report_.basis));
    return best;
  }

  // Adds alternatives to the best training, and the assumptions on which its figures depend.
  void compare_with(const Case& best) {
    report_.decisive = decisive_numbers(
        best, campaign_inputs(best.job, best_.measured.table), *report_.record.campaign,
        [&](const ResolvedValue& value) { return is_taken(value.key); }, request().threads);
    report_.elsewhere = goodput_elsewhere(best.job, *report_.record.campaign);
    if (runner_up_.option.goodput) {
      report_.runner_up_record = recorded(runner_up_);
      report_.runner_up = runner_up_.option;
    }
    if (!report_.record.iteration.familiarity.unlike_layout.empty()) find_like_measured();
  }

  // Whether the key is a rate, time or number of retries that the plan sets and the user does not.
  bool is_taken(const std::string& key) const {
    if (!key.starts_with("failures.") && !key.starts_with("recovery.")) return false;
    if (key == "recovery.spares") return false;
    return std::ranges::none_of(request().set, [&](const auto& at) {
      return key == at.first || key.starts_with(at.first + ".") ||
             at.first.starts_with("failures.*");
    });
  }

  // Returns the record of a point that was already simulated, and sets the point's result.
  Record recorded(Tried& tried) const {
    const Case the_case = resolve_case(text_of(tried.option.point));
    Record record = record_of(the_case, std::move(tried.measured), {.threads = request().threads});
    take_result(tried.option, record);
    return record;
  }

  // Finds the best layout like those of measured runs, with the nodes and snapshots of the plan.
  void find_like_measured() {
    const LayoutReach reach = layout_reach(measured_runs(), report_.basis.model.moe_layers() > 0);
    Allowed limited = allowed();
    limited.experts_a_rank = reach.experts_a_rank;
    limited.micro_tokens = reach.micro_tokens;
    tell("simulating the best layout that is similar to measured ones");
    try {
      Tried tried = fastest_beside(limited, report_.basis.headroom);
      report_.like_measured_record = recorded(tried);
      report_.like_measured = tried.option;
    } catch (const Error& error) {
      if (error.code() != ExitCode::failed) throw;  // no such layout fits
    }
  }

  // Returns the rate of the fastest layout on these nodes, in closed form. Some numbers have a good
  // layout only with spares. Throws Error as optimise() does if no layout is possible.
  double fastest_tokens_per_s(int nodes) {
    tell(fmt::format("searching layouts on {} nodes", nodes));
    // The rate of `nodes` nodes if their number divided as well as that of the plan.
    const double as_here = report_.best.tokens_per_s / request().nodes * nodes;
    double most = 0;
    std::optional<Error> why;
    for (const int spares : spare_counts(nodes)) {
      if (most > kAsGood * as_here) break;
      try {
        most = std::max(most, layouts_on(nodes - spares).front().tokens_per_s);
      } catch (const Error& error) {
        if (error.code() != ExitCode::failed) throw;
        if (!why) why = error;
      }
    }
    if (most == 0 && why) throw Error(*why);
    return most;
  }

  PlanReport report_;
  std::map<int, std::vector<Estimated>> layouts_;         // [nodes]
  std::vector<const std::vector<Estimated>*> estimates_;  // the entries of layouts_ to choose from
  double campaign_s_ = 0;
  int trials_ = kPlanTrials;
  Tried best_, runner_up_;
};

}  // namespace

PlanReport make_plan(const PlanRequest& request) {
  return Planner(request).run();
}

std::optional<PlanReport> best_of_plan(const PlanRequest& request, const TooSlow& too_slow) {
  return Planner(request).best_unless(too_slow);
}

FirstScenario first_scenario(const PlanRequest& request) {
  return Planner(request).first();
}

double usd_of(const PlanBasis& basis, const PlanOption& option) {
  const int nodes = std::max(basis.request.nodes, option.point.nodes + option.point.spares);
  const double gpus = static_cast<double>(nodes) * basis.node.gpus;
  return option.days * kDay_s / kHour_s * gpus * basis.price_usd_per_gpu_h;
}

}  // namespace windtunnel
