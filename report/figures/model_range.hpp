// How far a figure may be off by what is known of the models' errors.
#pragma once

#include <optional>

#include "report/figures/figures.hpp"

namespace windtunnel {

// Where the range of what follows from steps ends on the fast side: where the GPUs execute their
// peak, if the error reaches beyond it; or where the law of the error has it, from which chances
// follow.
enum class FastEnd { held_at_peak, by_the_law };

// Where the figure is with 95 % probability, for all that is known of the calibration's error on
// runs that it was not fitted on (error.step), and of its own inputs. Nothing: it does not follow
// from step times and its inputs are sure, or it is not known.
std::optional<FigureRange> model_range(const Figure& figure, const Record& record,
                                       FastEnd end = FastEnd::held_at_peak);

// The same or the interval of the figure's mean over trials, whichever is wider on either side.
// Nothing: its range is not known.
std::optional<FigureRange> wider_range(const Figure& figure, const Record& record,
                                       FastEnd end = FastEnd::held_at_peak);

}  // namespace windtunnel
