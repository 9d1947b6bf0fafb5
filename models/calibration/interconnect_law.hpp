// How a machine differs from NCCL's own cost model: factors on NCCL's latencies per step
// (models/network/nccl/nccl_latencies.hpp), shares of the links' bandwidth, how much latency and
// transfer overlap (the exponent p), and how jobs on a shared fabric slow down. The values follow
// from specification (one library layer per GPU generation and transport) or are fitted on the
// machine's nccl-tests.
//
// The formula with these constants: docs/physics/collectives.md, "What a step and a byte cost".
// Readers, writers and the fit all use the list of interconnect_law_fields().
#pragma once

#include <string_view>
#include <vector>

#include "models/base/origin.hpp"
#include "models/base/special_members.hpp"

namespace windtunnel {

// A constant of one-sided all-to-alls, all of which were fitted together on InfiniBand.
Parameter of_one_sided(double value, double low, double high);

struct InterconnectLaw {
  DECLARE_SPECIAL_MEMBERS(InterconnectLaw);
  bool stated = false;  // false: only the calibration's five constants are known

  // Factors on NCCL's latencies.
  Parameter launch;
  Parameter node_step;
  Parameter net_ll_step;
  Parameter net_ll128_step;
  Parameter net_simple_step;
  Parameter tree_step;    // additional factor, across nodes
  Parameter gather_step;  // additional factor, all-gather and reduce-scatter
  Parameter nvls_launch;
  // Bytes of all channels' chunks. A tree forwards data in such chunks, so that in Simple a step
  // across nodes takes at least the transfer time of a chunk, or of all bytes if these are fewer.
  Parameter tree_chunk_bytes;
  // Additional wait of messages across nodes that are too large to be sent eagerly.
  Parameter rendezvous_s;
  Parameter rendezvous_bytes;

  // Shares of the bandwidth of the GPU's port (node_*) and of the NICs (net_*).
  Parameter node_share;
  Parameter node_ll;  // additional factor
  Parameter node_ll128;
  Parameter net_share;
  Parameter net_tree;
  Parameter net_ll;
  Parameter net_ll128;
  Parameter nvls_share;
  // Bytes per member of a node that NVLS moves in its first round, a chunk for each channel. This
  // round does not overlap with anything.
  Parameter nvls_round_bytes = {0, 0, 0, Origin::assumed, "within what nvls.overlap says"};
  // Rings in Simple are copied by the software instead of sent directly if a rank's share S / n is
  // at most small_bytes.
  Parameter small_share;  // additional factor
  Parameter small_bytes;
  Parameter net_pairs;     // additional factor, all-to-all
  Parameter net_shift;     // additional factor, send-receive in a ring
  Parameter pair_step_s;   // per peer on another node
  Parameter ring_overlap;  // exponent p
  Parameter tree_overlap;
  Parameter nvls_overlap;
  Parameter pairs_overlap;

  // All-to-alls that GPUs write directly to each other (CollectiveAlgorithm::one_sided): seconds
  // before data flows, with more across nodes; shares of the bandwidth of the GPU's port and of the
  // NICs.
  Parameter one_sided_launch_s = of_one_sided(28e-6, 15e-6, 45e-6);
  Parameter one_sided_step_s = of_one_sided(0, 0, 20e-6);
  Parameter one_sided_node = of_one_sided(0.71, 0.6, 0.82);
  Parameter one_sided_net = of_one_sided(0.87, 0.78, 0.94);

  // The network bandwidth that NCCL's topology search found and its tuner uses, as a share of the
  // NICs' (0: computed by models/network/nccl/nccl_channels.hpp); whether LL128 is allowed across
  // the network (1); and the release, 23 for NCCL 2.23.
  Parameter tuner_bandwidth;
  Parameter tuner_ll128;
  Parameter tuner_release;

  // On a shared machine, a node (with its link) is slow during a job with probability slow_share,
  // by a factor whose logarithm is exponential with mean slow_log. A collective waits for the
  // slowest.
  Parameter slow_share;
  Parameter slow_log;
  // Standard deviation of log(measured / law) apart from slow nodes: from 1 MB on, and below 1 MB.
  Parameter noise_log;
  Parameter small_noise_log;
};

struct InterconnectLawField {
  std::string_view name;  // key in the file, "net.ll128"
  Parameter InterconnectLaw::*member;
  std::string_view unit;  // "" for a plain number
  bool fitted;            // by the least squares of validate/accuracy/collectives/collective_fit
  std::string_view help;
  // The value is a share from 0 to 1. Other fitted values are factors above 0; all others are >= 0.
  bool is_share = false;
  bool required = true;  // if the law states its numbers; otherwise the default is used
};

const std::vector<InterconnectLawField>& interconnect_law_fields();

// Median time of a job on `nodes` nodes divided by its time without slow nodes. The largest of the
// nodes' factors has the distribution function (1 - slow_share e^(-x / slow_log))^nodes.
double slowdown(const InterconnectLaw& law, int nodes);
// Returns the quantile `q` of the logarithm of that factor.
double slowdown_log(const InterconnectLaw& law, int nodes, double q);

}  // namespace windtunnel
