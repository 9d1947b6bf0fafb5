// The field numbers of et_def.proto (see chakra_wire.hpp) that are read and written.
#pragma once

namespace windtunnel::chakra {

namespace metadata_field {
enum : int { kVersion = 1, kAttribute = 2 };
}
namespace node_field {
enum : int {
  kId = 1,
  kName = 2,
  kType = 3,
  kCtrlDeps = 4,
  kDataDeps = 5,
  kDurationMicros = 7,
  kInputs = 8,
  kAttribute = 10
};
}
namespace io_info_field {
enum : int { kValues = 1 };
}
namespace attribute_field {
enum : int {
  kName = 1,
  kDouble = 3,
  kDoubleList = 4,
  kInt32 = 7,
  kInt64 = 9,
  kInt64List = 10,
  kUint64 = 13,
  kBool = 27,
  kString = 29,
  kStringList = 30,
  kLast = 32
};
}
inline constexpr int kListValues = 1;  // of every list message

}  // namespace windtunnel::chakra
