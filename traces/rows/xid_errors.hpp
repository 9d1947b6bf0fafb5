// What an error that NVIDIA's driver reports (Xid) costs, by its number: a row for each in
// xid_errors.cpp.
#pragma once

#include <string_view>

namespace windtunnel {

enum class XidCost {
  nothing,  // it only informs, or follows another Xid that counts
  process,  // the application has to start again; the GPU goes on
  node,     // the GPU has to be reset, or the node to be restarted or looked at
  fatal,    // node where the line calls the error fatal, else nothing
};

struct XidError {
  int first = 0, last = 0;  // numbers, both included
  XidCost cost = XidCost::nothing;
  std::string_view what;
};

const XidError* find_xid(int number);  // null: NVIDIA's list tells no action for it

}  // namespace windtunnel
