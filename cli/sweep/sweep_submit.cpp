// windtunnel sweep submit: shards as a Slurm array, and a merge after it.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "cli/sweep/sweep_command.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr int kDefaultShards = 16;

// What a command says on stdout; nothing when it failed.
std::optional<std::string> output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 4096> chunk{};
  while (const size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    text.append(chunk.data(), n);
  }
  const int status = pclose(pipe);
  const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return ended_well ? std::optional(text) : std::nullopt;
}

// Slurm's indices end below it; nothing where there is no Slurm to ask.
std::optional<int> most_shards() {
  std::istringstream lines(output_of("scontrol show config 2>/dev/null").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("MaxArraySize")) continue;
    const std::string value(trimmed(line.substr(line.find('=') + 1)));
    int number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    if (number > 0) return number;
  }
  return {};
}

struct Scripts {
  std::string shards, merge;
};

Scripts scripts_of(const std::string& folder, int shards, const SlurmOptions& options) {
  const std::string program = shell_word(fs::read_symlink("/proc/self/exe").string());
  const std::string word = shell_word(folder);
  Scripts scripts;
  scripts.shards = fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name=windtunnel-sweep\n"
      "#SBATCH --array=0-{}\n"
      "#SBATCH --cpus-per-task={}\n"
      "#SBATCH --output={}\n"
      "exec {} sweep run {} --shard auto/{} -j {}\n",
      shards - 1, options.cpus, shell_word(folder + "/slurm-%a.log"), program, word, shards,
      options.cpus);
  scripts.merge = fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name=windtunnel-merge\n"
      "#SBATCH --output={}\n"
      "exec {} sweep merge {}\n",
      shell_word(folder + "/slurm-merge.log"), program, word);
  return scripts;
}

std::string submitted(const std::string& arguments) {
  const std::optional<std::string> answer = output_of("sbatch --parsable " + arguments);
  if (!answer) {
    throw Error("sbatch failed or is not there; --print shows the scripts", ExitCode::failed);
  }
  return answer->substr(0, answer->find_first_of(";\n"));  // "ID" or "ID;cluster"
}

}  // namespace

ExitCode submit_sweep(const std::string& folder, const SlurmOptions& options) {
  const SweepPlan plan = open_sweep(folder);
  const std::string place = fs::absolute(folder).lexically_normal();
  const int points = static_cast<int>(plan.cases.size());
  int shards = std::min(options.shards > 0 ? options.shards : kDefaultShards, points);
  std::string note;
  if (const std::optional<int> most = most_shards(); most && *most < shards) {
    note = fmt::format("{} shards instead of {}: MaxArraySize of this cluster\n", *most, shards);
    shards = *most;
  }
  const Scripts scripts = scripts_of(place, shards, options);
  if (options.print) {
    print_result(scripts.shards + "\n" + scripts.merge);
    print_human(note, true);
    return ExitCode::ok;
  }
  const std::string shards_path = place + "/shards.sh", merge_path = place + "/merge.sh";
  write_file(shards_path, scripts.shards);
  write_file(merge_path, scripts.merge);
  const std::string id = submitted(shell_word(shards_path));
  // After any end: the merge also says what is missing.
  const std::string merge_id =
      submitted(fmt::format("--dependency=afterany:{} {}", id, shell_word(merge_path)));
  print_result(
      fmt::format("{}submitted {} shards as job {} and the merge as job {}; see: "
                  "windtunnel sweep status {}\n",
                  note, shards, id, merge_id, shell_word(folder)));
  return ExitCode::ok;
}

}  // namespace windtunnel
