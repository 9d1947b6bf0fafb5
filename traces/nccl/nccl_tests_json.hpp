// The JSON that nccl-tests writes with -J FILE (src/util.cu, file versions 1 and 2): `args`,
// `nccl_version`, `config.devices`, and `results`, each with `out_of_place` and `in_place`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/nccl/nccl_tests.hpp"

namespace windtunnel {

// Throws Error with file:line:column of the faulty result.
std::vector<CollectiveRow> parse_nccl_tests_json(std::string_view text, const std::string& file,
                                                 const LogContext& log);

}  // namespace windtunnel
