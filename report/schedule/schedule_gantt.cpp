#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <vector>

#include "report/schedule/schedule_report.hpp"

namespace windtunnel {
namespace {

// What a character stands for.
struct Mark {
  char letter;
  std::string_view meaning;
  std::string_view colour;  // ANSI background with black text
};
constexpr std::size_t kIdle = 0;
constexpr std::size_t kPair = 6;
constexpr std::array<Mark, 7> kMarks = {{{'.', "idle", ""},
                                         {'F', "forward", "\x1b[30;104m"},
                                         {'B', "backward", "\x1b[30;106m"},
                                         {'I', "input gradient", "\x1b[30;106m"},
                                         {'W', "weight gradient", "\x1b[30;102m"},
                                         {'R', "recomputation", "\x1b[30;103m"},
                                         {'&', "forward and backward as one", "\x1b[30;105m"}}};

std::size_t mark_of(const Action& action) {
  if (action.with_next) return kPair;
  return 1 + static_cast<std::size_t>(action.kind);  // F, B, I, W, R
}

// The columns of an action, or of a fused pair.
struct Bar {
  std::size_t mark = kIdle;
  bool later_chunk = false;
  int unit = 0;
  double from = 0;
  double to = 0;
};

double end_of(const ScheduleSpans& spans) {
  double end_s = 0;
  for (const auto& rank : spans) {
    for (const ActionSpan& span : rank) end_s = std::max(end_s, span.end_s);
  }
  return end_s;
}

// Columns per second. The shortest action gets a whole number of columns if equal times then look
// equal: if there are at least two columns for it, or all times are multiples of it. Otherwise the
// schedule fills the width.
double scale_of(const ScheduleSpans& spans, int columns) {
  const double end_s = end_of(spans);
  if (end_s <= 0) return 0;
  std::vector<double> times_s;
  for (const auto& rank : spans) {
    for (const ActionSpan& span : rank) {
      const double seconds = span.end_s - span.start_s;
      if (seconds > 1e-9 * end_s) times_s.push_back(seconds);
    }
  }
  if (times_s.empty()) return 0;
  const double shortest_s = *std::min_element(times_s.begin(), times_s.end());
  const bool are_multiples = std::all_of(times_s.begin(), times_s.end(), [&](double seconds) {
    return std::abs(std::remainder(seconds, shortest_s)) < 1e-6 * shortest_s;
  });
  const double each = std::floor(columns * (1 + 1e-9) / (end_s / shortest_s));
  if (each < (are_multiples ? 1 : 2)) return columns / end_s;
  // More than 8 columns would only widen the drawing.
  return std::min(each, 8.0) / shortest_s;
}

std::vector<Bar> bars_of(const Schedule& schedule, const ScheduleSpans& spans, int rank,
                         double scale) {
  const auto first = std::find(schedule.rank_of_stage.begin(), schedule.rank_of_stage.end(), rank);
  const auto first_stage = static_cast<int>(first - schedule.rank_of_stage.begin());
  std::vector<Bar> bars;
  const auto& actions = schedule.actions[rank];
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (!is_compute(actions[i].kind)) continue;
    if (i > 0 && actions[i - 1].with_next) continue;
    const ActionSpan& span = spans[rank][i];
    bars.push_back({mark_of(actions[i]), actions[i].stage != first_stage, actions[i].unit,
                    span.start_s * scale, span.end_s * scale});
  }
  return bars;
}

struct Cell {
  std::size_t mark = kIdle;
  bool later_chunk = false;
  char text = '.';
};

char letter_of(const Bar& bar) {
  const char letter = kMarks[bar.mark].letter;
  return bar.later_chunk ? static_cast<char>(std::tolower(letter)) : letter;
}

// An action takes the columns whose middle it covers, possibly none.
std::vector<Cell> cells_of(const std::vector<Bar>& bars, int columns) {
  std::vector<Cell> cells(columns);
  for (const Bar& bar : bars) {
    const auto from = static_cast<std::size_t>(std::lround(bar.from));
    const auto to = std::min(cells.size(), static_cast<std::size_t>(std::lround(bar.to)));
    if (to <= from) continue;
    std::string digits = std::to_string(bar.unit);
    const std::size_t room = to - from - 1;
    if (digits.size() > room) digits = digits.substr(digits.size() - room);
    std::string text = letter_of(bar) + digits;
    text.resize(to - from, ' ');
    for (std::size_t i = 0; i < text.size(); ++i) {
      cells[from + i] = {bar.mark, bar.later_chunk, text[i]};
    }
  }
  return cells;
}

std::string row_text(const std::vector<Cell>& cells, const ConsoleStyle& style) {
  std::string text;
  std::string_view colour;
  for (const Cell& cell : cells) {
    const std::string_view wanted = style.colour ? kMarks[cell.mark].colour : "";
    // Letters separate neighbours of one colour.
    if (wanted != colour) text += wanted.empty() ? "\x1b[0m" : std::string(wanted);
    colour = wanted;
    text += cell.text;
  }
  if (!colour.empty()) text += "\x1b[0m";
  return text;
}

std::string legend_text(const std::array<bool, kMarks.size()>& used, bool later_chunks) {
  std::string text;
  for (std::size_t i = 0; i < kMarks.size(); ++i) {
    if (!used[i]) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kMarks[i].letter, kMarks[i].meaning);
  }
  if (later_chunks) text += "; lower case: a rank's later chunks";
  return text + "\n";
}

}  // namespace

std::string schedule_gantt(const Schedule& schedule, const ScheduleSpans& spans, int width,
                           const ConsoleStyle& style) {
  const auto digits = static_cast<int>(std::to_string(schedule.ranks - 1).size());
  const int room = std::max(1, width - digits - 1);
  const double scale = scale_of(spans, room);
  const int columns =
      std::clamp(static_cast<int>(std::ceil(end_of(spans) * scale - 1e-6)), 1, room);
  std::array<bool, kMarks.size()> used{};
  bool later_chunks = false;
  std::string text;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const std::vector<Cell> cells = cells_of(bars_of(schedule, spans, rank, scale), columns);
    for (const Cell& cell : cells) {
      used[cell.mark] = true;
      later_chunks |= cell.later_chunk && cell.mark != kPair;
    }
    text += fmt::format("{:>{}} {}\n", rank, digits, row_text(cells, style));
  }
  return text + legend_text(used, later_chunks);
}

}  // namespace windtunnel
