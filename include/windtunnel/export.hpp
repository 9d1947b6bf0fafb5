// What libwindtunnel.so shows. Write windtunnel::Case, windtunnel::simulate(): all nouns and verbs
// are names of namespace windtunnel. They are declared in one beside it, so that the implementation
// may have a Case and a Schedule of its own.
#pragma once

#define WINDTUNNEL_API __attribute__((visibility("default")))

namespace windtunnel_api {}
namespace windtunnel {
using namespace windtunnel_api;
}
