// This is the range of a figure from the known errors of the models.
#pragma once

#include <optional>

#include "report/figures/figures.hpp"

namespace windtunnel {

// Where the fast end of a range of step times lies: at the time for the GPUs' peak FLOP/s if the
// error reaches beyond it, or where the error's law puts it (for chances).
enum class FastEnd { held_at_peak, by_the_law };

// The 95 % range of the figure, from the calibration's error on runs that it was not fitted on
// (error.step) and from its uncertain inputs. Nothing if the figure does not depend on step times
// and has certain inputs, or if the error is not known.
std::optional<FigureRange> model_range(const Figure& figure, const Record& record,
                                       FastEnd end = FastEnd::held_at_peak);

// On either side, the wider of this range and the interval of the mean over trials. Nothing if the
// range is not known.
std::optional<FigureRange> wider_range(const Figure& figure, const Record& record,
                                       FastEnd end = FastEnd::held_at_peak);

}  // namespace windtunnel
