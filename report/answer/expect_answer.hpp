// The expected time of a collective as an answer: a row for each size with its 90 % interval, a
// chart of the bus bandwidth and, if there is a log, causes that would explain the difference.
#pragma once

#include "report/text/answer.hpp"
#include "sim/study/expect/log_causes.hpp"

namespace windtunnel {

// `machine` is its name in the text. The curve must outlive the answer.
Answer expect_answer(const ExpectedCurve& curve, const std::string& machine);
// Compares with a log of measured times.
Answer expect_answer(const LogReading& reading, const std::string& machine);

}  // namespace windtunnel
