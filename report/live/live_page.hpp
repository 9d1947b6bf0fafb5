// The page of `windtunnel serve`: controls on the left, and the answer that follows them.
#pragma once

#include <string>

#include "report/live/live_study.hpp"

namespace windtunnel {

// One file, apart from the questions that its script asks of the server it came from.
std::string live_page(const LiveStudy& study);

}  // namespace windtunnel
