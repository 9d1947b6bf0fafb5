#include "tests/cli/small_step.hpp"

#include <fstream>

namespace windtunnel {

std::string small_step(const std::string& folder) {
  std::ofstream(folder + "/small.yaml")
      << "input: 64\nsource: this test\nlayers:\n  - {fc: 96}\n  - {fc: 32}\n";
  std::ofstream(folder + "/step.yaml") << "name: small\nmodel: small.yaml\n"
                                          "cluster: {nodes: 1, node: cpu-loopback}\n"
                                          "batch: {global: 32, micro: 16}\n"
                                          "precision: fp32\n"
                                          "software: {optimizer: sgd}\n"
                                          "communication: {overlap: blocking}\n";
  return folder + "/step.yaml";
}

}  // namespace windtunnel
