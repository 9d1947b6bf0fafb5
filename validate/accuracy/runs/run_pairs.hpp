// Judges predicted speed-ups: pairs of measured runs of one source, compared as two points of a
// comparison are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/results/speed_up.hpp"

namespace windtunnel {

struct PairedRun {
  std::string source;                       // pairs are made within a source
  std::map<std::string, std::string> keys;  // of the run's scenario
  double predicted_s = 0;
  double measured_s = 0;
};

// One entry for each kind of pairs of which two publishers have some, from narrow to wide. Each
// publisher counts the same from ten pairs on, and in proportion with fewer. `error` and `share`
// have the largest likelihood, times the factor with which nine tenths of all pairs lie in the 90 %
// interval that the other publishers make.
std::vector<MeasuredPairs> judge_pairs(const std::vector<PairedRun>& runs);

}  // namespace windtunnel
