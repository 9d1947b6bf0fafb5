// The program: the core's commands, and the names of its sibling's commands.
#include "cli/program/program.hpp"
#include "cli/program/sibling.hpp"

namespace windtunnel {
namespace {

std::vector<Command> commands() {
  std::vector<Command> all = {
      {"plan", "plan a training from a machine, a model and a number of tokens", define_plan},
      {"import", "turn the configuration of a training program into a scenario", define_import},
      {"init", "write an annotated scenario to start from", define_init},
      {"run", "simulate a scenario: step time, memory, goodput, report", define_run},
      {"diagnose", "check from its log whether a run is as fast as it should be, and if not, why",
       define_diagnose},
      {"compare", "simulate a scenario at every combination of varied values", define_compare},
      {"sweep",
       "simulate months of training at every point of a grid, in shards that can be resumed",
       define_sweep},
      {"optimise", "find the best layout, schedule, micro-batch and recomputation that fit",
       define_optimise, "optimize"},
      {"expect",
       "predict the time of a collective by size, and compare it with a log of nccl-tests",
       define_expect},
      {"serve", "serve a page whose figures follow as you change layout, schedule and failures",
       define_serve},
      {"mcp", "offer these commands as tools to AI agents (MCP), over stdin and stdout",
       define_mcp},
      {"list", "list what a scenario can name, with numbers and their origins", define_list},
      {"schema", "print the JSON Schema of scenarios", define_schema},
      {"report", "write the page of an earlier run again", define_report},
      {"schedule", "list, show, search, export and import pipeline schedules", define_schedule},
      {"trace", "export tasks as Chakra execution traces, or simulate such traces", define_trace}};
  for (const auto& [name, help] : kSiblingCommands) all.push_back({name, help, nullptr});
  all.push_back(
      {"completion", "print the completion script for bash, zsh or fish", define_completion});
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
