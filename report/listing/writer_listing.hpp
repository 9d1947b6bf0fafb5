// The software that writes and reads snapshots, with what one process of it does.
#pragma once

#include "report/json/json.hpp"
#include "report/text/table.hpp"

namespace windtunnel {

TextTable snapshot_writer_table();
Json snapshot_writer_document();

}  // namespace windtunnel
