// The kinds of measured_kinds(), each in a file of its own: rows of a table, not registrations. For
// these files alone, with what most of them need.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"
#include "models/results/record.hpp"
#include "scenarios/language/library/facts/gpu_names.hpp"
#include "scenarios/language/library/facts/model_names.hpp"
#include "scenarios/language/library/library.hpp"
#include "validate/accuracy/kinds/measured_kind.hpp"

namespace windtunnel {

MeasuredKind checkpoint_kind();
MeasuredKind dispatch_kind();
MeasuredKind rollout_kind();
MeasuredKind power_kind();
MeasuredKind failure_kind();

// What that case comes to, with its studies, whether it fits in memory or not.
Record simulate_row(const std::string& scenario);

// MeasuredKind::judge is this of rows with these columns.
template <class Row, const auto& kColumns, auto predict>
ValidationReport judge_with(const KindOptions& options) {
  return judge_files<Row>(options, kColumns, predict);
}

}  // namespace windtunnel
