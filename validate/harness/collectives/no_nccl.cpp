// In a build without NCCL's header, these functions say so and refuse to run.
#include "validate/harness/collectives/nccl_collectives.hpp"

namespace windtunnel {

std::string why_no_nccl() {
  return "built without NCCL";
}

std::string nccl_version() {
  return "";
}

std::unique_ptr<Collectives> nccl_collectives(TcpGroup& group, const DeviceShare& /*share*/) {
  agree(group, why_no_nccl());  // throws on every rank
  return nullptr;
}

}  // namespace windtunnel
