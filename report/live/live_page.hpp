// The page of `windtunnel serve`: controls on the left, and the answer, which follows them.
#pragma once

#include <string>

#include "report/live/live_study.hpp"

namespace windtunnel {

// The page is one file; its script sends requests to the server that it came from.
std::string live_page(const LiveStudy& study);

}  // namespace windtunnel
