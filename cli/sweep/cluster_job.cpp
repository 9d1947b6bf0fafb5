#include "cli/sweep/cluster_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "cli/program/override_options.hpp"
#include "cli/program/shell_line.hpp"
#include "models/base/error.hpp"
#include "models/base/quantity_range.hpp"

namespace windtunnel {
namespace {

constexpr long kMinute = 60, kHour = 3600, kDay = 86400;

bool is_one_word(std::string_view text, bool hash = false) {
  return !text.empty() && text.front() != '-' && std::ranges::all_of(text, [&](unsigned char c) {
    return std::isgraph(c) != 0 && c != '\'' && c != '"' && c != '\\' && (c != '#' || hash);
  });
}

// `hash`: the value may contain '#', where sbatch stops reading a line.
void check_word(const char* option, const std::string& value, const char* example,
                bool hash = false) {
  if (value.empty() || is_one_word(value, hash)) return;
  throw Error(fmt::format("{} '{}': expected one word without spaces and quotes, as in {}", option,
                          value, example));
}

// Refuses control characters, which could begin another line of the script.
void check_line(const char* option, const std::string& value) {
  const bool clean =
      std::ranges::none_of(value, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (clean) return;
  throw Error(fmt::format(
      "{}: contains a line break or another control character; repeat --option for several options",
      option));
}

void check_memory(const std::string& memory) {
  if (memory.empty()) return;
  const size_t digits = memory.find_first_not_of("0123456789");
  const bool fits = digits != 0 && digits != std::string::npos && digits + 1 == memory.size() &&
                    std::string_view("KMGT").find(memory[digits]) != std::string_view::npos;
  if (fits && memory.find_first_not_of('0') != digits) return;
  throw Error(
      fmt::format("--memory '{}': expected a whole number with K, M, G or T (powers of "
                  "1024), as in 4G",
                  memory));
}

// Refuses options that the program sets itself, and names the one to use.
void check_own(const std::string& option) {
  struct Own {
    const char* name;
    const char* instead;
  };
  static constexpr std::array kOwn = {
      Own{"--array", "take --shards"},
      Own{"-a", "take --shards"},
      Own{"--cpus-per-task", "take --cpus"},
      Own{"-c", "take --cpus"},
      Own{"--cpus", "take --cpus"},
      Own{"--output", "logs are written to shard-I.log"},
      Own{"-o", "logs are written to shard-I.log"},
      Own{"--stdout", "logs are written to shard-I.log"},
      Own{"--stderr", "logs are written to shard-I.log"},
      Own{"--dependency", "the merge uses it to wait for the shards"},
      Own{"-d", "the merge uses it to wait for the shards"},
      Own{"--parsable", "the program reads the answer"},
      Own{"--wrap", "the script is written"},
      Own{"--wait", "the program waits itself"}};
  const std::string_view name = std::string_view(option).substr(0, option.find_first_of("= "));
  for (const Own& own : kOwn) {
    if (name != own.name) continue;
    throw Error(fmt::format("--option '{}': {} is set by `sweep submit`; {}", option, own.name,
                            own.instead));
  }
}

void check_options(const ClusterJob& job) {
  for (const std::string& option : job.options) {
    check_line("--option", option);
    if (!option.starts_with('-')) {
      throw Error(
          fmt::format("--option '{0}': expected an option of {1} with its dashes, as in "
                      "--option={2}",
                      option, job.engine == Engine::ssh ? "ssh" : name_of(job.engine),
                      job.engine == Engine::ssh ? "'-p 2222'" : "--constraint=h100"));
    }
    if (job.engine != Engine::ssh) check_own(option);
  }
}

struct Taken {
  const char* option;
  bool given;
  std::vector<Engine> by;
  const char* instead;  // for the other engines
};

void check_taken(const ClusterJob& job) {
  using enum Engine;
  const std::vector<Taken> all = {
      {"--partition", !job.partition.empty(), {slurm}, ""},
      {"--account", !job.account.empty(), {slurm}, ""},
      {"--qos", !job.qos.empty(), {slurm}, ""},
      {"--time", !job.time.empty(), {slurm, kubernetes, hyperqueue}, ""},
      {"--memory", !job.memory.empty(), {slurm, kubernetes}, ""},
      {"--container",
       !job.container.empty(),
       {slurm, kubernetes},
       "take --wrapper 'apptainer exec IMAGE'"},
      {"--wrapper", !job.wrapper.empty(), {slurm, hyperqueue, ssh}, "take --container IMAGE"},
      {"--option",
       !job.options.empty(),
       {slurm, hyperqueue, ssh},
       "print the manifest with --print and change it"},
      {"--namespace", !job.name_space.empty(), {kubernetes}, ""},
      {"--claim", !job.claim.empty(), {kubernetes}, ""}};
  for (const Taken& each : all) {
    if (!each.given || std::ranges::find(each.by, job.engine) != each.by.end()) continue;
    std::string engines;
    for (const Engine engine : each.by) {
      engines += fmt::format("{}--{}", engines.empty() ? "" : ", ", name_of(engine));
    }
    const std::string instead = each.instead;
    throw Error(fmt::format("{} applies to {}, not to --{}{}", each.option, engines,
                            name_of(job.engine), instead.empty() ? "" : "; " + instead));
  }
}

void check_kubernetes(const ClusterJob& job) {
  if (job.container.empty()) {
    throw Error(
        "--kubernetes runs containers: name the image that holds windtunnel with "
        "--container IMAGE");
  }
  const size_t colon = job.claim.find(':');
  const std::string path = colon == std::string::npos ? "" : job.claim.substr(colon + 1);
  if (colon == 0 || !path.starts_with('/')) {
    throw Error(
        fmt::format("--claim '{}': expected NAME:PATH, the claim of the volume that holds "
                    "the sweep's folder and where the pods mount it, as in sweeps:/sweeps",
                    job.claim));
  }
  const std::string below = path.ends_with('/') ? path : path + "/";
  if (job.folder.starts_with(below)) return;
  throw Error(
      fmt::format("the folder {} is not below {}, where the pods mount the volume: state its name "
                  "in the pods, as in --folder {}out",
                  job.folder, path, below));
}

// Parses "1-12:30" and the like; nothing if it is not one of Slurm's time formats.
std::optional<long> slurm_time_s(std::string_view text) {
  const size_t dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  std::vector<long> parts;
  const auto read = [&parts](std::string_view digits) {
    long value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    parts.push_back(value);
    return error == std::errc() && end == digits.data() + digits.size() && value >= 0 &&
           value < 1000000;
  };
  long days = 0;
  if (has_days) {
    if (!read(text.substr(0, dash))) return {};
    days = parts.back();
    parts.clear();
    text = text.substr(dash + 1);
  }
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find(':', from), text.size());
    if (!read(text.substr(from, end - from))) return {};
    from = end + 1;
  }
  if (parts.size() > 3) return {};
  parts.resize(3, 0);
  if (has_days) return days * kDay + parts[0] * kHour + parts[1] * kMinute + parts[2];
  const auto colons = std::ranges::count(text, ':');
  if (colons == 2) return parts[0] * kHour + parts[1] * kMinute + parts[2];
  return parts[0] * kMinute + parts[1];
}

}  // namespace

const char* name_of(Engine engine) {
  switch (engine) {
    case Engine::slurm:
      return "slurm";
    case Engine::kubernetes:
      return "kubernetes";
    case Engine::hyperqueue:
      return "hyperqueue";
    case Engine::ssh:
      return "ssh";
  }
  return "";
}

void check_job(const ClusterJob& job) {
  check_taken(job);
  check_word("--partition", job.partition, "--partition gpu");
  check_word("--account", job.account, "--account project1");
  check_word("--qos", job.qos, "--qos normal");
  check_word("--container", job.container, "--container registry/windtunnel:1", true);
  check_word("--namespace", job.name_space, "--namespace sweeps");
  check_line("--wrapper", job.wrapper);
  check_line("the sweep's folder", job.folder);
  check_memory(job.memory);
  check_options(job);
  if (!job.time.empty()) time_limit_s(job.time);
  if (!job.container.empty() && !job.wrapper.empty()) {
    throw Error("--container and --wrapper are two ways into a container: take one of them");
  }
  if (job.engine == Engine::kubernetes) check_kubernetes(job);
  for (const std::string& host : job.hosts) {
    if (!is_one_word(host)) {
      throw Error(fmt::format(
          "--ssh: '{}' is not a host; expected [USER@]HOST,..., as in node1,node2", host));
    }
  }
}

long time_limit_s(const std::string& text) {
  std::optional<long> seconds = slurm_time_s(text);
  if (!seconds) {
    try {
      seconds = std::lround(std::ceil(parse_in_range(text, Dimension::seconds)));
    } catch (const Error&) {
      seconds = 0;
    }
  }
  constexpr long kMost = 1000 * kDay;
  if (*seconds > 0 && *seconds <= kMost) return *seconds;
  throw Error(
      fmt::format("--time '{}': expected the time limit of a shard, up to 1000 days: '90 min', '2 "
                  "h', or as in Slurm: 90 (minutes), 1:30:00, 1-12:00:00",
                  text));
}

std::string shard_command(const ClusterJob& job, const std::string& index) {
  const std::string threads = job.cpus > 0 ? fmt::format(" -j {}", job.cpus) : "";
  const std::string once =
      job.write_once > 0 ? fmt::format(" --write-once {}", job.write_once) : "";
  return fmt::format("{}{}{} sweep run {} --shard {}/{}{}{}", job.wrapper,
                     job.wrapper.empty() ? "" : " ", shell_word(job.program),
                     shell_word(job.folder), index, job.shards, threads, once);
}

std::string merge_command(const ClusterJob& job) {
  return fmt::format("{}{}{} sweep merge {}", job.wrapper, job.wrapper.empty() ? "" : " ",
                     shell_word(job.program), shell_word(job.folder));
}

std::string merge_here(const ClusterJob& job) {
  return fmt::format("{} sweep merge {}", shell_word(job.here), shell_word(job.place));
}

}  // namespace windtunnel
