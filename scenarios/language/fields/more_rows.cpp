// The rows that a program brings beside the table: this one brings none.
#include "scenarios/language/fields/field_rows.hpp"

namespace windtunnel {

Rows more_rows() {
  return {};
}

}  // namespace windtunnel
