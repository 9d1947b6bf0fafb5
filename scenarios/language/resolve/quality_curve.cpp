#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "models/compression/compressors.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {
namespace {

struct NumberColumn {
  std::string_view name;
  double CompressorChoice::*member;
};
constexpr std::array kNumbers{NumberColumn{"rank", &CompressorChoice::rank},
                              NumberColumn{"density", &CompressorChoice::density},
                              NumberColumn{"bits", &CompressorChoice::bits}};

// The rows of a file that match this job.
class Curve {
 public:
  Curve(CsvTable table, const Job& job)
      : table_(std::move(table)),
        job_(job),
        compressor_(with_usual(job.communication.compressors.dp)) {
    for (const std::string& column : table_.header()) check_column(column);
    steps_column_ = table_.column("steps");
    for (std::size_t row = 0; row < table_.rows(); ++row) add(row);
  }

  double steps() const {
    if (any_batch_ > 0) return any_batch_;
    const double batch = job_.batch.global;
    const auto above = by_batch_.lower_bound(batch);
    if (above != by_batch_.end() && above->first == batch) return above->second;
    if (by_batch_.empty()) {
      throw Error(no_row());
    }
    if (above == by_batch_.begin() || above == by_batch_.end()) {
      throw Error(fmt::format("{} covers global batches of {:g} to {:g}, not {}", table_.file(),
                              by_batch_.begin()->first, by_batch_.rbegin()->first,
                              job_.batch.global));
    }
    const auto& [low_batch, low_steps] = *std::prev(above);
    const double way = std::log(batch / low_batch) / std::log(above->first / low_batch);
    return low_steps * std::pow(above->second / low_steps, way);
  }

 private:
  std::string no_row() const {
    const std::vector<std::string> known(compressors_.begin(), compressors_.end());
    std::string text = fmt::format("{} has no row for compressor '{}' with the stated numbers",
                                   table_.file(), compressor_.name);
    if (!known.empty()) text += fmt::format("; it has {}", fmt::join(known, ", "));
    if (!job_.sync.empty()) {
      text += fmt::format(
          "; it needs a row for {} islands that exchange every {:g} steps with compressor '{}'",
          job_.layout.islands(), job_.sync.front().every_steps,
          with_usual(job_.sync.front().compressor).name);
    }
    return text;
  }

  static void check_column(const std::string& column) {
    std::vector<std::string> known = {"compressor", "global_batch",    "steps",
                                      "every",      "sync_compressor", "islands"};
    for (const NumberColumn& number : kNumbers) known.emplace_back(number.name);
    if (std::ranges::find(known, column) == known.end()) {
      throw Error(unknown_name("column", column, known));
    }
  }

  std::optional<double> positive(std::size_t row, std::string_view name) const {
    if (!table_.has(name)) return {};
    const std::size_t column = table_.column(name);
    const std::optional<double> value = table_.optional_number(row, column);
    if (value && *value <= 0) {
      throw Error(Location{table_.file(), table_.line(row), static_cast<int>(column) + 1},
                  fmt::format("{}: must be above 0", name));
    }
    return value;
  }

  // Whether the row matches the job's innermost level; without levels, replicas synchronise in
  // every step.
  bool of_my_levels(std::size_t row) const {
    const SyncLevel level = job_.sync.empty() ? SyncLevel{} : job_.sync.front();
    const std::optional<double> every = positive(row, "every");
    const std::optional<double> islands = positive(row, "islands");
    if (every && *every != level.every_steps) return false;
    if (islands && *islands != job_.layout.islands()) return false;
    if (!table_.has("sync_compressor")) return true;
    const std::string& name = table_.text(row, table_.column("sync_compressor"));
    return name.empty() || name == with_usual(level.compressor).name;
  }

  bool is_mine(std::size_t row) {
    if (!of_my_levels(row)) return false;
    if (table_.has("compressor")) {
      const std::string& name = table_.text(row, table_.column("compressor"));
      if (!name.empty()) compressors_.insert(name);
      if (!name.empty() && name != compressor_.name) return false;
    }
    for (const NumberColumn& number : kNumbers) {
      const std::optional<double> value = positive(row, number.name);
      if (value && *value != compressor_.*number.member) return false;
    }
    return true;
  }

  void add(std::size_t row) {
    const std::optional<double> steps = positive(row, "steps");
    const std::optional<double> batch = positive(row, "global_batch");
    const Location where{table_.file(), table_.line(row), static_cast<int>(steps_column_) + 1};
    constexpr double kMost = 1e12;  // the limit of job.steps
    if (!steps || *steps > kMost) throw Error(where, "steps: expected a number up to 1e12");
    if (!is_mine(row)) return;
    const bool twice = batch ? !by_batch_.try_emplace(*batch, *steps).second : any_batch_ > 0;
    if (twice || (any_batch_ > 0 && batch) || (!batch && !by_batch_.empty())) {
      throw Error(where, "there is already a row for the same compressor and batch");
    }
    if (!batch) any_batch_ = *steps;
  }

  CsvTable table_;
  const Job& job_;
  CompressorChoice compressor_;
  std::size_t steps_column_ = 0;
  std::map<double, double> by_batch_;
  double any_batch_ = 0;
  std::set<std::string> compressors_;
};

}  // namespace

double resolve_steps(const Values& values, NamedFiles& files, const Job& job) {
  if (job.network && values.has("job.tokens")) {
    values.fail("job.tokens",
                fmt::format("model '{}' has samples, not tokens; use job.steps", job.model.name));
  }
  const bool tokens = values.has("job.tokens");
  if (values.has("job.steps")) {
    if (tokens)
      values.fail("job.steps", "job.tokens also says how long to train; keep one of them");
    if (values.has("job.quality"))
      values.fail("job.steps", "job.quality also says how many; keep one of them");
    return values.number("job.steps");
  }
  if (!values.has("job.quality")) return 0;
  if (tokens)
    values.fail("job.quality", "job.tokens also says how long to train; keep one of them");
  const std::string& name = values.text("job.quality");
  return values.about("job.quality", [&] {
    return Curve(CsvTable::parse(files.text(name), files.path(name)), job).steps();
  });
}

}  // namespace windtunnel
