// `list attention`: the fused attention kernels that a scenario can name, on which GPUs, how fast.
#pragma once

#include "report/json/json.hpp"
#include "report/text/table.hpp"

namespace windtunnel {

TextTable attention_table();
Json attention_document();

}  // namespace windtunnel
