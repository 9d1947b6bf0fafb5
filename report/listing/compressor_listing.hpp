// The compressors of the gradients, with the keys that each takes and their usual values.
#pragma once

#include "report/json/json.hpp"
#include "report/text/table.hpp"

namespace windtunnel {

TextTable compressor_table();
Json compressor_document();

}  // namespace windtunnel
