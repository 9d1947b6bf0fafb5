// What is known of each kind of failure, one row per kind. Whatever follows from the kind alone
// asks the row, so that another kind that stops the job is an enumerator, its word and a row here.
#pragma once

#include <algorithm>
#include <array>

#include "models/reliability/failure_process.hpp"

namespace windtunnel {

// What makes a failure noticed.
enum class NoticedBy {
  absence,     // heartbeats that are missing, or a collective that is stuck
  standstill,  // a collective that is stuck
  progress,    // a watchdog that compares the progress of ranks
  itself,
};

struct FailureTraits {
  FailureKind kind;
  bool of_nodes = true;  // it strikes nodes, not the job as a whole
  NoticedBy noticed = NoticedBy::standstill;
  bool unexpected = true;  // it interrupts or slows training, and nobody asked for it
  // The job resumes from an older state. For a slow node it does not, because a planned stop
  // replaces the node, nor for a bad copy, which a later failure finds.
  bool goes_back = true;
  bool takes_node = false;     // the node leaves for repair
  bool takes_link = false;     // the network's link is repaired
  bool spoils_copies = false;  // older copies than the newest may be needed

  // Such a failure interrupts the job even while it does not train.
  bool interrupts() const { return of_nodes && goes_back; }
  bool repaired() const { return takes_node || takes_link; }
};

inline constexpr std::array kFailureKinds = {
    FailureTraits{.kind = FailureKind::process, .noticed = NoticedBy::absence},
    FailureTraits{.kind = FailureKind::node, .noticed = NoticedBy::absence, .takes_node = true},
    FailureTraits{.kind = FailureKind::planned,
                  .of_nodes = false,
                  .noticed = NoticedBy::itself,
                  .unexpected = false,
                  .goes_back = false},
    FailureTraits{.kind = FailureKind::network, .takes_link = true},
    FailureTraits{.kind = FailureKind::hang},
    FailureTraits{.kind = FailureKind::slow_node,
                  .noticed = NoticedBy::progress,
                  .goes_back = false,
                  .takes_node = true},
    FailureTraits{.kind = FailureKind::corrupt_snapshot,
                  .of_nodes = false,
                  .noticed = NoticedBy::itself,
                  .unexpected = false,
                  .goes_back = false,
                  .spoils_copies = true},
    FailureTraits{.kind = FailureKind::loss_spike,
                  .of_nodes = false,
                  .noticed = NoticedBy::itself,
                  .spoils_copies = true}};

constexpr const FailureTraits& traits_of(FailureKind kind) {
  return *std::ranges::find(kFailureKinds, kind, &FailureTraits::kind);
}

}  // namespace windtunnel
