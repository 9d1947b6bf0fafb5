// The cost of each error that NVIDIA's driver reports (Xid), by number: a row for each in
// xid_errors.cpp.
#pragma once

#include <string_view>

namespace windtunnel {

enum class XidCost {
  nothing,  // only informs, or follows another Xid that counts
  process,  // the application has to restart; the GPU continues
  node,     // the GPU has to be reset, or the node restarted or inspected
  fatal,    // `node` if the line calls the error fatal, else `nothing`
};

struct XidError {
  int first = 0, last = 0;  // range of numbers, inclusive
  XidCost cost = XidCost::nothing;
  std::string_view what;
};

const XidError* find_xid(int number);  // null: NVIDIA's list states no action for it

}  // namespace windtunnel
