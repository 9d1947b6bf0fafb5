#include "traces/logs/training_log.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "models/base/printable.hpp"
#include "traces/text/csv.hpp"
#include "traces/text/input_file.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kHead_bytes = 1U << 16U;  // enough to tell the format of other files
constexpr std::size_t kMostFaults = 1000;
constexpr std::string_view kColour = "\x1b[";

bool is_pace(LogQuantity quantity) {
  using enum LogQuantity;
  return quantity == step_s || quantity == steps_per_s || quantity == tokens_per_s ||
         quantity == tokens_per_s_per_gpu || quantity == samples_per_s ||
         quantity == tflops_per_gpu || quantity == wall_s;
}

bool has_pace(const LoggedStep& step) {
  for (std::size_t i = 0; i < kLogQuantities; ++i) {
    if (step.values[i] && is_pace(static_cast<LogQuantity>(i))) return true;
  }
  return false;
}

bool is_empty(const LoggedStep& step) {
  return step.iteration < 0 &&
         std::ranges::none_of(step.values, [](const auto& value) { return value.has_value(); });
}

// Parses "32,680", "15.6K", "5.21"; nothing if the text is not a possible number of a step.
std::optional<double> logged_number(std::string_view text, LogQuantity quantity) {
  std::string digits;
  for (const char c : text) {
    if (c != ',') digits += c;
  }
  double factor = 1;
  if (digits.size() > 1) {
    const std::size_t unit =
        std::string_view("KMGT").find(digits.back() == 'B' ? 'G' : digits.back());
    if (unit != std::string_view::npos) {
      factor = std::pow(1000.0, static_cast<double>(unit) + 1);
      digits.pop_back();
    }
  }
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [at, fault] = std::from_chars(digits.data(), end, value);
  if (fault != std::errc() || at != end || !std::isfinite(value)) return {};
  constexpr double kMost = 1e18;
  constexpr double kLeast = 1e-12;
  const bool may_be_zero = !is_pace(quantity) || quantity == LogQuantity::wall_s;
  const double number = value * factor;
  if (number < 0 || number > kMost || (number < kLeast && !may_be_zero)) return {};
  return number;
}

// Removes terminal colours from a line.
std::string plain_line(std::string_view line) {
  std::string plain;
  for (std::size_t at = 0; at < line.size();) {
    if (!line.substr(at).starts_with(kColour)) {
      plain += line[at++];
      continue;
    }
    at += kColour.size();
    while (at < line.size() && (line[at] < '@' || line[at] > '~')) ++at;
    if (at < line.size()) ++at;
  }
  return plain;
}

struct ReadyForm {
  const LogForm* form;
  std::unique_ptr<RE2> value;
};

const std::vector<ReadyForm>& ready_forms() {
  static const std::vector<ReadyForm> forms = [] {
    std::vector<ReadyForm> ready;
    for (const LogForm& form : log_forms()) {
      ready.push_back({&form, std::make_unique<RE2>(form.value, RE2::Quiet)});
      CHECK(ready.back().value->ok(), "the form {} is no pattern", form.value);
    }
    return ready;
  }();
  return forms;
}

// Counts all faults, and keeps the first few.
template <class What>
void note_fault(TrainingLog& log, int line, int column, const What& what) {
  if (++log.unreadable <= kMostFaults) log.faults.push_back({{log.file, line, column}, what()});
}

// Inverts the exponential mean of a progress bar. The bar divides the mean of the seconds between
// updates by the mean of the steps between them; each update enters both means with the weight
// `newest`.
class ProgressBar {
 public:
  // Sets the step time to the mean since the last update.
  void take_apart(LoggedStep& step, double newest) {
    auto& seconds = step.values[static_cast<std::size_t>(LogQuantity::step_s)];
    auto& rate = step.values[static_cast<std::size_t>(LogQuantity::steps_per_s)];
    const double mean_s = rate ? 1 / rate->high : seconds->high;
    const int over = step.iteration - iteration_;
    double step_s = mean_s;
    if (iteration_ >= 0 && over > 0) {
      const double kept_s = (1 - newest) * mean_s_ * steps_;
      steps_ = newest * over + (1 - newest) * steps_;
      step_s = (mean_s * steps_ - kept_s) / (newest * over);
      // Because printed numbers are rounded, nothing may remain for steps much shorter than the
      // mean.
      if (step_s <= 0) step_s = mean_s;
    } else {
      // This is the log's first update. If it is not the run's first, earlier steps are taken to be
      // equal.
      steps_ = step.iteration == 1 ? newest : 1;
    }
    iteration_ = step.iteration;
    mean_s_ = mean_s;
    rate.reset();
    seconds = {step_s, step_s};
  }

 private:
  int iteration_ = -1;
  double mean_s_ = 0;
  double steps_ = 0;  // mean number of steps between updates
};

class LogReader {
 public:
  explicit LogReader(std::string file) { log_.file = std::move(file); }

  void line(std::string_view raw, int number) {
    if (raw.find(kColour) == std::string_view::npos) return plain(raw, number);
    plain(plain_line(raw), number);
  }

  TrainingLog finished() {
    flush();
    std::vector<std::pair<int, std::string>> order;
    for (const auto& [software, values] : values_of_) order.emplace_back(-values, software);
    std::ranges::sort(order);
    for (auto& [values, software] : order) log_.software.push_back(std::move(software));
    return std::move(log_);
  }

 private:
  struct Found {
    LogQuantity quantity;
    LoggedValue value;
    double newest;
  };

  void plain(std::string_view text, int number) {
    std::vector<Found> found;
    for (const ReadyForm& ready : ready_forms()) {
      if (text.find(ready.form->text) != std::string_view::npos) match(ready, text, number, found);
    }
    if (found.empty()) return;
    const auto numbered = std::ranges::find(found, LogQuantity::iteration, &Found::quantity);
    const bool paces =
        std::ranges::any_of(found, [](const Found& each) { return is_pace(each.quantity); });
    if (numbered != found.end()) {
      const int iteration = static_cast<int>(std::min(numbered->value.high, 2e9));
      if (now_.iteration >= 0 && now_.iteration != iteration) flush();
      now_.iteration = iteration;
    } else if (paces && has_pace(now_)) {
      flush();
    }
    if (now_.line == 0) now_.line = number;
    for (const Found& each : found) take(each);
  }

  // A later step time or rate replaces an earlier one. Memory and timers, which every rank may
  // report, become a range.
  void take(const Found& each) {
    auto& value = now_.values[static_cast<std::size_t>(each.quantity)];
    if (value && !is_pace(each.quantity) && each.quantity != LogQuantity::iteration) {
      value = {std::min(value->low, each.value.low), std::max(value->high, each.value.high)};
    } else {
      value = each.value;
    }
    if (is_pace(each.quantity)) newest_ = each.newest;
  }

  void match(const ReadyForm& ready, std::string_view text, int number, std::vector<Found>& found) {
    re2::StringPiece groups[2];
    const re2::StringPiece line(text.data(), text.size());
    const bool range = ready.value->NumberOfCapturingGroups() > 1;
    const bool matched = range ? RE2::PartialMatch(line, *ready.value, &groups[0], &groups[1])
                               : RE2::PartialMatch(line, *ready.value, &groups[0]);
    if (!matched) return;
    const std::string_view first(groups[0].data(), groups[0].size());
    const std::string_view second(groups[1].data(), groups[1].size());
    const LogForm& form = *ready.form;
    const auto low = logged_number(first, form.quantity);
    const auto high = second.empty() ? low : logged_number(second, form.quantity);
    if (!low || !high) {
      const std::string_view bad = low ? second : first;
      return fault(number, static_cast<int>(bad.data() - text.data()) + 1, form, bad);
    }
    ++values_of_[form.software];
    found.push_back({form.quantity, {*low * form.unit, *high * form.unit}, form.newest});
  }

  void fault(int line, int column, const LogForm& form, std::string_view bad) {
    note_fault(log_, line, column, [&] {
      return fmt::format("'{}' after '{}' is not a possible value of a step",
                         excerpt(std::string(bad)), form.text);
    });
  }

  // Lines without a step time or rate belong to no step: arguments of the run, or a table.
  void flush() {
    if (!is_empty(now_) && has_pace(now_)) {
      if (newest_ > 0) bar_.take_apart(now_, newest_);
      log_.steps.push_back(now_);
    }
    now_ = {};
    newest_ = 0;
  }

  TrainingLog log_;
  LoggedStep now_;
  double newest_ = 0;  // LogForm::newest of the form that gave the step time
  ProgressBar bar_;
  std::map<std::string, int> values_of_;
};

// Finds the column of each quantity, and its unit.
std::map<LogQuantity, std::pair<std::size_t, double>> columns_of(
    const std::vector<std::string>& header) {
  std::map<LogQuantity, std::pair<std::size_t, double>> columns;
  RE2::Options options;
  options.set_case_sensitive(false);
  for (const ColumnForm& form : column_forms()) {
    if (columns.contains(form.quantity)) continue;
    const RE2 title(form.title, options);
    CHECK(title.ok(), "the title {} is no pattern", form.title);
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (!RE2::FullMatch(header[i], title)) continue;
      columns[form.quantity] = {i, form.unit};
      break;
    }
  }
  return columns;
}

bool is_table(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  if (first.find(',') == std::string_view::npos) return false;
  try {
    const CsvTable header = CsvTable::parse(first, "");
    return std::ranges::any_of(columns_of(header.header()),
                               [](const auto& column) { return is_pace(column.first); });
  } catch (const Error&) {
    return false;
  }
}

// In a table with several tags, a row leaves the cells of other tags empty.
TrainingLog read_table(std::string_view text, const std::string& file) {
  std::vector<CsvFault> faulty;
  const CsvTable table = CsvTable::parse(text, file, &faulty);
  const auto columns = columns_of(table.header());
  TrainingLog log{.file = file, .software = {"a table"}, .steps = {}, .faults = {}};
  for (const CsvFault& fault : faulty) {
    note_fault(log, fault.line, 1, [&] { return fault.what; });
  }
  for (std::size_t row = 0; row < table.rows(); ++row) {
    LoggedStep step{.line = table.line(row), .iteration = -1, .values = {}};
    for (const auto& [quantity, column] : columns) {
      const std::string& cell = table.text(row, column.first);
      if (trimmed(cell).empty()) continue;
      const auto number = logged_number(trimmed(cell), quantity);
      if (!number) {
        const std::size_t at = column.first;  // clang 14 captures no structured binding
        note_fault(log, step.line, static_cast<int>(at) + 1, [&] {
          return fmt::format("column '{}': '{}' is not a possible value of a step",
                             table.header()[at], excerpt(cell));
        });
        continue;
      }
      const double value = *number * column.second;
      step.values[static_cast<std::size_t>(quantity)] = {value, value};
      if (quantity == LogQuantity::iteration)
        step.iteration = static_cast<int>(std::min(value, 2e9));
    }
    if (has_pace(step)) log.steps.push_back(step);
  }
  return log;
}

// Advice for a file that is not a training log; may be empty.
std::string way_on(std::string_view head) {
  if (contains_text(head, "nccl-tests") || contains_text(head, "out-of-place")) {
    return "this is a log of nccl-tests; read it with `windtunnel expect COLLECTIVE --cluster "
           "MACHINE --log FILE`";
  }
  if (head.starts_with("SQLite format 3") || contains_text(head, "\"traceEvents\"")) {
    return "this is a profiler's trace; its name must end in .json, .json.gz or .sqlite";
  }
  return "";
}

// Two lines with equally many commas are a table, even if its columns are unknown.
bool has_columns(std::string_view head) {
  const auto commas = [](std::string_view line) { return std::ranges::count(line, ','); };
  const std::size_t end = head.find('\n');
  if (end == std::string_view::npos) return false;
  const std::string_view second = head.substr(end + 1, head.find('\n', end + 1) - end - 1);
  const auto first = commas(head.substr(0, end));
  return first > 0 && first == commas(second);
}

std::string no_pace_text(std::string_view head) {
  if (has_columns(head)) {
    std::vector<std::string_view> paces;
    for (const ColumnForm& form : column_forms()) {
      if (is_pace(form.quantity)) paces.emplace_back(form.called);
    }
    return fmt::format(
        "no column contains the time of a step; in addition to `step`, one of these columns is "
        "needed: {} (step_time is in seconds)",
        fmt::join(paces, ", "));
  }
  std::vector<std::string_view> known;
  for (const LogForm& form : log_forms()) {
    if (known.empty() || known.back() != form.software) known.emplace_back(form.software);
  }
  return fmt::format(
      "no line contains the time of a step, or tokens or samples per second; known are lines of {} "
      "and tables (CSV) of TensorBoard and W&B",
      fmt::join(known, ", "));
}

[[noreturn]] void refuse(const TrainingLog& log, std::string_view head) {
  if (!log.faults.empty()) {
    throw Error(log.faults.front().where,
                fmt::format("{}; there are {} such places, and no step has a readable time",
                            log.faults.front().what, log.unreadable));
  }
  const std::string way = way_on(head);
  if (!way.empty()) throw Error(Location{log.file, 1, 1}, way);
  throw Error(Location{log.file, 1, 1}, no_pace_text(head));
}

void check_log(const TrainingLog& log, std::string_view head) {
  if (log.steps.empty() || log.unreadable > log.steps.size()) refuse(log, head);
}

}  // namespace

TrainingLog parse_training_log(std::string_view text, const std::string& file) {
  const std::string_view head = text.substr(0, kHead_bytes);
  if (is_table(text)) {
    TrainingLog log = read_table(text, file);
    check_log(log, head);
    return log;
  }
  LogReader reader(file);
  int number = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\r\n", at), text.size());
    reader.line(text.substr(at, end - at), number);
    if (end < text.size() && text[end] == '\n') ++number;
    at = end + 1;
  }
  TrainingLog log = reader.finished();
  check_log(log, head);
  return log;
}

bool is_training_log(std::string_view text, const std::string& file) {
  try {
    parse_training_log(text, file);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace windtunnel
