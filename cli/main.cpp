// The program: the core's commands, and the names of its sibling's commands.
#include "cli/program/program.hpp"
#include "cli/program/sibling.hpp"

namespace windtunnel {
namespace {

std::vector<Command> commands() {
  std::vector<Command> all = {
      {"plan", "from a machine, a model and a number of tokens to a training to start",
       define_plan},
      {"import", "the configuration of a training program as a scenario", define_import},
      {"init", "write an annotated scenario to start from", define_init},
      {"run", "simulate a scenario: step time, memory, goodput, report", define_run},
      {"diagnose", "is a run as fast as its job should be, and if not, why", define_diagnose},
      {"compare", "simulate it at every combination of varied values", define_compare},
      {"sweep", "months of it at every point of a grid, resumable and in shards", define_sweep},
      {"optimise", "the best layout, schedule, micro-batch and recomputation that fits",
       define_optimise},
      {"expect", "time of a collective by size, and a comparison with a log of nccl-tests",
       define_expect},
      {"serve", "a page that answers while layout, schedule and failures are dragged",
       define_serve},
      {"mcp", "its commands as tools for programs that plan by themselves, over stdin and stdout",
       define_mcp},
      {"list", "what can be named in a scenario, with numbers and origins", define_list},
      {"schema", "print the JSON Schema of scenarios", define_schema},
      {"report", "draw the page of an earlier run again", define_report},
      {"schedule", "pipeline schedules: list, show, search, export, import", define_schedule},
      {"trace", "write tasks as Chakra execution traces, or simulate such traces", define_trace}};
  for (const auto& [name, help] : kSiblingCommands) all.push_back({name, help, nullptr});
  all.push_back(
      {"completion", "print what bash, zsh or fish complete commands by", define_completion});
  all.push_back({"man", "print the manual page", define_man});
  return all;
}

constexpr const char* kExamples =
    "Examples:\n"
    "  windtunnel plan --cluster '64 x dgx-h100' --model llama3-70b --tokens '2 T' --out "
    "best.yaml\n"
    "  windtunnel run scenarios/llama3-405b.yaml --out out\n"
    "  windtunnel run scenarios/llama3-405b.yaml --set cluster.fabric.pod_oversubscription=1\n"
    "  windtunnel compare scenarios/llama3-405b.yaml --vary layout.vpp=1,2,4,8\n"
    "  windtunnel sweep scenarios/llama3-405b.yaml --vary 'snapshots.1.every=5 min:4 h:10log' "
    "--out out\n"
    "\n";

}  // namespace
}  // namespace windtunnel

int main(int argc, char** argv) {
  return windtunnel::run_program(
      {"windtunnel",
       "Predicts a training job on thousands of GPUs: how long an iteration takes, and how\n"
       "much of months of wall time becomes progress.\n",
       std::string(windtunnel::kExamples) + windtunnel::kExitCodes +
           ",\n3 points of a sweep are missing.\n",
       windtunnel::commands()},
      argc, argv);
}
