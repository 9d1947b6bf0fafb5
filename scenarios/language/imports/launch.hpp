// A job as the configuration of a training program: the rows by which that program's settings are
// read (configuration_table.hpp), backwards, where they say one thing by one setting. What was
// written is read again as `windtunnel import` does, and whatever of the job does not come back so
// is named.
#pragma once

#include <string>
#include <vector>

#include "scenarios/language/case.hpp"

namespace windtunnel {

// A key whose value the program does not take over.
struct UnsaidKey {
  std::string key;
  std::string value;     // of the job
  std::string launched;  // what the written configuration makes of it; empty: it says nothing
};

struct Launch {
  std::string program;  // "megatron"
  std::string file;     // what it may be called: "launch.sh"
  std::string text;
  std::vector<UnsaidKey> unsaid;
  // Why the text is no whole job without the unsaid keys; empty: it is one.
  std::string why_not_whole = {};
};

// "megatron", "bridge", "torchtitan", "deepspeed".
std::vector<std::string> launch_programs();

// The entry of software.yaml that a plan is made for which is launched as this program: the one as
// which its configuration is read, or another that its settings can ask for. Throws Error with the
// nearest name.
const std::string& launch_software(const std::string& program);

// Throws Error with the nearest name for a program that nothing is written for, and what reading
// the scenario throws.
Launch launch_of(const ScenarioText& scenario, const std::string& program);

}  // namespace windtunnel
