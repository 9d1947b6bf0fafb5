// The JSON documents of the command line. Their keys and their order are a contract with scripts.
//
// The same input gives the same bytes: figures of our own run's clock appear only on request.
// Seconds, bytes and FLOP/s throughout. In `iteration.bubble`, `makespan` and `longest_stage` are
// seconds and `idle` is a share (models/results/iteration_report.hpp). A layer network's sample
// counts as one token; its `samples_per_s` says so. Where a compressor starts behind a warm-up,
// `time_s` is a step after it, `warmup_step_s` one of it, and `run_step_s` the mean over a run, by
// which days and costs count. `job` is there where the scenario names the steps to a target
// quality: days and cost if nothing fails. An estimate is {mean, low, high, p05, p95}: mean over
// replicas with its 95 % confidence interval, and the quantiles of single replicas. What is not
// known or not finite is null: `campaign.job.days` without tokens, `campaign.job.cost_usd` without
// tokens or price, both when some replica makes no progress, and any other estimate or number that
// is not finite; `campaign.interval` where nothing fails or no snapshot has an interval and costs
// anything. In `tiers` and `interval` names with _s are seconds, with _bytes bytes; all others are
// shares.
#pragma once

#include "models/results/record.hpp"
#include "report/figures/comparison.hpp"
#include "report/figures/figures.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

// `campaign` is null when the scenario has none; `timing` is there only with `with_timing`.
Json run_document(const Record& record, bool with_timing);

// Its part `campaign`, which a sweep keeps alone.
Json campaign_json(const Record& record);
Json estimate_json(const Estimate& estimate);  // null where the mean is not finite
Json set_json(const Overrides& set);
// Pairs, not an object: the order counts, and a key may be set twice.
Json overrides_json(const Overrides& overrides);
Overrides overrides_of(const Json& pairs);

// {"version", "commit", "file", "scenario", "set": [[key, value]]}, and back. What `windtunnel run`
// makes a record again from.
Json source_json(const RecordSource& source);
RecordSource source_of(const Json& json);

// {"key", "title", "unit", "better", "help", "origin"}
Json figure_json(const Figure& figure);
// What the pages' scripts write figures by: {"units": {name: {"scales": [{"from", "factor", "unit",
// "decimals"}], "times", "zero"}}, "range", "estimate", "groups": {key: title}, "figures": [...]}.
// Negative decimals as in models/base/text_form.hpp.
Json presentation_json();

// {"points": [{"set", "result"}], "infeasible": [{"set", "reason"}]}
Json compare_document(const Comparison& comparison, bool with_timing);

}  // namespace windtunnel
