#include "report/store/sweep_lines.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "models/base/error.hpp"
#include "report/store/sweep_figures.hpp"
#include "report/store/sweep_ranking.hpp"
#include "scenarios/language/identity.hpp"
#include "traces/text/input_file.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostOpen = 200;  // a process may open 1,024 files

std::vector<std::string> part_paths(const std::string& folder) {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("part-") && name.ends_with(".jsonl")) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

// Whether the point has everything that merging reads.
bool is_complete(const Json& point, const Sweep& sweep, size_t index) {
  const auto set = point.find("set");
  if (set == point.end() || !set->is_object()) return false;
  const std::vector<size_t> places = places_of(sweep, index);
  for (size_t i = 0; i < places.size(); ++i) {
    const auto value = set->find(sweep.vary[i].key);
    if (value == set->end() || *value != sweep.vary[i].values[places[i]]) return false;
  }
  if (!has_result(point)) return point.contains("reason") && point["reason"].is_string();
  for (const char* part : {"mean", "low", "high"}) {
    if (!number_at(point, "campaign.goodput", part)) return false;
  }
  const auto trials = point.find("trial_goodput");
  return trials != point.end() && trials->is_array() &&
         std::ranges::all_of(*trials, [](const Json& trial) {
           // A share. A sum of far larger numbers would overflow.
           return trial.is_number() && std::abs(trial.get<double>()) < 1e6;
         });
}

// The index of the point that the line is a result of; negative: none in this sweep.
int index_of(const std::string& line, const SweepHead& head) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("index") || !json.contains("key")) return -1;
  if (!json["index"].is_number_integer() || !json["key"].is_string()) return -1;
  const int index = json["index"].get<int>();
  if (index < 0 || index >= static_cast<int>(head.keys.size())) return -1;
  if (key_number(json["key"].get_ref<const std::string&>()) != head.keys[index]) return -1;
  return is_complete(json, head.sweep, static_cast<size_t>(index)) ? index : -1;
}

}  // namespace

SweepHead head_of(const SweepPlan& plan) {
  SweepHead head{plan.version, plan.sweep, {}};
  for (const SweepCase& each : plan.cases) head.keys.push_back(each.key);
  return head;
}

SweepHead read_head(const std::string& folder) {
  SweepHead head;
  SweepPlan plan =
      read_cases(cases_path(folder), [&](const SweepCase& each) { head.keys.push_back(each.key); });
  head.version = std::move(plan.version);
  head.sweep = std::move(plan.sweep);
  return head;
}

SweepLines::SweepLines(const std::string& folder, const SweepHead& head)
    : paths_(part_paths(folder)), files_(paths_.size(), -1), places_(head.keys.size()) {
  for (size_t part = 0; part < paths_.size(); ++part) {
    index_part(static_cast<std::uint32_t>(part), head);
  }
}

SweepLines::~SweepLines() {
  close_all();
}

void SweepLines::index_part(std::uint32_t part, const SweepHead& head) {
  InputLines file(paths_[part]);
  std::uint64_t offset = 0;
  int number = 1;
  for (std::string line; file.next(line) && file.ended(); ++number) {
    const int index = index_of(line, head);
    if (index < 0) {
      throw Error(Location{paths_[part], number, 1},
                  "not a result of this sweep: remove the line; `windtunnel sweep resume` then "
                  "runs its point again");
    }
    const auto length = static_cast<std::uint32_t>(line.size() + 1);
    if (!has(index)) {
      places_[index] = {offset, part, length};
      ++finished_;
    }
    offset += length;
  }
}

std::vector<int> SweepLines::missing() const {
  std::vector<int> missing;
  for (size_t index = 0; index < places_.size(); ++index) {
    if (!has(index)) missing.push_back(static_cast<int>(index));
  }
  return missing;
}

int SweepLines::opened(std::uint32_t part) {
  if (files_[part] >= 0) return files_[part];
  if (open_ >= kMostOpen) close_all();
  files_[part] = InputFile(paths_[part]).release();
  ++open_;
  return files_[part];
}

void SweepLines::close_all() {
  for (int& file : files_) {
    if (file >= 0) close(file);
    file = -1;
  }
  open_ = 0;
}

std::string SweepLines::line(size_t index) {
  const Place& place = places_[index];
  std::string text(place.length, '\0');
  const int file = opened(place.part);
  for (size_t got = 0; got < text.size();) {
    const ssize_t n =
        pread(file, text.data() + got, text.size() - got, static_cast<off_t>(place.offset + got));
    if (n <= 0) throw Error(Location{paths_[place.part]}, "was changed while it was being read");
    got += static_cast<size_t>(n);
  }
  return text;
}

}  // namespace windtunnel
