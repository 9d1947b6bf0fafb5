// What a collective is expected to take, as an answer: a row for each size with its 90 % interval,
// a chart of the bus bandwidth, and beside a log what would explain the difference.
#pragma once

#include "report/text/answer.hpp"
#include "sim/study/expect/log_causes.hpp"

namespace windtunnel {

// `machine`: as people call it. The curve has to outlive the answer.
Answer expect_answer(const ExpectedCurve& curve, const std::string& machine);
// With the log beside it.
Answer expect_answer(const LogReading& reading, const std::string& machine);

}  // namespace windtunnel
