// Exported symbols of libwindtunnel.so. Write windtunnel::Case, windtunnel::simulate(): all types
// and functions are names in namespace windtunnel. They are declared in another namespace, so that
// the implementation can have its own Case and Schedule.
#pragma once

#define WINDTUNNEL_API __attribute__((visibility("default")))

namespace windtunnel_api {}
namespace windtunnel {
using namespace windtunnel_api;
}
