#include "models/reliability/recovery.hpp"

#include "models/base/error.hpp"

namespace windtunnel {

void check_recovery(const RecoveryPolicy& recovery, int nodes) {
  if (recovery.hot_spares > recovery.spares) {
    throw Error::about({"recovery.hot_spares", "recovery.spares"},
                       "recovery.hot_spares: {} hot spares are more than the {} spares; set "
                       "recovery.spares to {} or more",
                       recovery.hot_spares, recovery.spares, recovery.hot_spares);
  }
  // If restarts took no time and never worked, the campaign would not end.
  if (recovery.success < 0.001 && recovery.restart_s == 0) {
    throw Error::about(
        {"recovery.restart", "recovery.success"},
        "recovery.restart must be more than 0 where recovery.success is below 0.001");
  }
  if (recovery.elastic.groups > nodes) {
    throw Error::about(
        {"recovery.elastic.groups", "cluster.nodes"},
        "recovery.elastic.groups: {} groups need at least as many nodes; the job has {}",
        recovery.elastic.groups, nodes);
  }
}

}  // namespace windtunnel
