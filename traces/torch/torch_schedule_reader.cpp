#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "models/base/printable.hpp"
#include "traces/text/text.hpp"
#include "traces/torch/torch_cell.hpp"
#include "traces/torch/torch_schedule.hpp"

namespace windtunnel {
namespace {

// A larger number in the file is a mistake.
constexpr double kMostResults = 1e8;
// For up to this many results, an error names the missing result of a stage. Beyond it, a file
// whose numbers require more results than it contains is refused without spending memory.
constexpr double kFewResults = 1e6;

struct TorchRow {
  int line = 0;
  int cells = 0;
  int idle_column = 0;  // the first empty cell; 0: none
  std::vector<TorchAction> actions;
};

// Reads text into rows of actions, and rows into a schedule.
class TorchReader {
 public:
  TorchReader(std::string_view text, const std::string& file) {
    result_.file = file;
    result_.schedule.name = std::filesystem::path(file).stem().string();
    read_rows(text);
  }

  TorchSchedule read(std::optional<TorchDialect> dialect) {
    note_kinds();
    result_.dialect = dialect ? *dialect : found_dialect();
    for (TorchRow& row : rows_) {
      for (TorchAction& action : row.actions) apply_dialect(row, action);
    }
    count();
    place_stages();
    check_directives();
    fill();
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(int line, int column, const std::string& what) const {
    throw Error(Location{result_.file, line, column}, what);
  }
  [[noreturn]] void fail(const TorchRow& row, const TorchAction& action,
                         const std::string& what) const {
    fail(row.line, action.column, fmt::format("'{}': {}", action.text(), what));
  }

  void read_rows(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (trimmed(text).empty() || text == "\r") fail(1, 1, "the file is empty");
    int line = 0;
    for (std::string_view row : split(text, '\n')) {
      ++line;
      if (row.ends_with('\r')) row.remove_suffix(1);
      if (row.starts_with('#')) {
        read_directive(row, line);
      } else {
        read_row(row, line);
      }
    }
    if (rows_.empty()) fail(line, 1, "no rank has a row");
    result_.first_line = rows_.front().line;
  }

  void read_row(std::string_view text, int line) {
    TorchRow row;
    row.line = line;
    for (const std::string_view cell : split(text, ',')) {
      ++row.cells;
      std::vector<TorchAction> actions;
      try {
        actions = parse_torch_cell(cell);
      } catch (const Error& error) {
        fail(line, row.cells, error.what());
      }
      if (actions.empty() && row.idle_column == 0) row.idle_column = row.cells;
      for (TorchAction& action : actions) {
        action.column = row.cells;
        row.actions.push_back(action);
      }
    }
    if (row.actions.empty()) {
      fail(line, 1,
           fmt::format("rank {} has no actions; row k must be pipeline rank k", rows_.size()));
    }
    rows_.push_back(std::move(row));
  }

  void read_directive(std::string_view row, int line) {
    if (!rows_.empty()) fail(line, 1, fmt::format("'{}' is before the first rank", excerpt(row)));
    result_.extended = true;
    std::vector<std::string_view> cells = split(row, ',');
    const std::string_view name = cells.front();
    if (name == "#recompute" && cells.size() == 1) {
      result_.schedule.explicit_recompute = true;
      return;
    }
    std::vector<double>* numbers = nullptr;
    if (name == "#slices") numbers = &result_.schedule.slice_shares;
    if (name == "#weight_copies") numbers = &result_.schedule.weight_copies;
    if (numbers == nullptr) {
      fail(line, 1, unknown_name("row", excerpt(row), {"#recompute", "#slices", "#weight_copies"}));
    }
    directive_lines_[numbers] = line;
    for (size_t i = 1; i < cells.size(); ++i) {
      const std::string_view cell = trimmed(cells[i]);
      double value = 0;
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (error != std::errc() || end != cell.data() + cell.size() || !(value > 0) ||
          !std::isfinite(value)) {
        fail(line, static_cast<int>(i) + 1,
             fmt::format("'{}' is not a number above 0", excerpt(cell)));
      }
      numbers->push_back(value);
    }
  }

  // Finds out whether the file has messages, which idle cells would contradict, and whether it uses
  // the extension.
  void note_kinds() {
    for (const TorchRow& row : rows_) {
      for (const TorchAction& action : row.actions) {
        result_.messages = result_.messages || !is_compute(action.kind);
        result_.extended = result_.extended || action.extended();
        result_.schedule.explicit_recompute =
            result_.schedule.explicit_recompute || action.kind == ActionKind::recompute;
      }
    }
    if (!result_.messages) return;
    for (const TorchRow& row : rows_) {
      if (row.idle_column == 0) continue;
      fail(row.line, row.idle_column,
           "the cell is empty, but a file with messages must not have idle time steps");
    }
  }

  // Finds the dialect from the letters, or from what the other dialect would leave undone: without
  // any W, B must be a full backward, so the dialect is the current one.
  TorchDialect found_dialect() const {
    const TorchRow* row_of_weight = nullptr;
    const TorchAction* weight = nullptr;
    std::int64_t weights = 0;
    std::int64_t backwards = 0;
    bool old = false;
    bool current = false;
    for (const TorchRow& row : rows_) {
      for (const TorchAction& action : row.actions) {
        old = old || action.old_full;
        current = current || action.kind == ActionKind::backward_input;
        if (action.kind == ActionKind::backward && !action.old_full) ++backwards;
        if (action.kind != ActionKind::backward_weight) continue;
        ++weights;
        if (weight == nullptr) row_of_weight = &row;
        if (weight == nullptr) weight = &action;
      }
    }
    if (old) return TorchDialect::old;
    if (current || weights == 0) return TorchDialect::current;
    if (weights == backwards) return TorchDialect::old;
    fail(*row_of_weight, *weight,
         "the file has neither I nor BW to show whether B is the input gradient or the full "
         "backward, and the numbers of B and W fit neither; state --dialect current or old");
  }

  void apply_dialect(const TorchRow& row, TorchAction& action) const {
    if (result_.dialect == TorchDialect::current) {
      if (action.old_full) {
        fail(row, action, "BW belongs to the old dialect; in the current one a full backward is B");
      }
    } else if (action.kind == ActionKind::backward_input) {
      fail(row, action,
           "I belongs to the current dialect, but the file is in the old one, where it is B");
    } else if (action.old_full) {
      action.old_full = false;
    } else if (action.kind == ActionKind::backward) {
      if (action.column > 0 && overlapped(row, action)) {
        fail(row, action, "only a full backward can overlap, which is BW in the old dialect");
      }
      action.kind = ActionKind::backward_input;
    }
  }

  static bool overlapped(const TorchRow& row, const TorchAction& action) {
    const size_t at = &action - row.actions.data();
    return at > 0 && row.actions[at - 1].with_next;
  }

  void count() {
    Schedule& schedule = result_.schedule;
    schedule.ranks = static_cast<int>(rows_.size());
    for (const TorchRow& row : rows_) {
      for (const TorchAction& action : row.actions) {
        schedule.directions = std::max(schedule.directions, action.direction + 1);
        stages_ = std::max(stages_, action.stage + 1);
        if (!action.has_unit()) continue;
        schedule.iterations = std::max(schedule.iterations, action.iteration + 1);
        schedule.microbatches = std::max(schedule.microbatches, action.microbatch + 1);
        schedule.slices = std::max(schedule.slices, action.slice + 1);
      }
    }
    if (schedule.microbatches == 0)
      fail(rows_.front().line, 1, "no micro-batch passes through the pipeline");
    double actions = 0;
    for (const TorchRow& row : rows_) actions += static_cast<double>(row.actions.size());
    const double stages = double(stages_) * schedule.directions;
    const double units = double(schedule.iterations) * schedule.microbatches * schedule.slices;
    const bool held = stages <= actions && units * stages_ <= actions;
    if (stages * units <= (held ? kMostResults : kFewResults)) return;
    fail(rows_.front().line, 1,
         fmt::format("{} stages of {} micro-batches or slices of them are too many for {} actions",
                     stages, units, actions));
  }

  // Places the stages of each direction on one rank each, equally many per rank.
  void place_stages() {
    Schedule& schedule = result_.schedule;
    std::vector<int>& rank_of = schedule.rank_of_stage;
    rank_of.assign(static_cast<size_t>(stages_) * schedule.directions, -1);
    std::vector<int> held(rows_.size(), 0);
    for (size_t rank = 0; rank < rows_.size(); ++rank) {
      for (const TorchAction& action : rows_[rank].actions) {
        int& owner = rank_of[stage_of(action)];
        if (owner < 0) ++held[rank];
        if (owner >= 0 && owner != static_cast<int>(rank)) {
          fail(rows_[rank], action,
               fmt::format("stage {} is already on rank {}; a stage must be on one rank",
                           action.stage, owner));
        }
        owner = static_cast<int>(rank);
      }
    }
    check_placed();
    for (size_t rank = 1; rank < rows_.size(); ++rank) {
      if (held[rank] == held[0]) continue;
      fail(rows_[rank].line, 1,
           fmt::format(
               "rank {} has {} stages, but rank 0 has {}; all ranks must have the same number",
               rank, held[rank], held[0]));
    }
    schedule.chunks = held[0];
  }

  // Checks that numbers of stages and directions are consecutive.
  void check_placed() const {
    const std::vector<int>& rank_of = result_.schedule.rank_of_stage;
    const auto missing = std::find(rank_of.begin(), rank_of.end(), -1);
    if (missing == rank_of.end()) return;
    const int at = static_cast<int>(missing - rank_of.begin());
    for (const TorchRow& row : rows_) {
      for (const TorchAction& action : row.actions) {
        if (stage_of(action) < at && action.stage + 1 < stages_) continue;
        fail(row, action,
             fmt::format(
                 "stage {} of direction {} has no action; stages are counted from 0 without gaps",
                 at % stages_, at / stages_));
      }
    }
  }

  void check_directives() const {
    const Schedule& schedule = result_.schedule;
    const auto check = [&](const std::vector<double>& numbers, int due, std::string_view of) {
      const auto line = directive_lines_.find(&numbers);
      if (line == directive_lines_.end() || static_cast<int>(numbers.size()) == due) return;
      fail(line->second, static_cast<int>(numbers.size()) + 1,
           fmt::format("{} numbers for {} {}", numbers.size(), due, of));
    };
    check(schedule.slice_shares, schedule.slices, "slices");
    check(schedule.weight_copies, schedule.ranks, "ranks");
  }

  int stage_of(const TorchAction& action) const {
    return action.direction * stages_ + action.stage;
  }

  int unit_of(const TorchAction& action) const {
    const Schedule& schedule = result_.schedule;
    return (action.iteration * schedule.microbatches + action.microbatch) * schedule.slices +
           action.slice;
  }

  struct Progress {
    std::int32_t forward_column = 0;  // 0: not done yet
    std::int32_t backward_column = 0;
    bool recomputed = false;
    bool weight = false;
  };

  void fill() {
    Schedule& schedule = result_.schedule;
    progress_.resize(static_cast<size_t>(schedule.stages()) * schedule.units());
    schedule.actions.resize(rows_.size());
    result_.columns.resize(rows_.size());
    for (size_t rank = 0; rank < rows_.size(); ++rank) {
      for (const TorchAction& action : rows_[rank].actions) {
        const int unit = action.has_unit() ? unit_of(action) : 0;
        if (is_compute(action.kind)) advance(rows_[rank], action);
        schedule.actions[rank].emplace_back(action.kind, stage_of(action), unit, action.with_next);
        result_.columns[rank].push_back(action.column);
      }
    }
    check_complete();
  }

  void advance(const TorchRow& row, const TorchAction& action) {
    Progress& done = progress_[static_cast<size_t>(stage_of(action)) * result_.schedule.units() +
                               unit_of(action)];
    switch (action.kind) {
      case ActionKind::forward:
        if (done.forward_column > 0) fail(row, action, "is done twice");
        done.forward_column = action.column;
        return;
      case ActionKind::recompute:
        if (done.forward_column == 0) fail(row, action, "is before its forward pass");
        if (done.recomputed) fail(row, action, "is done twice");
        if (done.backward_column > 0) fail(row, action, "is after its backward pass");
        done.recomputed = true;
        return;
      case ActionKind::backward:
      case ActionKind::backward_input:
        if (done.forward_column == 0) fail(row, action, "is before its forward pass");
        if (done.backward_column > 0) fail(row, action, "is a second backward");
        done.backward_column = action.column;
        done.weight = action.kind == ActionKind::backward;
        return;
      default:
        if (done.backward_column == 0) fail(row, action, "is before its input gradient");
        if (done.weight) fail(row, action, "is a second weight gradient");
        done.weight = true;
    }
  }

  // Checks that every unit passes every stage of one direction, forwards and backwards.
  void check_complete() const {
    const Schedule& schedule = result_.schedule;
    const size_t units = schedule.units();
    std::vector<int> direction_of(units, -1);
    for (size_t rank = 0; rank < rows_.size(); ++rank) {
      for (const TorchAction& action : rows_[rank].actions) {
        if (!is_compute(action.kind)) continue;
        int& direction = direction_of[unit_of(action)];
        if (direction >= 0 && direction != action.direction) {
          fail(rows_[rank], action, fmt::format("passes through direction {} as well", direction));
        }
        direction = action.direction;
      }
    }
    for (int stage = 0; stage < schedule.stages(); ++stage) {
      const TorchRow& row = rows_[schedule.rank_of_stage[stage]];
      for (size_t unit = 0; unit < units; ++unit) {
        if (direction_of[unit] >= 0 && direction_of[unit] != stage / stages_) continue;
        check_complete(row, stage, static_cast<int>(unit), progress_[stage * units + unit]);
      }
    }
  }

  void check_complete(const TorchRow& row, int stage, int unit, const Progress& done) const {
    const Schedule& schedule = result_.schedule;
    TorchAction missing;
    missing.stage = stage % stages_;
    missing.direction = stage / stages_;
    missing.slice = unit % schedule.slices;
    missing.microbatch = unit / schedule.slices % schedule.microbatches;
    missing.iteration = unit / schedule.slices / schedule.microbatches;
    if (done.forward_column == 0) {
      fail(row.line, row.cells + 1,
           fmt::format("'{}' is missing in the row, although rank {} has stage {}", missing.text(),
                       schedule.rank_of_stage[stage], missing.stage));
    }
    missing.column = done.forward_column;
    if (done.backward_column == 0) fail(row, missing, "has no backward");
    missing.kind = ActionKind::backward_input;
    missing.column = done.backward_column;
    if (!done.weight) fail(row, missing, "has no weight gradient");
  }

  TorchSchedule result_;
  std::vector<TorchRow> rows_;
  std::map<const std::vector<double>*, int> directive_lines_;
  int stages_ = 0;                  // per direction
  std::vector<Progress> progress_;  // [stage * units + unit]
};

}  // namespace

std::string_view letters_of(TorchDialect dialect) {
  return dialect == TorchDialect::current ? "I, W, B" : "B, W, BW";
}

Location TorchSchedule::place(int rank, int position) const {
  return {file, first_line + rank, columns[rank][position]};
}

TorchSchedule parse_torch_schedule(std::string_view text, const std::string& file,
                                   std::optional<TorchDialect> dialect) {
  return TorchReader(text, file).read(dialect);
}

TorchSchedule read_torch_schedule(const std::string& path, std::optional<TorchDialect> dialect) {
  return parse_torch_schedule(read_file(path), path, dialect);
}

}  // namespace windtunnel
