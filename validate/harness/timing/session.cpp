#include "validate/harness/timing/session.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "models/base/error.hpp"
#include "traces/rows/samples.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

using Key = std::pair<std::string, CacheState>;

// Returns complete rows only, because a row in which the writer was killed could be read with
// truncated numbers.
std::string_view whole_rows(std::string_view text) {
  return text.substr(0, text.rfind('\n') + 1);
}

// Returns the works in the file, without works of the drift check, which belong to the run that
// measured them.
std::set<Key> measured_before(const Session& session, const Team& team) {
  std::set<Key> keys;
  if (!std::filesystem::exists(session.samples_path)) return keys;
  const std::string text = read_file(session.samples_path);
  if (samples_header().starts_with(text)) {
    std::filesystem::resize_file(session.samples_path, 0);
    return keys;
  }
  const SampleFile file = parse_samples(whole_rows(text), session.samples_path);
  if (!text.starts_with(samples_header())) {
    throw Error(Location{session.samples_path, 1, 1},
                "its columns differ from those of this program; measure into another file");
  }
  const Device& device = team.device();
  const DeviceDescription here = device.describe();
  for (const UnusableRow& row : file.unusable) {
    throw Error(fmt::format("{}: {}; correct or remove the row, or measure into another file",
                            row.id, row.reason));
  }
  for (const Sample& sample : file.runs) {
    if (sample.backend != device.name || sample.device != here.name ||
        sample.driver != here.driver) {
      throw Error(
          fmt::format("{}: measured on {} '{}' with driver {}, but this is {} '{}' with {}; "
                      "measure into another file",
                      sample.id, sample.backend, sample.device, sample.driver, device.name,
                      here.name, here.driver));
    }
    if (sample.ranks != team.ranks()) {
      throw Error(
          fmt::format("{}: measured with --ranks {}, but this run has {}, and ranks share memory "
                      "and caches; measure with --ranks {} or into another file",
                      sample.id, sample.ranks, team.ranks(), sample.ranks));
    }
    if (sample.role != SampleRole::again) keys.insert({to_text(sample.work), sample.cache});
  }
  const std::size_t whole = whole_rows(text).size();
  if (whole < text.size()) std::filesystem::resize_file(session.samples_path, whole);
  return keys;
}

class SampleWriter {
 public:
  explicit SampleWriter(const std::string& path) : path_(path) {
    const bool fresh = !std::filesystem::exists(path) || std::filesystem::file_size(path) == 0;
    file_.reset(std::fopen(path.c_str(), "a"));
    if (file_ == nullptr) fail();
    if (fresh) write(samples_header());
  }
  void write(const std::string& line) {
    if (std::fputs(line.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(fmt::format("{}: {}", path_, std::strerror(errno)), ExitCode::failed);
  }
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace

SessionResult run_session(std::span<const TimedWork> works, Team& team, const Session& session) {
  const std::set<Key> before = measured_before(session, team);
  std::vector<TimedWork> missing;
  for (const TimedWork& work : works) {
    if (!before.contains({to_text(work.steps), work.cache})) missing.push_back(work);
  }
  SessionResult result;
  result.kept = static_cast<int>(before.size());
  SampleWriter writer(session.samples_path);
  MeasureEvents events;
  events.measured = [&](const Sample& sample) { writer.write(sample_row(sample)); };
  events.progress = session.progress;
  events.stopped = session.stopped;
  events.exceeds = session.exceeds;
  result.progress = measure(missing, team, session.options, events);
  result.complete = result.progress.done == result.progress.works;
  return result;
}

}  // namespace windtunnel
