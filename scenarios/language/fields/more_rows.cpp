// Rows that a program adds to the table; windtunnel itself adds none.
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows more_rows() {
  return {};
}

}  // namespace windtunnel
