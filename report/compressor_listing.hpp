// The compressors of the gradients, with the keys that each takes and their usual values.
#pragma once

#include "report/json.hpp"
#include "report/table.hpp"

namespace windtunnel {

TextTable compressor_table();
Json compressor_document();

}  // namespace windtunnel
