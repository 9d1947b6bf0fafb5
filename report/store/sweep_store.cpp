#include "report/store/sweep_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "models/base/error.hpp"
#include "models/results/record.hpp"
#include "report/summary/summary.hpp"
#include "scenarios/language/identity.hpp"
#include "traces/text/input_file.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

std::string part_path(const std::string& folder, int shard) {
  return fmt::format("{}/part-{}.jsonl", folder, shard);
}

Json header_json(const SweepPlan& plan) {
  Json header = {
      {"format", kSweepFormat},
      {"version", plan.version},
      {"file", plan.sweep.scenario.file},
      {"set", overrides_json(plan.sweep.scenario.set)},
      {"vary", list_json(plan.sweep.vary,
                         [](const VariedKey& key) { return MEMBERS_JSON(key, key, values); })},
      {"points", plan.cases.size()},
      {"scenario", plan.sweep.scenario.text}};
  // Files are kept only if the sweep began from a record. A missing list does not mean that there
  // are none.
  const std::vector<NamedFile>& files = plan.sweep.scenario.files;
  if (!files.empty()) header["files"] = files_json(files);
  return header;
}

SweepPlan header_of(const Json& json) {
  SweepPlan plan;
  plan.version = json.at("version").get<std::string>();
  plan.sweep.scenario.file = json.at("file").get<std::string>();
  plan.sweep.scenario.text = json.at("scenario").get<std::string>();
  plan.sweep.scenario.set = overrides_of(json.at("set"));
  plan.sweep.scenario.files = files_of(json.value("files", Json::array()));
  for (const Json& key : json.at("vary")) {
    plan.sweep.vary.push_back(
        {key.at("key").get<std::string>(), key.at("values").get<std::vector<std::string>>()});
  }
  return plan;
}

std::string one_line(const Json& document) {
  return json_text(document, -1);
}

// Calls `use` with each line of cases.jsonl.
template <class Use>
void for_each_case_line(const SweepPlan& plan, Use use) {
  use(one_line(header_json(plan)));
  for (const SweepCase& each : plan.cases) {
    Json line = {{"index", each.index},
                 {"set", overrides_json(values_at(plan.sweep.vary, each.index))}};
    if (each.fault == nullptr) {
      line["key"] = key_text(each.key);
      line["table"] = key_text(each.table);
    } else {
      line["reason"] = each.reason();
    }
    use(one_line(line));
  }
}

// Reads cases.jsonl line by line, without keeping the cases.
class CaseReader {
 public:
  CaseReader(const std::string& file, std::function<void(const SweepCase&)> use)
      : file_(file), use_(std::move(use)) {}

  void take(const std::string& line) {  // `line` has no newline
    ++lines_;
    try {
      const Json json = parse_json(line, file_);
      if (lines_ == 1) {
        take_header(json);
      } else {
        use_(case_of(json));
      }
    } catch (const Json::exception& error) {
      fail(fault_of(error));
    }
  }

  SweepPlan end() {  // returns the plan without cases
    if (head_.version.empty()) throw Error(Location{file_}, "damaged: its first line is missing");
    const int cases = lines_ - 1;
    if (cases < 1 || static_cast<size_t>(cases) != points_) {
      throw Error(Location{file_}, fmt::format("damaged: {} points instead of {}", cases, points_));
    }
    return std::move(head_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Location{file_, lines_, 1}, fmt::format("damaged: {}", why));
  }

  void take_header(const Json& json) {
    if (json.value("format", "") != kSweepFormat) {
      throw Error(Location{file_}, "not cases of a sweep made by this version");
    }
    head_ = header_of(json);
    points_ = json.at("points").get<size_t>();
    if (points_ != grid_size(head_.sweep)) {
      fail(fmt::format("holds {} points of a grid of {}", points_, grid_size(head_.sweep)));
    }
  }

  SweepCase case_of(const Json& json) const {
    SweepCase read{.index = json.at("index").get<int>()};
    const auto place = static_cast<size_t>(lines_ - 2);
    if (std::cmp_not_equal(read.index, place)) fail("points are missing before this one");
    if (place >= points_) fail(fmt::format("the grid has {} points", points_));
    if (overrides_of(json.at("set")) != values_at(head_.sweep.vary, place)) {
      fail("not the values of this point of the grid");
    }
    const std::string reason = json.value("reason", "");
    if (!reason.empty()) {
      read.fault = std::make_shared<const Error>(reason);
    } else {
      read.key = number_at(json, "key");
      read.table = number_at(json, "table");
    }
    return read;
  }

  std::uint64_t number_at(const Json& json, const char* name) const {
    const std::string text = json.value(name, "");
    const std::optional<std::uint64_t> number = key_number(text);
    if (!number) fail(fmt::format("{} '{}' is none", name, text));
    if (*number == 0) fail(fmt::format("neither {} nor reason", name));
    return *number;
  }

  const std::string& file_;
  std::function<void(const SweepCase&)> use_;
  SweepPlan head_;
  size_t points_ = 0;
  int lines_ = 0;
};

// Calls `use` with each complete line.
template <class Use>
void for_each_line(const std::string& text, Use use) {
  size_t begin = 0;
  while (true) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) return;
    use(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

// Errors of storage that cannot append, or cannot read and write the same file.
bool cannot_append(int error) {
  return error == EPERM || error == ESPIPE || error == EINVAL || error == ENOTSUP ||
         error == ENOSYS;
}

[[noreturn]] void fail_write(const std::string& path) {
  const int error = errno;
  throw Error(Location{path},
              fmt::format("cannot write: {}{}", std::strerror(error),
                          cannot_append(error) ? "; on object storage take --write-once 60" : ""),
              ExitCode::failed);
}

}  // namespace

std::string cases_path(const std::string& folder) {
  return fmt::format("{}/{}", folder, kSweepFile);
}

void write_cases(const SweepPlan& plan, const std::string& file) {
  LineFile lines(file);
  for_each_case_line(plan, [&](const std::string& line) { lines.add(line); });
  lines.close();
}

std::string cases_text(const SweepPlan& plan) {
  std::string text;
  for_each_case_line(plan, [&](const std::string& line) { text += line; });
  return text;
}

SweepPlan read_cases(const std::string& file, const std::function<void(const SweepCase&)>& use) {
  CaseReader reader(file, use);
  InputLines lines(file);
  for (std::string line; lines.next(line) && lines.ended();) reader.take(line);
  return reader.end();
}

SweepPlan read_cases(const std::string& file) {
  std::vector<SweepCase> cases;
  SweepPlan plan = read_cases(file, [&](const SweepCase& each) { cases.push_back(each); });
  plan.cases = std::move(cases);
  return plan;
}

SweepPlan parse_cases(const std::string& text, const std::string& file) {
  std::vector<SweepCase> cases;
  CaseReader reader(file, [&](const SweepCase& each) { cases.push_back(each); });
  for_each_line(text, [&](const std::string& line) { reader.take(line); });
  SweepPlan plan = reader.end();
  plan.cases = std::move(cases);
  return plan;
}

std::string difference_of(const SweepPlan& old_plan, const SweepPlan& new_plan) {
  if (old_plan.version != new_plan.version) {
    return fmt::format("it was begun by version {}, and this is {}", old_plan.version,
                       new_plan.version);
  }
  const Sweep& was = old_plan.sweep;
  const Sweep& is = new_plan.sweep;
  const std::string& file = was.scenario.file;
  if (file != is.scenario.file) return fmt::format("it is of the scenario {}", file);
  if (was.scenario.text != is.scenario.text) {
    return fmt::format("the scenario {} has changed since", file);
  }
  if (was.vary != is.vary) return "it varies other values";
  if (was.scenario.set != is.scenario.set) return "it sets other values";
  if (old_plan.cases != new_plan.cases) return "a file that the scenario names has changed since";
  return "";
}

std::string point_line(const Sweep& sweep, const SweepCase& the_case, const SweepPoint& point) {
  Json line = {{"index", the_case.index},
               {"key", key_text(the_case.key)},
               {"scenario", point.scenario},
               {"set", set_json(values_at(sweep.vary, the_case.index))}};
  if (!point.campaign) {
    line["reason"] = point.reason;
    return one_line(line);
  }
  Record record;
  record.iteration = point.iteration;
  record.campaign = point.campaign;
  for (const char* part : {"time_s", "tokens_per_s", "mfu", "tflops_per_gpu"}) {
    line["iteration"][part] = number_of(figure(fmt::format("iteration.{}", part)).of(record));
  }
  line["result"] = campaign_json(record);
  record.studies = point.studies;
  for (const ShownStudy& study : shown_studies()) {
    place_figures(line, record, fmt::format("{}.", study.key));
  }
  line["job"] = job_facts(point.job);
  record.job = point.job;
  if (record.iteration.error.value > 0) line["cost_models"] = cost_models_text(record);
  line["trial_goodput"] = point.campaign->trial_goodput;
  return one_line(line);
}

SweepPart::SweepPart(const std::string& folder, int shard, int write_once_s)
    : path_(part_path(folder, shard)), write_once_s_(write_once_s) {
  if (write_once_s_ > 0) return;
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail_write(path_);
  // flock() would be kept by a simulating child of a killed process, so this uses fcntl locks. If
  // the file system has no locks, a second process cannot be detected.
  struct flock whole_file = {};
  whole_file.l_type = F_WRLCK;
  if (fcntl(file_, F_SETLK, &whole_file) != 0 && (errno == EACCES || errno == EAGAIN)) {
    close(file_);
    throw Error(Location{path_}, "another process is at work on this part of the sweep");
  }
  // Uses this descriptor: closing another descriptor of the file would release the lock.
  cut_off_torn_line();
}

void SweepPart::cut_off_torn_line() {
  const off_t size = lseek(file_, 0, SEEK_END);
  off_t end = size;
  for (char last = 0; end > 0; --end) {
    if (pread(file_, &last, 1, end - 1) != 1) fail_write(path_);
    if (last == '\n') break;
  }
  if (end < size && ftruncate(file_, end) != 0) fail_write(path_);
}

SweepPart::~SweepPart() {
  if (file_ >= 0) close(file_);
  try {
    finish();
  } catch (const Error&) {
    // Another error has already been reported; the lines kept back are lost and their points run
    // again.
  }
}

void SweepPart::write_all(int file, const std::string& path, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(file, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int reason = errno;
      if (file == file_) cut_off_torn_line();  // removes the partial line before the next one
      errno = reason;
      fail_write(path);
    }
    written += static_cast<size_t>(n);
  }
  // EINVAL: this kind of file cannot be synced.
  if (fsync(file) != 0 && errno != EINVAL) fail_write(path);
}

void SweepPart::append(const std::string& line) {
  if (write_once_s_ == 0) return write_all(file_, path_, line);
  kept_back_ += line;
  const auto elapsed = std::chrono::steady_clock::now() - begin_;
  if (elapsed >= (written_ + 1) * std::chrono::seconds(write_once_s_)) finish();
}

void SweepPart::finish() {
  if (kept_back_.empty()) return;
  const std::string stem = path_.substr(0, path_.rfind('.'));
  std::string path;
  int file = -1;
  do {
    path = fmt::format("{}-{}.jsonl", stem, next_file_++);
    file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) fail_write(path);
  try {
    write_all(file, path, kept_back_);
  } catch (...) {
    close(file);
    unlink(path.c_str());
    throw;
  }
  // Some object storages only report a failed upload on close.
  if (close(file) != 0) fail_write(path);
  ++written_;
  kept_back_.clear();
}

LineFile::LineFile(std::string path)
    : path_(std::move(path)), temporary_(fmt::format("{}.{}.tmp", path_, getpid())) {
  errno = 0;
  out_.open(temporary_, std::ios::binary);
  check();
}

LineFile::~LineFile() {
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void LineFile::add(const std::string& line) {
  errno = 0;
  out_ << line;
  check();
}

void LineFile::close() {
  errno = 0;
  out_.close();
  check();
  put_in_place(temporary_, path_);
}

void LineFile::check() const {
  if (!out_.fail()) return;
  const std::error_code error(errno != 0 ? errno : EIO, std::generic_category());
  throw Error(Location{path_}, fmt::format("cannot write: {}", error.message()), ExitCode::failed);
}

}  // namespace windtunnel
