// Writes a job as the configuration of a training program. It applies the rows that read that
// program's settings (configuration_table.hpp) backwards, where a setting and its meaning map one
// to one. It then reads the result as `windtunnel import` does, and reports each key that does not
// come back.
#pragma once

#include <string>
#include <vector>

#include "scenarios/language/case.hpp"

namespace windtunnel {

// A key that the program would not use with the job's value.
struct UnsaidKey {
  std::string key;
  std::string value;     // of the job
  std::string launched;  // value after reading the configuration back; empty: not stated
};

struct Launch {
  std::string program;  // "megatron"
  std::string file;     // suggested file name: "launch.sh"
  std::string text;
  std::vector<UnsaidKey> unsaid;
  // Why the text is not a complete job without the unsaid keys; empty: it is complete.
  std::string why_not_whole = {};
};

// Returns "megatron", "bridge", "torchtitan", "deepspeed".
std::vector<std::string> launch_programs();

// The entry of software.yaml to plan with for a job that this program runs: the one that its
// configuration is read as, or another one that its settings can select. Throws Error with the
// nearest name.
const std::string& launch_software(const std::string& program);

// Throws Error with the nearest name for a program that has no writer, and what reading the
// scenario throws.
Launch launch_of(const ScenarioText& scenario, const std::string& program);

}  // namespace windtunnel
