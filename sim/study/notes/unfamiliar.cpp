#include "sim/study/notes/unfamiliar.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace windtunnel {

std::vector<Note> unfamiliar_notes(const Familiarity& familiarity) {
  if (familiarity.unfamiliar.empty()) return {};
  return {{"calibration",
           fmt::format("the prediction reaches beyond what it was held against: {}",
                       fmt::join(familiarity.unfamiliar, ", ")),
           fmt::format("the most alike are {} runs of {} families, {}, predicted within {:.0f} % "
                       "(one standard deviation)",
                       familiarity.rows, familiarity.families, familiarity.alike,
                       100 * familiarity.deviation)}};
}

}  // namespace windtunnel
