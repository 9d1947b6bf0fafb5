#include "scenarios/field_rows.hpp"

namespace windtunnel {

Rows more_rows() {
  return {};
}

}  // namespace windtunnel
