#include "models/base/origin.hpp"

namespace windtunnel {

const char* to_string(Origin origin) {
  switch (origin) {
    case Origin::measured:
      return "measured";
    case Origin::published:
      return "published";
    case Origin::spec:
      return "spec";
    case Origin::assumed:
      return "assumed";
  }
  return "unknown";
}

}  // namespace windtunnel
