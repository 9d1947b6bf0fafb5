#include "models/calibration/interconnect_law.hpp"

#include <cmath>

namespace windtunnel {

DEFINE_SPECIAL_MEMBERS(InterconnectLaw);

Parameter of_one_sided(double value, double low, double high) {
  return {value,
          low,
          high,
          Origin::published,
          "fitted, together with the other constants of one_sided, on DeepEP V1's normal and "
          "low-latency kernels on 8, 32 and 128 H800 (github.com/deepseek-ai/DeepEP dd758caf, "
          "docs/legacy.md): residual 3 % rms",
          {{"moe_dispatch_2026.csv", "library~\"DeepEP\" && (gpus==8 || gpus==32 || gpus==128)"}}};
}

const std::vector<InterconnectLawField>& interconnect_law_fields() {
  using Law = InterconnectLaw;
  static const std::vector<InterconnectLawField> fields = {
      {"launch", &Law::launch, "", true, "factor on NCCL's latency per collective"},
      {"node.step", &Law::node_step, "", true, "factor on NCCL's latency per step inside a node"},
      {"net.ll_step", &Law::net_ll_step, "", true,
       "factor on NCCL's latency per step across nodes, LL"},
      {"net.ll128_step", &Law::net_ll128_step, "", true,
       "factor on NCCL's latency per step across nodes, LL128"},
      {"net.simple_step", &Law::net_simple_step, "", true,
       "factor on NCCL's latency per step across nodes, Simple"},
      {"net.tree_step", &Law::tree_step, "", true, "further factor on a tree's steps across nodes"},
      {"gather_step", &Law::gather_step, "", true,
       "further factor on the steps of all-gather and reduce-scatter"},
      {"nvls.launch", &Law::nvls_launch, "", true, "factor on NCCL's latency of NVLS"},
      {"net.tree_chunk", &Law::tree_chunk_bytes, "B", true,
       "bytes of a piece that a tree passes on across nodes, over all channels, Simple"},
      {"net.rendezvous", &Law::rendezvous_s, "s", true,
       "wait of a step across nodes when its message is not sent at once"},
      {"net.rendezvous_bytes", &Law::rendezvous_bytes, "B", false,
       "message size in bytes from which a step has the wait net.rendezvous"},
      {"node.share", &Law::node_share, "", true, "share of the GPU port's bandwidth, Simple"},
      {"node.ll", &Law::node_ll, "", true, "further share inside a node, LL"},
      {"node.ll128", &Law::node_ll128, "", true, "further share inside a node, LL128"},
      {"net.share", &Law::net_share, "", true, "share of the NICs' bandwidth, Simple"},
      {"net.tree", &Law::net_tree, "", true, "further share across nodes, trees"},
      {"net.ll", &Law::net_ll, "", true, "further share across nodes, LL"},
      {"net.ll128", &Law::net_ll128, "", true, "further share across nodes, LL128"},
      {"net.small", &Law::small_share, "", true,
       "further share across nodes, small parts of rings"},
      {"net.small_bytes", &Law::small_bytes, "B", false,
       "largest part of a rank that counts as small"},
      {"nvls.share", &Law::nvls_share, "", true, "share of the GPU port's bandwidth, NVLS"},
      {"nvls.round", &Law::nvls_round_bytes, "B", false,
       "bytes of each GPU of a node in the first round of NVLS, not overlapped", false, false},
      {"net.pairs", &Law::net_pairs, "", true, "further share across nodes, all-to-all"},
      {"net.shift", &Law::net_shift, "", true, "further share across nodes, send-receive"},
      {"net.pair_step", &Law::pair_step_s, "s", true, "time per peer on another node, all-to-all"},
      {"ring.overlap", &Law::ring_overlap, "", true,
       "exponent p by which rings combine latency and transfer; 1/2: pipelined, 1: one after the "
       "other, large: the longer one counts"},
      {"tree.overlap", &Law::tree_overlap, "", true, "as ring.overlap, for trees"},
      {"nvls.overlap", &Law::nvls_overlap, "", true, "as ring.overlap, for NVLS"},
      {"pairs.overlap", &Law::pairs_overlap, "", true,
       "as ring.overlap, for all-to-all and similar exchanges"},
      {"one_sided.launch", &Law::one_sided_launch_s, "s", false,
       "launch time of an all-to-all that GPUs write by themselves", false, false},
      {"one_sided.step", &Law::one_sided_step_s, "s", false,
       "additional time of such an all-to-all across nodes", false, false},
      {"one_sided.node", &Law::one_sided_node, "", false,
       "share of the GPU port's bandwidth, one-sided", true, false},
      {"one_sided.net", &Law::one_sided_net, "", false, "share of the NICs' bandwidth, one-sided",
       true, false},
      {"tuner.bandwidth", &Law::tuner_bandwidth, "", false,
       "share of the NICs' bandwidth that NCCL's tuner assumes; 0: the bandwidth that its search "
       "finds",
       true},
      {"tuner.ll128", &Law::tuner_ll128, "", false, "1: LL128 may cross the network; 0: not", true},
      {"tuner.release", &Law::tuner_release, "", false, "minor version of NCCL 2"},
      {"slow.share", &Law::slow_share, "", false,
       "probability that a node is slow during a job on a shared machine", true},
      {"slow.log", &Law::slow_log, "", false, "mean logarithm of the slowdown of a slow node"},
      {"noise.log", &Law::noise_log, "", false,
       "standard deviation of the logarithm of measured / law, from 1 MB on"},
      {"noise.small_log", &Law::small_noise_log, "", false, "as noise.log, below 1 MB"},
  };
  return fields;
}

double slowdown_log(const InterconnectLaw& law, int nodes, double q) {
  const double slow = -std::expm1(std::log(q) / nodes);  // 1 - q^(1/nodes)
  if (nodes < 2 || law.slow_share.value <= slow) return 0;
  return law.slow_log.value * std::log(law.slow_share.value / slow);
}

double slowdown(const InterconnectLaw& law, int nodes) {
  return std::exp(slowdown_log(law, nodes, 0.5));
}

}  // namespace windtunnel
