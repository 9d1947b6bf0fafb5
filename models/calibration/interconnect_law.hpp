// How far a machine is from NCCL's own model of it: factors on NCCL's latencies per step
// (models/network/nccl/nccl_latencies.hpp), shares of the links' bandwidth, how much latency and
// bytes overlap (the exponent p), and how jobs on a shared fabric slow down. From specification
// (one layer of the library per GPU generation and transport), or fitted on nccl-tests of the
// machine.
//
// The formula that these numbers go into: docs/physics/collectives.md, "What a step and a byte
// cost". interconnect_law_fields() is the one list that readers, writers and the fit use.
#pragma once

#include <string_view>
#include <vector>

#include "models/base/origin.hpp"
#include "models/base/special_members.hpp"

namespace windtunnel {

// As it was fitted, with the others of its kind, on InfiniBand.
Parameter of_one_sided(double value, double low, double high);

struct InterconnectLaw {
  DECLARE_SPECIAL_MEMBERS(InterconnectLaw);
  bool stated = false;  // false: the calibration's five constants are all that is known

  // Factors on NCCL's microseconds.
  Parameter launch;
  Parameter node_step;
  Parameter net_ll_step;
  Parameter net_ll128_step;
  Parameter net_simple_step;
  Parameter tree_step;    // further, across nodes
  Parameter gather_step;  // further, all-gather and reduce-scatter
  Parameter nvls_launch;
  // Bytes of all channels' chunks: a tree passes so much on at a time, so that a step across nodes
  // takes as long as these bytes do (Simple; less where there is less to send).
  Parameter tree_chunk_bytes;
  // What a message across nodes waits for once it is too large to be sent at once.
  Parameter rendezvous_s;
  Parameter rendezvous_bytes;

  // Shares of the bandwidth of the GPU's port (node_*) and of the NICs (net_*).
  Parameter node_share;
  Parameter node_ll;  // further
  Parameter node_ll128;
  Parameter net_share;
  Parameter net_tree;
  Parameter net_ll;
  Parameter net_ll128;
  Parameter nvls_share;
  // Bytes of a member of the node that NVLS moves in its first round, a chunk for each channel:
  // until it is through, what it sends is not overlapped.
  Parameter nvls_round_bytes = {0, 0, 0, Origin::assumed, "within what nvls.overlap says"};
  // What the software copies instead of sending at once: rings in Simple whose share of a rank, S /
  // n, is at most small_bytes.
  Parameter small_share;  // further
  Parameter small_bytes;
  Parameter net_pairs;     // further, all-to-all
  Parameter net_shift;     // further, send-receive in a ring
  Parameter pair_step_s;   // per peer on another node
  Parameter ring_overlap;  // p
  Parameter tree_overlap;
  Parameter nvls_overlap;
  Parameter pairs_overlap;

  // All-to-alls that the GPUs write themselves (CollectiveAlgorithm::one_sided): seconds before
  // bytes flow, more where they cross nodes; shares of the bandwidth of the GPU's port and the
  // NICs.
  Parameter one_sided_launch_s = of_one_sided(28e-6, 15e-6, 45e-6);
  Parameter one_sided_step_s = of_one_sided(0, 0, 20e-6);
  Parameter one_sided_node = of_one_sided(0.71, 0.6, 0.82);
  Parameter one_sided_net = of_one_sided(0.87, 0.78, 0.94);

  // What NCCL's search found of the network's bandwidth, which its tuner counts with, as a share
  // of the NICs' (0: as models/network/nccl/nccl_channels.hpp finds it); whether it lets 128-byte
  // lines cross the network (1); and which release it is of, as 23 for NCCL 2.23.
  Parameter tuner_bandwidth;
  Parameter tuner_ll128;
  Parameter tuner_release;

  // A node (with its link) of a shared machine is slow during a job with probability slow_share, by
  // a factor whose logarithm is exponential with mean slow_log: a collective waits for the slowest.
  Parameter slow_share;
  Parameter slow_log;
  // Standard deviation of log(measured / law) otherwise: from 1 MB on, and below.
  Parameter noise_log;
  Parameter small_noise_log;
};

struct InterconnectLawField {
  std::string_view name;  // key in the file, "net.ll128"
  Parameter InterconnectLaw::*member;
  std::string_view unit;  // "" for a plain number
  bool fitted;            // by the least squares of validate/accuracy/collectives/collective_fit
  std::string_view help;
  // The value is a share, from 0 to 1. Other fitted values are factors above 0; the rest are at
  // least 0.
  bool is_share = false;
  bool required = true;  // of a law that states all of its numbers; otherwise its default stands
};

const std::vector<InterconnectLawField>& interconnect_law_fields();

// Median of a job's time on `nodes` over that without slow nodes: the largest of the nodes' factors
// has the distribution function (1 - slow_share e^(-x / slow_log))^nodes.
double slowdown(const InterconnectLaw& law, int nodes);
// The quantile `q` of the same factor's logarithm.
double slowdown_log(const InterconnectLaw& law, int nodes, double q);

}  // namespace windtunnel
