// Every number of the field table is set to both ends of its range and just outside. Outside it is
// refused with its place; at an end the scenario runs to finite figures within seconds, or is
// refused in words. The scenario of a key is small.yaml with the examples of the maps and lists
// above it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "models/base/sanitizers.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/text/fields.hpp"
#include "sim/study/simulate.hpp"
#include "tests/sim/study/record_bounds.hpp"

namespace windtunnel {
namespace {

constexpr int kEndBlocks = 16;  // blocks run in parallel
constexpr auto kLongest = std::chrono::seconds(kAddressSanitizer || kThreadSanitizer ? 200 : 20);

const std::string kScenario = WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml";

bool is_number(const Field& field) {
  return field.scalar == ScalarType::integer || field.scalar == ScalarType::quantity ||
         field.scalar == ScalarType::interval;
}

// Replaces list patterns by the first item.
std::string concrete(std::string_view pattern) {
  std::string path;
  for (const std::string& part : split_path(pattern))
    path = join_path(path, part == "*" ? "0" : part);
  return path;
}

const std::set<std::string, std::less<>>& stated_keys() {
  static const std::set<std::string, std::less<>> kStated = {
      "cluster",  "cluster.node", "cluster.storage", "layout",    "batch",
      "model",    "schedule",     "communication",   "snapshots", "snapshots.*",
      "failures", "failures.*",   "recovery",        "campaign"};
  return kStated;
}

// Returns the settings above the key: one item of a list, the example of a map.
Overrides above(std::string_view path) {
  Overrides set;
  std::string parent;
  const std::vector<std::string> parts = split_path(path);
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    parent = join_path(parent, parts[i]);
    if (stated_keys().contains(parent) || parts[i] == "*") continue;
    const Field& field = *find_field(parent);
    const bool of_items = parts[i + 1] == "*";
    const std::string item =
        of_items ? std::string(find_field(parent + ".*")->example) : std::string(field.example);
    set.emplace_back(concrete(parent), of_items ? fmt::format("[{}]", item) : item);
  }
  return set;
}

Dimension dimension_of(const Field& field) {
  return field.scalar == ScalarType::interval ? Dimension::seconds : field.dimension;
}

std::string text_of(const Field& field, double value) {
  if (field.scalar == ScalarType::integer) return fmt::format("{:.0f}", value);
  return format_quantity(value, dimension_of(field));
}

// A double above 2^53 has no neighbour that is the next whole number.
std::vector<double> outside(const Field& field) {
  const bool whole = field.scalar == ScalarType::integer;
  const double below = whole ? field.low - 1 : field.low > 0 ? field.low / 2 : field.low - 1;
  return {below, whole && field.high < 1e15 ? field.high + 1 : field.high * 2};
}

std::vector<double> ends(const Field& field) {
  std::vector<double> ends = {field.low, field.high};
  if (field.or_zero) ends.push_back(0);
  return ends;
}

Overrides with(const Field& field, double value) {
  Overrides set = above(field.path);
  set.emplace_back(concrete(field.path), text_of(field, value));
  return set;
}

// Returns "", or what is wrong with the answer.
std::string fault_of(const Overrides& set, bool& ran) {
  try {
    const Case the_case = load_case(kScenario, set);
    const Record record = simulate(the_case, {.threads = 1, .allow_oom = true});
    ran = true;
    if (!std::isfinite(record.iteration.time_s) || record.iteration.time_s <= 0) {
      return fmt::format("a step of {} s", record.iteration.time_s);
    }
  } catch (const Error& error) {
    const bool words = error.text().size() > 10 && error.text().find("signal") == std::string::npos;
    return words ? "" : fmt::format("refused by '{}'", error.what());
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

struct Reply {
  bool ran = false;
  bool done = false;
  char fault[500] = {};
};

// The command runs in a process group of its own, so that all processes that it started can be
// ended.
class Watched {
 public:
  Watched()
      : reply_(static_cast<Reply*>(mmap(nullptr, sizeof(Reply), PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Watched() { munmap(reply_, sizeof(Reply)); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  Reply run(const Overrides& set) {
    new (reply_) Reply;
    const pid_t child = fork();
    if (child == 0) {
      setpgid(0, 0);
      const std::string fault = fault_of(set, reply_->ran);
      std::strncpy(reply_->fault, fault.c_str(), sizeof(Reply::fault) - 1);
      reply_->done = true;
      _exit(0);
    }
    const auto end = std::chrono::steady_clock::now() + kLongest;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) {
        kill(-child, SIGKILL);
        waitpid(child, &status, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    Reply reply = *reply_;
    if (!reply.done) std::strncpy(reply.fault, "no answer in time", sizeof(Reply::fault) - 1);
    return reply;
  }

 private:
  Reply* reply_;
};

std::string words(const Overrides& set) {
  std::string text;
  for (const auto& [key, value] : set) text += fmt::format(" --set {}='{}'", key, value);
  return text;
}

class NumberEnds : public testing::TestWithParam<int> {};

TEST_P(NumberEnds, AreRunOrRefusedInWords) {
  Watched watched;
  int runs = 0;
  int ran = 0;
  int index = 0;
  for (const Field& field : field_table()) {
    if (!is_number(field) || field.path.starts_with("jobs")) continue;
    if (index++ % kEndBlocks != GetParam()) continue;
    for (const double value : ends(field)) {
      const Overrides set = with(field, value);
      const Reply reply = watched.run(set);
      EXPECT_STREQ(reply.fault, "") << words(set);
      ++runs;
      ran += reply.ran;
    }
  }
  EXPECT_GT(5 * ran, runs) << "of " << runs << " only " << ran << " were not refused";
}

std::string block_name(const testing::TestParamInfo<int>& info) {
  return "Block" + std::to_string(info.param);
}

INSTANTIATE_TEST_SUITE_P(Blocks, NumberEnds, testing::Range(0, kEndBlocks), block_name);

TEST(NumbersOutside, AreRefusedWithTheirPlace) {
  for (const Field& field : field_table()) {
    if (!is_number(field) || field.path.starts_with("jobs")) continue;
    for (const double value : outside(field)) {
      const Overrides set = with(field, value);
      std::string message = "accepted";
      try {
        load_case(kScenario, set);
      } catch (const Error& error) {
        message = error.what();
      }
      const auto& [key, text] = set.back();
      EXPECT_TRUE(message.starts_with(fmt::format("--set {}={}: {}: must be ", key, text, key)))
          << message;
    }
  }
}

}  // namespace
}  // namespace windtunnel
