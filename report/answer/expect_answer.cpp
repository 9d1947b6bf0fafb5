#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/base/quantile.hpp"
#include "models/base/units.hpp"
#include "report/answer/charts.hpp"
#include "report/answer/command_answers.hpp"
#include "report/text/json_text.hpp"
#include "sim/study/expect/log_causes.hpp"
#include "traces/nccl/nccl_tests.hpp"

namespace windtunnel {
namespace {

// With the digits that nccl-tests prints.
std::string GBps(double Bps) {
  return fmt::format(fmt::runtime(Bps < 1e10 ? "{:.2f}" : "{:.1f}"), Bps * 1e-9);
}

// "1 MiB"; "1000000 B" if the size is not a whole number of MiB or another unit.
std::string size_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && bytes >= 1024 && std::fmod(bytes, 1024) == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.0f} {}", bytes, kUnits[unit]);
}

struct Bandwidths {
  double expected = 0, low = 0, high = 0;  // bandwidth on the bus
};

Bandwidths bandwidths(const ExpectedCurve& curve, const ExpectedSize& size) {
  return {bus_bandwidth(curve, size.bytes, size.seconds),
          bus_bandwidth(curve, size.bytes, size.high_s),
          bus_bandwidth(curve, size.bytes, size.low_s)};
}

SummarySection sizes_section(const ExpectedCurve& curve) {
  SummarySection section{.title = "By size", .rows = {}};
  section.table = titled_table(
      "size > | time > | 90 % | algbw > | busbw > | 90 %, GB/s | algorithm | protocol");
  for (const ExpectedSize& size : curve.sizes) {
    const Bandwidths bus = bandwidths(curve, size);
    section.table.rows.push_back(
        {size_text(size.bytes), format_seconds(size.seconds),
         fmt::format("{} .. {}", format_seconds(size.low_s), format_seconds(size.high_s)),
         GBps(size.bytes / size.seconds), GBps(bus.expected),
         fmt::format("{} .. {}", GBps(bus.low), GBps(bus.high)), to_string(size.algorithm),
         to_string(size.protocol)});
  }
  return section;
}

// Returns "inside", "slower" or "faster".
const char* place_of(const MeasuredSize& measured, const ExpectedSize& expected) {
  if (measured.seconds > expected.high_s) return "slower";
  return measured.seconds < expected.low_s ? "faster" : "inside";
}

SummarySection log_section(const LogReading& reading) {
  SummarySection section{.title = "The log by size", .rows = {}};
  section.table = titled_table(
      "size > | measured > | busbw > | expected, GB/s | of expected > | "
      "90 % interval | expected by");
  for (std::size_t i = 0; i < reading.measured.size(); ++i) {
    const MeasuredSize& measured = reading.measured[i];
    const ExpectedSize& expected = reading.expected.sizes[i];
    const Bandwidths bus = bandwidths(reading.expected, expected);
    section.table.rows.push_back(
        {size_text(measured.bytes), format_seconds(measured.seconds),
         GBps(bus_bandwidth(reading.expected, measured.bytes, measured.seconds)),
         fmt::format("{}  ({} .. {})", GBps(bus.expected), GBps(bus.low), GBps(bus.high)),
         fmt::format("{:.0f} %", 100 * expected.seconds / measured.seconds),
         place_of(measured, expected),
         fmt::format("{} {}", to_string(expected.algorithm), to_string(expected.protocol))});
  }
  return section;
}

std::string noise_text(const Parameter& noise) {
  return fmt::format("a factor of {:.2f} either way, {}: {}", std::exp(kNormal95 * noise.value),
                     to_string(noise.origin), noise.source);
}

SummarySection basis_section(const ExpectedCurve& curve) {
  SummarySection section{.title = "What the 90 % intervals rest on", .rows = {}};
  if (!curve.why_no_law.empty()) {
    section.add("constants",
                "the constants of the calibration, each at the ends of its interval: {}; no "
                "measured collectives of such a machine were compared",
                curve.why_no_law);
    return section;
  }
  section.rows.push_back({"from 1 MB", noise_text(curve.noise)});
  section.rows.push_back({"below", noise_text(curve.small_noise)});
  if (curve.process_gpus > 1) {
    section.add("launches", "one process launches on {} GPUs, one after the other{}",
                curve.process_gpus,
                curve.process_assumed ? ": assumed, as the log does not say" : "");
  }
  if (curve.slow_share.value > 0) {
    section.add("slow nodes",
                "a collective waits for the slowest of {} nodes; each node is slow during a "
                "job with a chance of {:.2g} %, by a factor of {:.2f}; {}: {}",
                curve.nodes, 100 * curve.slow_share.value, std::exp(curve.slow_log.value),
                to_string(curve.slow_share.origin), curve.slow_share.source);
  }
  return section;
}

Json bus_chart(const ExpectedCurve& curve, const std::vector<MeasuredSize>& measured) {
  ScatterChart chart{
      .title = "Bus bandwidth by size",
      .note = "Both axes are logarithmic. Nine of ten such machines lie between the outer curves.",
      .x = {"size", Unit::bytes},
      .y = {"busbw in GB/s", Unit::count},
      .groups = {{"expected", {}}, {"its 90 % interval, from", {}}, {"to", {}}},
      .logarithmic = true};
  for (const ExpectedSize& size : curve.sizes) {
    const Bandwidths bus = bandwidths(curve, size);
    const double ends[] = {bus.expected, bus.low, bus.high};
    for (std::size_t line = 0; line < 3; ++line) {
      chart.groups[line].line.emplace_back(size.bytes, ends[line] * 1e-9);
    }
    chart.groups[0].points.push_back(
        {size.bytes, bus.expected * 1e-9,
         fmt::format("{}: {} GB/s ({} .. {})", size_text(size.bytes), GBps(bus.expected),
                     GBps(bus.low), GBps(bus.high))});
  }
  if (!measured.empty()) chart.groups.push_back({"measured", {}});
  for (const MeasuredSize& each : measured) {
    const double busbw = bus_bandwidth(curve, each.bytes, each.seconds);
    chart.groups.back().points.push_back(
        {each.bytes, busbw * 1e-9,
         fmt::format("{}: {} GB/s measured", size_text(each.bytes), GBps(busbw))});
    chart.groups.back().line.emplace_back(each.bytes, busbw * 1e-9);
  }
  return chart_json(chart);
}

Json sizes_json(const ExpectedCurve& curve, const std::vector<MeasuredSize>& measured) {
  std::size_t at = 0;
  return list_json(curve.sizes, [&](const ExpectedSize& size) {
    const Bandwidths bus = bandwidths(curve, size);
    Json row = {{"bytes", size.bytes},
                {"time_s", {{"mean", size.seconds}, {"low", size.low_s}, {"high", size.high_s}}},
                {"algbw_Bps", size.bytes / size.seconds},
                {"busbw_Bps", {{"mean", bus.expected}, {"low", bus.low}, {"high", bus.high}}},
                {"algorithm", to_string(size.algorithm)},
                {"protocol", to_string(size.protocol)},
                {"origin", to_string(size.origin)}};
    if (at < measured.size()) {
      const MeasuredSize& own = measured[at++];
      row["measured_s"] = own.seconds;
      row["measured_busbw_Bps"] = bus_bandwidth(curve, size.bytes, own.seconds);
      row["place"] = place_of(own, size);
    }
    return row;
  });
}

Json expect_document(const ExpectedCurve& curve, const std::string& machine,
                     const LogReading* reading) {
  Json document = {{"collective", to_string(curve.kind)},
                   {"machine", machine},
                   {"ranks", curve.ranks},
                   {"nodes", curve.nodes},
                   {"covered", 0.9}};
  if (curve.why_no_law.empty()) {
    const auto noise = [](const Parameter& parameter) -> Json {
      return {{"log_sd", parameter.value},
              {"origin", to_string(parameter.origin)},
              {"source", parameter.source}};
    };
    document["noise"] = {{"large", noise(curve.noise)}, {"small", noise(curve.small_noise)}};
  } else {
    document["why_no_law"] = curve.why_no_law;
  }
  document["sizes"] =
      sizes_json(curve, reading == nullptr ? std::vector<MeasuredSize>{} : reading->measured);
  if (reading == nullptr) return document;
  const TriedCause* cause = reading->explained_by();
  document["log"] = MEMBERS_JSON(*reading, inside, rms_log);
  document["log"]["cause"] = cause == nullptr ? Json() : Json(cause->cause->name);
  document["log"]["tried"] = list_json(reading->causes, [](const TriedCause& each) {
    Json json = {{"cause", each.cause->name}};
    PUT_MEMBERS(json, each, strength, log_evidence, rms_log, mended);
    return json;
  });
  return document;
}

// The largest size shows the bandwidth of links, the smallest the latency of a step.
std::vector<SummaryRow> curve_figures(const ExpectedCurve& curve) {
  const ExpectedSize& small = curve.sizes.front();
  const ExpectedSize& large = curve.sizes.back();
  const Bandwidths bus = bandwidths(curve, large);
  return {{fmt::format("time of {}", size_text(small.bytes)), format_seconds(small.seconds),
           fmt::format("{} .. {}", format_seconds(small.low_s), format_seconds(small.high_s))},
          {fmt::format("busbw of {}", size_text(large.bytes)), GBps(bus.expected) + " GB/s",
           fmt::format("{} .. {}", GBps(bus.low), GBps(bus.high))}};
}

// The likelihood of the log with a cause, relative to a healthy machine.
std::string evidence_text(double log_evidence) {
  const double evidence = std::exp(log_evidence);
  if (!std::isfinite(evidence)) return fmt::format("1e+{:.0f} to 1", log_evidence / std::log(10.0));
  return fmt::format(
      fmt::runtime(evidence >= 1e4 || evidence < 0.01 ? "{:.0e} to 1" : "{:.2g} to 1"), evidence);
}

SummarySection causes_section(const LogReading& reading) {
  SummarySection section{.title = "Causes that were tried, the most likely first", .rows = {}};
  section.table.columns = {{"cause"},
                           {"how much"},
                           {"vs. healthy", Align::right},
                           {"off by", Align::right},
                           {"if fixed, large sizes are", Align::right, "if fixed"}};
  section.table.rows.push_back(
      {"none: healthy", "", "", fmt::format("{:.0f} %", 100 * std::expm1(reading.rms_log)), ""});
  for (const TriedCause& each : reading.causes) {
    section.table.rows.push_back({each.cause->name, each.strength_text,
                                  evidence_text(each.log_evidence),
                                  fmt::format("{:.0f} %", 100 * std::expm1(each.rms_log)),
                                  fmt::format("{:.2f} x as fast", each.mended)});
  }
  return section;
}

// One sentence: the machine is healthy, or a cause explains the log, or no known cause does.
SummarySection verdict_section(const LogReading& reading) {
  SummarySection section{.title = "What the log says", .rows = {}};
  const auto count = static_cast<int>(reading.measured.size());
  section.add("inside", "{} of {} sizes are in the 90 % interval", reading.inside, count);
  const TriedCause* cause = reading.explained_by();
  if (cause != nullptr) {
    section.add("cause", "{}: {}", cause->cause->says, cause->strength_text);
    section.rows.push_back({"look at", cause->cause->look_at});
    for (const TriedCause* other : reading.as_likely()) {
      section.add("or", "{}: {}; look at {}", other->cause->says, other->strength_text,
                  other->cause->look_at);
    }
    return section;
  }
  const bool slower = std::ranges::any_of(reading.measured, [&](const MeasuredSize& each) {
    const auto at = static_cast<std::size_t>(&each - reading.measured.data());
    return each.seconds > reading.expected.sizes[at].high_s;
  });
  section.rows.push_back({"cause", reading.healthy() ? "none: this is normal for such machines"
                                   : slower ? "it is slower than such machines are, and no cause "
                                              "that Windtunnel knows fits better than chance"
                                            : "none: it is faster than expected"});
  if (!reading.causes.empty() && reading.causes.front().log_evidence >= std::log(kSomeEvidence)) {
    const TriedCause& best = reading.causes.front();
    section.add("perhaps", "{}: {}; it fits better than a healthy machine, but not beyond doubt",
                best.cause->says, best.strength_text);
  }
  return section;
}

Answer answer_of(const ExpectedCurve& curve, const std::string& machine) {
  Answer answer;
  answer.kind = "expect";
  answer.title = fmt::format("{} on {}", to_string(curve.kind), machine);
  answer.subtitle = fmt::format(
      "{} ranks on {} node{}; sizes as nccl-tests counts them, nothing "
      "else on the network",
      curve.ranks, curve.nodes, curve.nodes == 1 ? "" : "s");
  answer.figures = curve_figures(curve);
  return answer;
}

}  // namespace

Answer expect_answer(const ExpectedCurve& curve, const std::string& machine) {
  Answer answer = answer_of(curve, machine);
  answer.sections.push_back(sizes_section(curve));
  answer.sections.push_back(chart_section([&curve] { return bus_chart(curve, {}); }));
  answer.sections.push_back(basis_section(curve));
  answer.document = [&curve, machine] { return expect_document(curve, machine, nullptr); };
  return answer;
}

Answer expect_answer(const LogReading& reading, const std::string& machine) {
  Answer answer = answer_of(reading.expected, machine);
  answer.sections.push_back(verdict_section(reading));
  answer.sections.push_back(log_section(reading));
  answer.sections.push_back(
      chart_section([&reading] { return bus_chart(reading.expected, reading.measured); }));
  if (!reading.causes.empty()) answer.sections.push_back(causes_section(reading));
  answer.sections.push_back(basis_section(reading.expected));
  answer.document = [&reading, machine] {
    return expect_document(reading.expected, machine, &reading);
  };
  return answer;
}

}  // namespace windtunnel
