#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "models/base/error.hpp"
#include "models/base/origin.hpp"
#include "models/base/version.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/parallel/tensor_rules.hpp"
#include "models/reliability/saving_interval.hpp"
#include "policies/protection/snapshot_tiers.hpp"
#include "report/answer/charts.hpp"
#include "report/answer/command_answers.hpp"
#include "report/answer/plan_choices.hpp"
#include "report/figures/figures.hpp"
#include "report/figures/model_range.hpp"
#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "scenarios/language/library/facts/measured_pairs.hpp"
#include "sim/study/notes/note_makers.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {
namespace {

std::string without_spare_text(const PlanOption& option) {
  if (option.point.when_no_spare == "wait") return "without a spare, wait for a repair";
  return "without a spare, go on with fewer replicas (shrink)";
}

// Returns "host-memory every 10 iterations, storage every 4 h (5 min is as good; ...)".
std::string snapshots_text(const Job& job, double as_good_from_s) {
  std::string text;
  for (const SnapshotTier& tier : job.snapshots) {
    text += fmt::format("{}{} every {}", text.empty() ? "" : ", ", tier_name(tier),
                        interval_text(tier));
    const double seconds = interval_s(tier);
    if (seconds <= 0) continue;
    const bool longest = seconds >= kPlanLongestInterval_s;
    const std::string_view ends = longest ? "; longer intervals are not tried" : "";
    if (as_good_from_s > 0 && as_good_from_s < seconds) {
      text += fmt::format(" ({} is as good{})", format_quantity(as_good_from_s, Dimension::seconds),
                          ends);
    } else if (longest) {
      text += " (longer intervals are not tried)";
    }
  }
  return text;
}

std::string nodes_text(const PlanOption& option) {
  if (option.point.spares == 0) {
    if (option.point.nodes == 1) return "1 trains, none is kept as a spare";
    return fmt::format("all {} train, none is kept as a spare", option.point.nodes);
  }
  const bool one = option.point.spares == 1;
  return fmt::format("{} train, {} kept as {}", option.point.nodes,
                     one ? "1 is" : fmt::format("{} are", option.point.spares),
                     one ? "a spare" : "spares");
}

// The first word of the source, if it is an origin; the scenario and --json have the whole source.
std::string evidence_of(const TakenDefault& taken) {
  const std::string word = taken.source.substr(0, taken.source.find(':'));
  const bool is_origin = has_choice<Origin>(word);
  return is_origin ? word : taken.source;
}

// These are the days of the training with their interval: "24.4 d  (15.4 d .. 41.0 d)".
std::string days_text(const Record& record) {
  const std::vector<SummaryRow> figures = summarise(record).figures;
  const auto days =
      std::ranges::find(figures, figure("campaign.job.days").title, &SummaryRow::label);
  return days == figures.end() ? "does not end" : with_detail(*days);
}

// This is the goodput with half and twice the value of an assumption.
std::vector<SummaryRow> decisive_rows(const PlanReport& plan) {
  std::vector<SummaryRow> rows;
  for (const Note& note : plan.decisive) {
    rows.push_back({note.key, fmt::format("{}: {}", note.text, note.figures)});
  }
  return rows;
}

constexpr std::string_view kGradients = "gradients";

// Returns "kept and reduced in bf16 (assumed); --set software.gradients=...".
std::string default_text(const TakenDefault& taken) {
  return fmt::format("{} ({}); {}", taken.value, evidence_of(taken), taken.change);
}

// Decisive assumptions have a row each, the others share one row.
SummarySection decisive_section(const PlanReport& plan) {
  SummarySection section{"Assumed, because nothing was stated", {}, {}, ShownOn::console};
  std::vector<std::string> others;
  for (const TakenDefault& each : plan.basis.defaults) {
    if (!each.decisive) {
      others.push_back(each.what);
      continue;
    }
    if (each.what == kGradients) continue;  // what_to_start() shows these
    // "If you choose otherwise" has a row about the precision.
    if (each.what == "precision" && !plan.precisions.empty()) continue;
    section.rows.push_back({each.what, default_text(each)});
  }
  for (SummaryRow& row : decisive_rows(plan)) section.rows.push_back(std::move(row));
  if (!others.empty()) {
    section.add("and", "{} (--explain)", fmt::join(others, ", "));
  }
  return section;
}

Json option_json(const PlanReport& plan, const PlanOption& option) {
  Json json = {{"set", set_json(option.point.found)}};
  PUT_MEMBERS(json, option.point, nodes, spares, batch);
  json["snapshots"] = option.point.snapshots.name;
  json["when_no_spare"] = option.point.when_no_spare;
  PUT_MEMBERS(json, option, step_s, tokens_per_s);
  const bool simulated = option.goodput.has_value();
  json["goodput"] = simulated ? estimate_json(*option.goodput) : Json(nullptr);
  json["memory_bytes"] = option.memory_bytes;
  json["chance_too_big"] = simulated ? Json(option.too_big) : Json(nullptr);
  json["days"] = simulated ? Json(option.days) : Json(nullptr);
  json["cost_usd"] = simulated ? Json(usd_of(plan.basis, option)) : Json(nullptr);
  return json;
}

std::optional<SummaryRow> more_nodes_row(const PlanReport& plan) {
  if (plan.more_nodes.size() < 2) return std::nullopt;
  const auto& [taken, more] = std::tie(plan.more_nodes[0], plan.more_nodes[1]);
  const double days = taken.days - more.days;
  const double usd = usd_of(plan.basis, taken) - usd_of(plan.basis, more);
  if (!(days > 0) || !(usd > 0) || is_as_good(taken, more)) return std::nullopt;
  const int spares = more.point.spares - taken.point.spares;
  return SummaryRow{"more nodes",
                    fmt::format("{} more {} would shorten the training by {} and save {}", spares,
                                spares == 1 ? "spare" : "spares", value_text(Unit::days, days),
                                value_text(Unit::usd, usd))};
}

SummaryRow sureness_row(const Record& record) {
  const Parameter& error = record.iteration.error;
  const std::vector<std::string>& unlike = record.iteration.familiarity.unlike_layout;
  const std::string nothing =
      unlike.empty() ? ""
                     : fmt::format("nothing similar was measured: {}; ", fmt::join(unlike, ", "));
  return {"how sure",
          fmt::format("{}predicted steps of {} runs were off by {} (one sigma, {}); {} of the time "
                      "rests on assumed numbers",
                      nothing, unlike.empty() ? "similar" : "the nearest",
                      value_text(Unit::share, error.value), to_string(error.origin),
                      value_text(Unit::share, record.origin[static_cast<int>(Origin::assumed)]))};
}

// The figures, with those of the whole training first. The brief answer on the console omits
// figures that follow from others.
std::vector<SummaryRow> plan_figures(const PlanReport& plan, PlanDetail detail) {
  std::vector<SummaryRow> figures = summarise(plan.record).figures;
  const auto is = [](const SummaryRow& row, std::initializer_list<std::string_view> keys) {
    return std::ranges::any_of(
        keys, [&](std::string_view key) { return row.label == figure(key).title; });
  };
  std::stable_partition(figures.begin(), figures.end(), [&](const SummaryRow& row) {
    return is(row, {"campaign.job.days", "campaign.job.cost_usd"});
  });
  for (SummaryRow& row : figures) {
    if (is(row, {"campaign.goodput"}) && plan.elsewhere) {
      row.detail +=
          fmt::format("; {} if nodes fail {:.1f} times more or less often",
                      range_text(Unit::share, plan.elsewhere->often, plan.elsewhere->seldom),
                      plan.elsewhere->factor);
    }
    const bool follows = is(row, {"iteration.tflops_per_gpu", "iteration.tokens_per_s"});
    if (follows && detail == PlanDetail::brief) row.where = ShownOn::page;
  }
  return figures;
}

SummaryRow other_prices(const PlanReport& plan) {
  const Parameter& price = usual_price_usd_per_gpu_h(plan.basis.node.gpu.name);
  const double gpu_h = usd_of(plan.basis, plan.best) / plan.basis.price_usd_per_gpu_h;
  return {"other prices", fmt::format("{} at {:g} USD per GPU-hour, {} at {:g} ({})",
                                      value_text(Unit::usd, gpu_h * price.low), price.low,
                                      value_text(Unit::usd, gpu_h * price.high), price.high,
                                      to_string(price.origin))};
}

SummaryRow runner_up_row(const PlanReport& plan) {
  if (!plan.runner_up_record) return {"runner-up", "no other layout is nearly as good"};
  const double ratio =
      plan.runner_up_record->iteration.tokens_per_s / plan.record.iteration.tokens_per_s;
  const SpeedUp judged = speed_up_of(ratio, pairs_of(measured_pairs(), {"layout"}));
  return {"runner-up",
          fmt::format("{}: {}, recompute {}; faster than the plan with a chance of {}",
                      days_text(*plan.runner_up_record), layout_name(*plan.runner_up),
                      plan.runner_up->point.found_at("recompute"), format_percent(judged.faster))};
}

std::optional<SummaryRow> like_measured_row(const PlanReport& plan) {
  if (plan.record.iteration.familiarity.unlike_layout.empty()) return std::nullopt;
  constexpr const char* kLabel = "like measured";
  if (!plan.like_measured_record)
    return SummaryRow{kLabel, "no layout that is similar to a measured run fits"};
  return SummaryRow{
      kLabel, fmt::format("{}: {}, micro-batches of {}, recompute {}",
                          days_text(*plan.like_measured_record), layout_name(*plan.like_measured),
                          plan.like_measured->point.found_at("batch.micro"),
                          plan.like_measured->point.found_at("recompute"))};
}

// The cost at other prices and durations, and the runner-up.
SummarySection beside_figures(const PlanReport& plan) {
  SummarySection section{fmt::format("The answer ({})", kIntervalTitle), {other_prices(plan)}};
  section.with_figures = true;
  for (SummaryRow& row : deadline_rows(plan)) section.rows.push_back(std::move(row));
  section.rows.push_back(runner_up_row(plan));
  if (std::optional<SummaryRow> row = like_measured_row(plan)) section.rows.push_back(*row);
  if (std::optional<SummaryRow> row = more_nodes_row(plan)) section.rows.push_back(*row);
  section.rows.push_back(sureness_row(plan.record));
  return section;
}

const TakenDefault* taken_default(const PlanReport& plan, std::string_view what) {
  const auto found = std::ranges::find(plan.basis.defaults, what, &TakenDefault::what);
  return found == plan.basis.defaults.end() ? nullptr : &*found;
}

// Returns "; 8 NICs per node, 400 Gb/s each way; fabric: every NIC at its full rate to every other
// one (assumed)".
std::string network_text(const PlanReport& plan) {
  if (plan.record.job.cluster.nodes == 1) return "";
  const NodeSpec& node = plan.record.job.cluster.node;
  constexpr double kGbit = 1e9 / 8;  // bytes/s of 1 Gb/s
  std::string fabric = "as stated";
  if (const TakenDefault* taken = taken_default(plan, "fabric")) {
    fabric = fmt::format("{} ({})", taken->value, evidence_of(*taken));
  }
  return fmt::format("; {} per node, {:g} Gb/s each way; fabric: {}", counted(node.nics, "NIC"),
                     node.nic_Bps.value / kGbit, fabric);
}

SummarySection what_to_start(const PlanReport& plan) {
  const PlanOption& best = plan.best;
  const double usable = usable_bytes(plan.basis.node.gpu);
  const std::string sequence_parallel =
      best.point.found_at("layout.sequence_parallel") == "true" ? ", sequence parallelism" : "";
  const std::string chance =
      may_not_fit_text(plan.record.job.calibration, best.memory_bytes, usable);
  std::string roomier;
  if (!plan.room.empty()) {
    const PlanOption& other = plan.room.back();
    roomier = fmt::format("; a {} plan takes {} more", format_memory(other.memory_bytes),
                          value_text(Unit::days, other.days - best.days));
  }
  SummarySection section{"What to start", {}, {}};
  section.rows = {
      {"nodes", nodes_text(best) + network_text(plan)},
      {"layout", layout_axes(best) + sequence_parallel},
      {"schedule",
       fmt::format("{}, recompute {}", schedule_name(best), best.point.found_at("recompute"))},
      {"batch", fmt::format("{} of {} tokens ({} tokens a step), micro-batches of {}",
                            counted(best.point.batch, "sequence"), plan.basis.sequence,
                            format_count(double(best.point.batch) * plan.basis.sequence),
                            best.point.found_at("batch.micro"))},
      {"memory", fmt::format("{} of {}", format_memory(best.memory_bytes), format_memory(usable)) +
                     (chance.empty() ? " on the fullest GPU" : "; may not fit, " + chance) +
                     roomier},
      {"snapshots", snapshots_text(plan.record.job, best.as_good_from_s)},
      {"failures", without_spare_text(best)}};
  // The type of gradients also decides which layouts fit and which one is the fastest.
  if (const TakenDefault* gradients = taken_default(plan, kGradients)) {
    section.rows.push_back({gradients->what, default_text(*gradients)});
  }
  const std::string few =
      few_steps_text(plan.basis, static_cast<double>(best.point.batch) * plan.basis.sequence);
  if (!few.empty()) section.rows.push_back({"few steps", few});
  return section;
}

std::vector<SummarySection> what_else(const PlanReport& plan) {
  std::vector<SummarySection> sections;
  SummarySection reading{"How to read these tables", {}, {}};
  for (const PlanChoice& choice : choices_of(plan)) {
    sections.push_back({choice.title, {}, choice_table(plan, choice)});
    reading.rows.push_back({choice.name, choice.note});
    if (choice.name != kSnapshotsChoice) continue;
    for (const std::string& why : plan.impossible) {
      sections.back().rows.push_back({"cannot be", why});
    }
  }
  if (sections.empty()) return sections;
  reading.add("goodput",
              "Mean and {} of {} trials, with the same failures in each row; "
              "differences smaller than the interval may be chance.",
              kIntervalTitle, plan.best.point.trials);
  reading.rows.push_back({"days, cost",
                          "At the mean goodput; the error of the cost models, which all rows "
                          "share, is not included."});
  sections.push_back(std::move(reading));
  return sections;
}

SummarySection taken_section(const PlanReport& plan) {
  SummarySection section{
      "Assumed, because nothing was stated (sources: the scenario, --json)", {}, {}};
  section.table.columns = {{"what"}, {"taken"}, {"origin"}, {"to change it"}};
  for (const TakenDefault& each : plan.basis.defaults) {
    section.table.rows.push_back({each.what, each.value, evidence_of(each), each.change});
  }
  for (SummaryRow& row : decisive_rows(plan)) section.rows.push_back(std::move(row));
  return section;
}

const Figure& days_figure() {
  return figure("campaign.job.days");
}

// The mean over trials, with the range from all known errors.
Estimate days_with_error(const Record& record) {
  const double mean = number_of(days_figure().of(record));
  const FigureRange range = wider_range(days_figure(), record).value_or(FigureRange{mean, mean});
  return {.mean = mean, .low = range.low, .high = range.high};
}

Json answers_chart(const PlanReport& plan) {
  RangeChart chart{
      .title = "Time to train: the plan, and the best with another layout",
      .note = fmt::format("{} of trials and cost models together. Both share the errors of the "
                          "cost models, so their order is surer than either time.",
                          kIntervalTitle),
      .axis = {days_figure().title, Unit::days},
      .items = {{.name = layout_name(plan.best), .value = days_with_error(plan.record)}}};
  chart.items.front().best = true;
  if (plan.runner_up) {
    chart.items.push_back(
        {.name = layout_name(*plan.runner_up), .value = days_with_error(*plan.runner_up_record)});
  }
  return chart_json(chart);
}

std::string option_tip(const PlanReport& plan, const PlanOption& option) {
  return fmt::format("{} {}\n{} {}\n{}", figure("iteration.time_s").title,
                     value_text(Unit::seconds, option.step_s), figure("campaign.goodput").title,
                     estimate_text(Unit::share, *option.goodput),
                     value_text(Unit::usd, usd_of(plan.basis, option)));
}

// Shows the options that were simulated. The plan's option is marked; it may be the simpler of two
// equally good ones.
Json choice_chart(const PlanReport& plan, const PlanChoice& choice) {
  RangeChart chart{.title = choice.title,
                   .note = choice.note,
                   .axis = {days_figure().title, Unit::days},
                   .items = {}};
  for (size_t i = 0; i < choice.options.size(); ++i) {
    const auto& [name, option] = choice.options[i];
    if (!option->goodput) continue;
    if (is_hopeless(*choice.options[choice.taken].second, *option)) {
      chart.note +=
          fmt::format(" Not drawn, because it takes more than ten times as long: {}.", name);
      continue;
    }
    const double days = option->days;
    const Estimate& goodput = *option->goodput;
    chart.items.push_back({.name = name,
                           .value = {.mean = days,
                                     .low = days * goodput.mean / goodput.high,
                                     .high = days * goodput.mean / goodput.low},
                           .tip = option_tip(plan, *option),
                           .best = i == choice.taken});
  }
  return chart_json(chart);
}

std::vector<SummarySection> plan_sections(const PlanReport& plan, const std::string& command,
                                          PlanDetail detail) {
  const bool brief = detail == PlanDetail::brief;
  std::vector<SummarySection> sections = {beside_figures(plan),
                                          chart_section([&plan] { return answers_chart(plan); }),
                                          what_to_start(plan)};
  if (brief) {
    SummarySection instead{"If you choose otherwise", {}, instead_table(plan), ShownOn::console};
    if (!instead.table.rows.empty()) sections.push_back(std::move(instead));
    sections.push_back(decisive_section(plan));
  }
  for (const PlanChoice& choice : choices_of(plan)) {
    sections.push_back(chart_section([&plan, choice] { return choice_chart(plan, choice); }, true));
  }
  std::ranges::move(record_charts(plan.record, storage_interval_note()),
                    std::back_inserter(sections));
  std::vector<SummarySection> complete = what_else(plan);
  complete.push_back(taken_section(plan));
  for (SummarySection& section : complete) {
    if (brief) section.where = ShownOn::page;
    sections.push_back(std::move(section));
  }
  const std::string tried = counted(plan.estimated, "configuration") + " in closed form";
  SummarySection next{"Next", {{"simulate it", command}}};
  if (brief) {
    next.rows.push_back({"see all",
                         fmt::format("--explain, or --page plan.html; tried: {}", tried),
                         {},
                         ShownOn::console});
  }
  next.rows.push_back({"tried", tried, {}, brief ? ShownOn::page : ShownOn::everywhere});
  next.rows.push_back({"cost models", cost_models_text(plan.record), {}, ShownOn::page});
  sections.push_back(std::move(next));
  return sections;
}

// An option with the whole result of its simulation; null: there is none.
Json recorded_json(const PlanReport& plan, const std::optional<PlanOption>& option,
                   const std::optional<Record>& record) {
  if (!option) return nullptr;
  Json json = option_json(plan, *option);
  json["result"] = run_document(*record, false);
  return json;
}

Json plan_document(const PlanReport& plan) {
  const PlanBasis& basis = plan.basis;
  Json document = {{"commit", program_commit()},
                   {"model",
                    {{"name", basis.model.name},
                     {"parameters", basis.model.parameters()},
                     {"layers", basis.model.layers},
                     {"hidden", basis.model.hidden}}},
                   {"framework", basis.framework.name}};
  place_deadline(document, plan);
  document["best"] = option_json(plan, plan.best);
  document["best"]["scenario"] = plan.scenario;
  document["best"]["result"] = run_document(plan.record, false);
  document["runner_up"] = recorded_json(plan, plan.runner_up, plan.runner_up_record);
  document["like_measured"] = recorded_json(plan, plan.like_measured, plan.like_measured_record);
  const std::pair<const char*, const std::vector<PlanOption>&> choices[] = {
      {"layouts", plan.layouts},       {"spares", plan.spares},
      {"snapshots", plan.snapshots},   {"without_spare", plan.without_spare},
      {"more_nodes", plan.more_nodes}, {"room", plan.room},
      {"precisions", plan.precisions}};
  for (const auto& [name, options] : choices) {
    document[name] =
        list_json(options, [&](const PlanOption& each) { return option_json(plan, each); });
  }
  document["elsewhere"] = nullptr;
  if (plan.elsewhere) {
    document["elsewhere"] = {{"factor", plan.elsewhere->factor},
                             {"goodput_seldom", plan.elsewhere->seldom},
                             {"goodput_often", plan.elsewhere->often}};
  }
  document["defaults"] = list_json(basis.defaults, [](const TakenDefault& each) {
    return MEMBERS_JSON(each, what, value, source, change);
  });
  document["decisive"] = list_json(
      plan.decisive, [](const Note& note) { return MEMBERS_JSON(note, key, text, figures); });
  document["tensor_parallelism"] =
      list_json(tensor_rules(basis.model), [](const TensorRule& rule) -> Json {
        Json json = MEMBERS_JSON(rule, tensor, count);
        json["shape"] = {rule.rows, rule.columns};
        PUT_MEMBERS(json, rule, split, why);
        return json;
      });
  return document;
}

}  // namespace

Answer plan_answer(const PlanReport& plan, const std::string& command, PlanDetail detail) {
  const PlanBasis& basis = plan.basis;
  const std::string& called =
      basis.request.model_called.empty() ? basis.model.name : basis.request.model_called;
  const std::string active =
      basis.model.moe_layers() == 0
          ? ""
          : fmt::format(" ({} for a token)", format_count(basis.model.active_parameters()));
  Answer answer{.title = fmt::format("{} on {} x {}: {} tokens", called, basis.request.nodes,
                                     basis.node.name, format_count(basis.request.tokens)),
                .subtitle = fmt::format(
                    "{} parameters{}, {} of {}; {}; {}", format_count(basis.model.parameters()),
                    active, counted(basis.model.layers, "layer"), basis.model.hidden,
                    counted(basis.request.nodes * basis.node.gpus, basis.node.gpu.name + " GPU"),
                    basis.framework.help),
                .figures = plan_figures(plan, detail),
                .sections = plan_sections(plan, command, detail),
                .kind = "plan",
                .document = [&plan] { return plan_document(plan); }};
  if (!basis.model_note.empty()) answer.subtitle += "; the model " + basis.model_note;
  for (const Note& note : unlikely_machine_notes(plan.record.job.cluster)) {
    answer.warnings.push_back(fmt::format("{}: {} ({})", note.key, note.text, note.figures));
  }
  for (const std::string& left_out : basis.model.left_out) {
    answer.warnings.push_back("in the file of the model, but not part of the plan: " + left_out);
  }
  return answer;
}

}  // namespace windtunnel
