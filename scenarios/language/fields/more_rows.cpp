#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows more_rows() {
  return {};
}

}  // namespace windtunnel
