#include "models/base/origin.hpp"

namespace windtunnel {

const char* to_string(Origin origin) {
  return name_of(origin).data();  // a literal
}

}  // namespace windtunnel
