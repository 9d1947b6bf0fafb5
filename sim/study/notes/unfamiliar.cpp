#include "sim/study/notes/unfamiliar.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace windtunnel {

std::vector<Note> unfamiliar_notes(const Familiarity& familiarity) {
  if (familiarity.unfamiliar.empty()) return {};
  return {{"calibration",
           fmt::format("the step is less sure than its calibration's error says, since {}",
                       fmt::join(familiarity.unfamiliar, " and ")),
           fmt::format("{:.0f} % more, one standard deviation",
                       100 * std::expm1(familiarity.deviation))}};
}

}  // namespace windtunnel
