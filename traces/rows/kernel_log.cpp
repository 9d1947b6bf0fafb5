#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "models/base/units.hpp"
#include "traces/rows/fault_records.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kXid = "NVRM: Xid (";
constexpr std::string_view kSwitchXid = "SXid (";
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::size_t kLongestHost = 253;

enum class Clock { boot, dated, without_year };

// The time of a line. Without a year, seconds count from midnight, and day is 32 * month + day of
// the month.
struct Stamp {
  Clock clock = Clock::boot;
  double seconds = 0;
  int day = 0;
  std::string_view host{};
};

// Reads "Aug 30 " or "Aug  3 ".
bool take_month_day(std::string_view& text, int& month, int& day) {
  std::string_view rest = text;
  const auto* const found = std::ranges::find(kMonths, rest.substr(0, 3));
  if (found == kMonths.end()) return false;
  rest.remove_prefix(3);
  while (take_text(rest, " ")) {
  }
  if (!take_whole(rest, 1, 2, day) || !take_text(rest, " ")) return false;
  month = static_cast<int>(found - kMonths.begin()) + 1;
  text = rest;
  return true;
}

// Reads "[  123.456789] ".
std::optional<Stamp> take_boot_time(std::string_view& text) {
  std::string_view rest = text;
  if (!take_text(rest, "[")) return {};
  while (take_text(rest, " ")) {
  }
  double seconds = 0;
  const auto [end, fault] =
      std::from_chars(rest.data(), rest.data() + rest.size(), seconds, std::chars_format::fixed);
  if (fault != std::errc() || !(seconds >= 0 && seconds < 1e10)) return {};
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (!take_text(rest, "]")) return {};
  text = rest;
  return Stamp{.clock = Clock::boot, .seconds = seconds};
}

// Reads "[Fri Aug 30 11:11:22 2024] ".
std::optional<Stamp> take_bracketed_date(std::string_view& text) {
  std::string_view rest = text;
  if (!take_text(rest, "[") || rest.size() < 4 || rest[3] != ' ') return {};
  rest.remove_prefix(4);
  int month = 0, day = 0, year = 0;
  double clock_s = 0;
  const bool whole = take_month_day(rest, month, day) && take_clock(rest, clock_s) &&
                     take_text(rest, " ") && take_whole(rest, 4, 4, year) && take_text(rest, "]");
  const std::optional<double> days = whole ? day_number(year, month, day) : std::nullopt;
  if (!days) return {};
  text = rest;
  return Stamp{.clock = Clock::dated, .seconds = *days * kDay_s + clock_s};
}

// The word after the time in a line of syslog, if "kernel:" follows; in dmesg the message is there.
std::string_view host_of(std::string_view text) {
  if (!take_text(text, " ")) return {};
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  const bool is_host = !word.empty() && word.size() <= kLongestHost && text.starts_with(" kernel");
  return is_host ? word : std::string_view{};
}

std::optional<Stamp> time_of(std::string_view text) {
  if (std::optional<Stamp> stamp = take_boot_time(text)) return stamp;
  if (std::optional<Stamp> stamp = take_bracketed_date(text)) return stamp;
  if (const std::optional<double> at_s = take_iso_time(text)) {
    return Stamp{.clock = Clock::dated, .seconds = *at_s, .host = host_of(text)};
  }
  Stamp stamp{.clock = Clock::without_year};
  int month = 0, day = 0;
  const bool whole = take_month_day(text, month, day) && take_clock(text, stamp.seconds);
  if (!whole || !day_number(2000, month, day)) return {};
  stamp.day = 32 * month + day;
  stamp.host = host_of(text);
  return stamp;
}

// Reads the time of a line, which may follow a priority and "HOST: ".
std::optional<Stamp> stamp_of(std::string_view line) {
  std::string_view rest = line;
  int priority = 0;
  if (take_text(rest, "<") && take_whole(rest, 1, 3, priority) && take_text(rest, ">")) {
    take_text(rest, "1 ");  // the version of syslog's newer form
    line = rest;
  }
  if (std::optional<Stamp> stamp = time_of(line)) return stamp;
  const std::size_t colon = line.find(": ");
  const std::string_view host = line.substr(0, colon);
  if (colon == std::string_view::npos || host.size() > kLongestHost ||
      host.find_first_of(" \t[") != std::string_view::npos) {
    return {};
  }
  std::optional<Stamp> stamp = time_of(line.substr(colon + 2));
  if (stamp) stamp->host = host;
  return stamp;
}

// The error in a line.
struct XidLine {
  int number = 0;
  bool of_switch = false;
  bool fatal = true;
};

// Converts each Stamp::day to days since the first day of the log. The days form a circle, because
// the year is not known; it is cut at the longest gap between lines.
std::map<int, double> days_without_year(const std::map<int, std::pair<double, double>>& seen) {
  const int year = seen.contains(2 * 32 + 29) ? 2000 : 2001;
  const double year_days = *day_number(year + 1, 1, 1) - *day_number(year, 1, 1);
  std::map<int, double> days;
  double first = 0, last = -1, widest = -1;
  for (const auto& [day, times] : seen) {
    const double number = *day_number(year, day / 32, day % 32) - *day_number(year, 1, 1);
    if (last >= 0 && number - last > widest) {
      widest = number - last;
      first = number;
    }
    days[day] = number;
    last = number;
  }
  const double begin = days.begin()->second;
  if (begin + year_days - last >= widest) first = begin;
  for (auto& [day, number] : days) number -= number < first ? first - year_days : first;
  return days;
}

class KernelLogReader {
 public:
  explicit KernelLogReader(std::string file) : file_(std::move(file)) {
    records_.named_in = "kernel lines";
  }

  void line(std::string_view text, int number) {
    const std::optional<Stamp> stamp = stamp_of(text);
    const std::size_t xid = text.find(kXid);
    const std::size_t at = xid != std::string_view::npos ? xid : text.find(kSwitchXid);
    if (at == std::string_view::npos) {
      if (stamp && (!clock_ || stamp->clock == *clock_)) note_time(*stamp, number);
      return;
    }
    const Location where{file_, number, static_cast<int>(at) + 1};
    if (!stamp) {
      throw Error(where,
                  "there is no known form of time before this Xid; known are '[123.4]', '[Fri Aug "
                  "30 11:11:22 2024]', 'Aug 30 11:11:22 HOST' and '2024-08-30T11:11:22 HOST'");
    }
    if (clock_ && stamp->clock != *clock_) {
      throw Error({file_, number, 1},
                  fmt::format("its time has another form than in line {}; give a log with one form",
                              first_line_));
    }
    note_time(*stamp, number);
    XidLine found{.of_switch = xid == std::string_view::npos};
    const std::string_view behind = number_behind(text, at, number, found);
    found.fatal = !contains_text(behind, "nonfatal") && !contains_text(behind, "non-fatal");
    if (found.of_switch && !contains_text(behind, "fatal")) found.fatal = false;
    add(found, *stamp);
  }

  ClusterRecords finished() {
    if (clock_ == Clock::without_year) {
      const std::map<int, double> days = days_without_year(seen_);
      const auto at = [&](int day, double seconds) { return days.at(day) * kDay_s + seconds; };
      for (const auto& [day, times] : seen_) {
        records_.watch(at(day, times.first));
        records_.watch(at(day, times.second));
      }
      for (std::size_t i = 0; i < records_.faults.size(); ++i) {
        records_.faults[i].at_s = at(days_of_faults_[i], records_.faults[i].at_s);
      }
    }
    if (records_.nodes.empty() && clock_) {
      const std::string only = "the node";
      records_.nodes.insert(only);
      for (FaultRecord& fault : records_.faults) fault.node = only;
      records_.notes.emplace_back("hosts", "no line names a node, so all are of one node");
    }
    note_xids(counts_, records_);
    return std::move(records_);
  }

 private:
  // Returns the text after the number.
  std::string_view number_behind(std::string_view text, std::size_t at, int line,
                                 XidLine& found) const {
    std::string_view rest = text.substr(at);
    const std::size_t close = rest.find(')');
    if (close != std::string_view::npos) rest.remove_prefix(close + 1);
    const std::string_view digits = rest;
    const bool whole = close != std::string_view::npos && take_text(rest, ": ") &&
                       take_whole(rest, 1, 6, found.number) &&
                       (rest.empty() || rest[0] == ',' || rest[0] == ' ' || rest[0] == '\r');
    if (!whole) {
      throw Error(
          {file_, line, static_cast<int>(digits.data() - text.data()) + 1},
          fmt::format("expected the number of an Xid, as in '(PCI:0000:3b:00): 79,', not '{}'",
                      excerpt(digits.substr(0, 20))));
    }
    return rest;
  }

  void note_time(const Stamp& stamp, int number) {
    if (!clock_) {
      clock_ = stamp.clock;
      first_line_ = number;
      first_host_ = stamp.host;
    }
    if (stamp.clock == Clock::boot) {
      const bool other_host = stamp.host != first_host_;
      if (other_host || stamp.seconds < last_s_ - 1) {
        throw Error({file_, number, 1},
                    fmt::format("counts seconds since {}, which no common clock has; print times "
                                "with dmesg --time-format iso",
                                other_host ? "another node's boot" : "another boot"));
      }
      last_s_ = stamp.seconds;
    }
    if (stamp.clock == Clock::without_year) {
      auto [times, is_new] = seen_.try_emplace(stamp.day, stamp.seconds, stamp.seconds);
      times->second.first = std::min(times->second.first, stamp.seconds);
      times->second.second = std::max(times->second.second, stamp.seconds);
    } else {
      records_.watch(stamp.seconds);
    }
    if (!stamp.host.empty() && stamp.host != last_host_) {
      last_host_ = stamp.host;
      records_.nodes.emplace(stamp.host);
    }
  }

  void add(const XidLine& found, const Stamp& stamp) {
    std::optional<std::pair<FailureKind, std::string>> fault;
    if (!found.of_switch) {
      fault = fault_of_xid(found.number, found.fatal, counts_);
    } else if (const std::string name = fmt::format("SXid {}", found.number); found.fatal) {
      fault = {FailureKind::node, name};
    } else {
      ++counts_.harmless[name];
    }
    if (!fault) return;
    records_.faults.push_back(
        {stamp.seconds, std::string(stamp.host), fault->first, std::move(fault->second)});
    days_of_faults_.push_back(stamp.day);
  }

  std::string file_;
  std::optional<Clock> clock_;
  int first_line_ = 0;
  double last_s_ = 0;
  std::string first_host_, last_host_;
  std::map<int, std::pair<double, double>> seen_;  // first and last second, by Stamp::day
  ClusterRecords records_;
  std::vector<int> days_of_faults_;  // Stamp::day of each of records_.faults
  XidCounts counts_;
};

}  // namespace

bool is_kernel_log(std::string_view text) {
  std::string_view first = text.substr(std::min(text.find_first_not_of("\r\n"), text.size()));
  first = first.substr(0, first.find('\n'));
  if (stamp_of(first)) return true;
  const auto holds = [](std::string_view in, std::string_view what) {
    return in.find(what) != std::string_view::npos;
  };
  const bool of_xid = holds(first, kXid) || holds(first, kSwitchXid);
  if (!of_xid && is_header_of_faults(first)) return false;
  return holds(text, kXid) || holds(text, kSwitchXid);
}

std::vector<FaultLog> read_kernel_log(std::string_view text, const std::string& file,
                                      const FaultLog& head) {
  KernelLogReader reader(file);
  int number = 0;
  for (const std::string_view line : lines_of(text)) reader.line(line, ++number);
  return fault_logs_of(reader.finished(), head, file);
}

}  // namespace windtunnel
