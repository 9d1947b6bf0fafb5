// These are rows of the field table below "cluster".

#include <string>

#include "models/base/units.hpp"
#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

Rows machine_rows() {
  return {
      map_row("cluster", required, example("{nodes: 2048, node: dgx-h100}"),
              "the machine on which the job runs"),
      whole_row(
          "cluster.nodes", sets<&Cluster::nodes>, range(1, 1e6), optional, example("2048"),
          "nodes of the job; with pools: a number up to all of their nodes, which is the default"),
      map_row("cluster.storage", example("{write: 2 TB/s, read: 2 TB/s}"),
              "shared storage of the whole cluster"),
      bandwidth_row("cluster.storage.write", sets<&StorageSpec::write_Bps>, required,
                    example("2 TB/s"), "sustained bandwidth of writing"),
      bandwidth_row("cluster.storage.read", sets<&StorageSpec::read_Bps>, required,
                    example("2 TB/s"), "sustained bandwidth of reading"),
      duration_row("cluster.storage.latency", sets<&StorageSpec::latency_s>,
                   by_default(format_quantity(StorageSpec{}.latency_s.value, Dimension::seconds)),
                   "time to open and commit a file"),
      choice_row("cluster.storage.share", sets<&StorageSpec::share>, above(0, 1), Scope::campaign,
                 "share of its bandwidth that snapshots of the job may take; advised intervals "
                 "respect it"),
      fact_row("cluster.storage.background", sets<&StorageSpec::background>, range(0, 0.999),
               example("0.2"), "share of its bandwidth that other jobs take on average"),
      fact_row("cluster.storage.startup", sets<&StorageSpec::startup_bytes>, Dimension::bytes,
               range(0, 1e18), optional, Scope::campaign, example("20 GB"),
               "bytes that every node reads at a restart in addition to a copy of the state: "
               "container image, packages, index of the data"),
      map_row("cluster.storage.storm", Scope::campaign, example("{nodes: 512, read: 100 GB}"),
              "other jobs that restart when this one does and read from the same storage"),
      whole_row("cluster.storage.storm.nodes", sets<&StorageStorm::nodes>, range(1, 1e6), required,
                Scope::campaign, example("512"), "nodes of the other jobs"),
      fact_row("cluster.storage.storm.read", sets<&StorageStorm::read_bytes>, Dimension::bytes,
               range(0, 1e18), required, Scope::campaign, example("100 GB"),
               "bytes that each node of the other jobs reads"),
      fact_row("cluster.storage.storm.chance", sets<&StorageStorm::chance>, range(0, 1),
               Scope::campaign, example("0.1"),
               "share of this job's restarts at which the other jobs restart, too"),
      list_row("cluster.slow_nodes", by_default("[]"), example("[{node: 3, slowdown: 1.2}]"),
               "stragglers"),
      map_row("cluster.slow_nodes.*", example("{node: 3, slowdown: 1.2}"), "one node"),
      whole_row("cluster.slow_nodes.*.node", sets<&SlowNode::node>, range(0, 1e6), required,
                example("3"), "number of the node, from 0"),
      fact_row("cluster.slow_nodes.*.slowdown", sets<&SlowNode::slowdown>, range(1, 1e4), required,
               example("1.2"), "factor by which computations on the node take longer"),
      list_row("cluster.degraded_nics", by_default("[]"),
               example("[{node: 3, nic: 0, factor: 0.5}]"), "NICs below their bandwidth"),
      map_row("cluster.degraded_nics.*", example("{node: 3, nic: 0, factor: 0.5}"), "one NIC"),
      whole_row("cluster.degraded_nics.*.node", sets<&DegradedNic::node>, range(0, 1e6), required,
                example("3"), "number of the node, from 0"),
      whole_row("cluster.degraded_nics.*.nic", sets<&DegradedNic::nic>, range(0, 1000), required,
                example("0"), "number of the NIC in its node, from 0"),
      fact_row("cluster.degraded_nics.*.factor", sets<&DegradedNic::factor>, range(1e-6, 1),
               required, example("0.5"), "share of the bandwidth that is left"),
  };
}

Rows jitter_rows() {
  return {
      map_row("cluster.jitter", example("{sigma: 0.03}"),
              "random variation of kernel times, by one law: sigma, exponential, pareto, "
              "gilbert_elliott, or share with slowdown"),
      fact_row("cluster.jitter.sigma", sets<&Jitter::sigma>, range(0, 2), optional, example("0.03"),
               "standard deviation of the logarithm of a log-normal factor of mean 1"),
      fact_row("cluster.jitter.exponential", sets<&Jitter::exponential>, range(0, 1e4), optional,
               example("0.1"), "mean of an exponential variable that is added to the factor 1"),
      fact_row("cluster.jitter.pareto", sets<&Jitter::pareto>, range(1.05, 1e6), optional,
               example("4"),
               "exponent of a Pareto factor: it is above x with probability x^-exponent"),
      fact_row("cluster.jitter.memory", sets<&Jitter::memory>, range(0, 0.9999), optional,
               example("0.9"),
               "sigma, exponential, pareto: correlation from step to step of the normal variable "
               "from which the factor is computed"),
      map_row("cluster.jitter.gilbert_elliott", example("{good: 500, bad: 20, slowdown: 1.3}"),
              "bursts: a good state, and a bad one in which kernels are slower"),
      fact_row("cluster.jitter.gilbert_elliott.good", sets<&Jitter::bursts, &Bursts::good>,
               range(1, 1e9), required, example("500"),
               "steps (or tasks) that the good state lasts on average; 1 / the probability of "
               "leaving it"),
      fact_row("cluster.jitter.gilbert_elliott.bad", sets<&Jitter::bursts, &Bursts::bad>,
               range(1, 1e9), required, example("20"),
               "steps (or tasks) that the bad state lasts on average"),
      fact_row("cluster.jitter.gilbert_elliott.slowdown", sets<&Jitter::bursts, &Bursts::slowdown>,
               range(1, 1e4), required, example("1.3"),
               "factor by which kernels take longer in the bad state"),
      fact_row("cluster.jitter.gilbert_elliott.tail", sets<&Jitter::bursts, &Bursts::tail>,
               range(1.05, 1e6), optional, example("3"),
               "exponent of a Pareto variable that multiplies the slowdown in each step of the bad "
               "state"),
      fact_row("cluster.jitter.share", sets<&Jitter::share>, range(0, 1), optional,
               example("0.005"),
               "share of the steps (or tasks) that are slow, independently of each other"),
      fact_row("cluster.jitter.slowdown", sets<&Jitter::slowdown>, range(1, 1e4), optional,
               example("1.1"), "factor by which kernels of the slow share take longer"),
      name_row("cluster.jitter.per", sets<&Jitter::per>, example("task"),
               "for how long a factor is kept"),
      name_row("cluster.jitter.of", sets<&Jitter::of>, example("node"),
               "the unit whose kernels share one factor"),
      whole_row("cluster.jitter.draws", sets<&Jitter::draws>, range(2, 1000), example("32"),
                "iterations that are drawn and simulated; the step time is their mean"),
      whole_row("cluster.jitter.seed", sets<&Jitter::seed>, range(0, 1e8),
                "seed of the random variation"),
  };
}

// Makes the keys of a node at path(""): the cluster's node or that of a pool.
Rows node_rows(const PathsBelow& path, bool of_pool) {
  return {
      map_row(path(""), shorthand("base"), required_if(of_pool), example("dgx-h100"),
              "kind of every node: a name of the library, or a base and the values that differ "
              "from it"),
      name_row(path(".base"), required, names(names_listed<library_nodes>), example("dgx-h100"),
               "the node of the library to start from"),
      whole_row(path(".gpus"), sets<&NodeSpec::gpus>, in_every_entry, range(1, 1000), example("8"),
                "GPUs, all in one NVLink domain"),
      bandwidth_row(path(".nvlink"), sets<&NodeSpec::nvlink_Bps>, in_every_entry,
                    example("450 GB/s"), "NVLink bandwidth per GPU and direction"),
      whole_row(path(".package_gpus"), sets<&NodeSpec::package_gpus>, in_entry, range(1, 1000),
                example("2"),
                "GPUs of a package, which are joined faster than the others of their node, such as "
                "the two dies of an MI250X"),
      bandwidth_row(path(".package"), sets<&NodeSpec::package_Bps>, in_entry, example("200 GB/s"),
                    "bandwidth inside a package, per GPU and direction"),
      whole_row(path(".nics"), sets<&NodeSpec::nics>, in_every_entry, range(1, 1000), example("8"),
                "NICs of the compute fabric"),
      bandwidth_row(path(".nic"), sets<&NodeSpec::nic_Bps>, in_every_entry, example("400 Gb/s"),
                    "bandwidth per NIC and direction"),
      bandwidth_row(path(".pcie"), sets<&NodeSpec::pcie_Bps>, in_every_entry, example("64 GB/s"),
                    "PCIe bandwidth between GPU and host, per GPU and direction"),
      fact_row(path(".host_memory"), sets<&NodeSpec::host_memory_bytes>, in_every_entry,
               Dimension::bytes, range(1e6, 1e15), example("2 TB"), "host memory of a node"),
      bandwidth_row(path(".host_memory_bandwidth"), sets<&NodeSpec::host_memory_Bps>,
                    in_every_entry, example("614 GB/s"), "bandwidth of the host memory of a node"),
      fact_row(path(".cpu_cores"), sets<&NodeSpec::cpu_cores>, in_every_entry, range(1, 1e6),
               example("112"), "CPU cores of a node"),
      bandwidth_row(path(".storage_nic"), sets<&NodeSpec::storage_nic_Bps>, in_every_entry,
                    example("50 GB/s"), "bandwidth towards storage, per node and direction"),
      bandwidth_row(path(".local_disk"), sets<&NodeSpec::local_disk_Bps>, in_entry,
                    example("14 GB/s"), "bandwidth of the drives of a node, per direction"),
      fact_row(path(".local_disk_capacity"), sets<&NodeSpec::local_disk_bytes>, in_entry,
               Dimension::bytes, above(0, 1e18), example("30 TB"),
               "capacity of all drives of the node, for offloaded state and snapshots of the tier "
               "local-disk"),
      name_row(
          path(".gpu_path"), sets<&NodeSpec::gpu_path>, in_entry, example("pcie"),
          "how GPUs of a node reach each other: over NVLink, or through PCIe and the host bridge"),
      bandwidth_row(path(".host_bridge"), sets<&NodeSpec::host_bridge_Bps>, in_entry,
                    example("37 GB/s"),
                    "bandwidth of a node without NVLink for all bytes between its GPUs together"),
      bandwidth_row(path(".root_port"), sets<&NodeSpec::root_port_Bps>, in_entry,
                    example("18.75 GB/s"),
                    "bandwidth of a GPU's root port if it is less than its PCIe link, as when GPUs "
                    "share it: both directions together"),
      fact_row(path(".power_limit"), sets<&NodeSpec::power_limit_W>, in_entry, range(1, 1e5),
               optional, example("500"),
               "power limit of each GPU (nvidia-smi -pl), below that of its data sheet: clocks "
               "fall as under cluster.power.cap_watts"),
  };
}

// Makes the keys of a node's GPUs at path("").
Rows gpu_rows(const PathsBelow& path) {
  return {
      map_row(
          path(""), shorthand("base"), example("h100"),
          "kind of its GPUs: a name of the library, or a base and the values that differ from it"),
      name_row(path(".base"), names(names_listed<library_gpus>), example("h100"),
               "the GPU of the library to start from; default: the node's"),
      fact_row(path(".fp32"), sets<&GpuSpec::fp32_flops>, in_every_entry, Dimension::flops_per_s,
               above(0), example("66.9 TFLOP/s"), "dense peak of the vector units"),
      fact_row(path(".tf32"), sets<&GpuSpec::tf32_flops>, in_every_entry, Dimension::flops_per_s,
               at_least(0), example("494.7 TFLOP/s"),
               "dense peak of the matrix units in this format; 0: not supported"),
      fact_row(path(".fp16"), sets<&GpuSpec::fp16_flops>, in_every_entry, Dimension::flops_per_s,
               at_least(0), example("989.4 TFLOP/s"), "dense peak of the matrix units in fp16"),
      fact_row(path(".bf16"), sets<&GpuSpec::bf16_flops>, in_every_entry, Dimension::flops_per_s,
               at_least(0), example("989.4 TFLOP/s"), "dense peak of the matrix units in bf16"),
      fact_row(path(".fp8"), sets<&GpuSpec::fp8_flops>, in_every_entry, Dimension::flops_per_s,
               at_least(0), example("1978.9 TFLOP/s"), "dense peak of the matrix units in fp8"),
      fact_row(path(".fp4"), sets<&GpuSpec::fp4_flops>, in_every_entry, Dimension::flops_per_s,
               at_least(0), example("0 TFLOP/s"), "dense peak of the matrix units in fp4"),
      fact_row(path(".memory"), sets<&GpuSpec::memory_bytes>, in_every_entry, Dimension::bytes,
               range(1e6, 1e15), example("80 GB"), "memory of the GPU, as sold"),
      bandwidth_row(path(".memory_bandwidth"), sets<&GpuSpec::memory_Bps>, in_every_entry,
                    example("3.35 TB/s"), "peak bandwidth of the GPU memory"),
      fact_row(path(".sms"), sets<&GpuSpec::sms>, in_every_entry, range(1, 1e6), example("132"),
               "streaming multiprocessors, or the corresponding units of the chip"),
      fact_row(path(".l2"), sets<&GpuSpec::l2_bytes>, in_every_entry, Dimension::bytes,
               range(1, 1e12), example("50 MB"), "size of the L2 cache"),
  };
}

Rows pool_rows() {
  return {
      list_row(
          "cluster.pools", by_default("[]"),
          example(
              "[{name: new, nodes: 64, node: dgx-h100}, {name: old, nodes: 32, node: dgx-a100}]"),
          "nodes of several kinds, instead of nodes and node; nodes are numbered pool by pool"),
      map_row("cluster.pools.*", example("{name: new, nodes: 64, node: dgx-h100}"),
              "nodes of one kind"),
      text_row("cluster.pools.*.name", sets<&Pool::name>, required, example("new"),
               "name of the pool, for layout.place"),
      whole_row("cluster.pools.*.nodes", sets<&Pool::nodes>, range(1, 1e6), required, example("64"),
                "number of nodes of this kind"),
      fact_row("cluster.pools.*.price", sets<&Pool::price_usd_per_gpu_s>, Dimension::usd_per_gpu_s,
               at_least(0), optional, example("1 USD per gpu-hour"),
               "price of one GPU; default: job.price"),
      text_row("cluster.pools.*.network", sets<&Pool::network>, optional, example("roce"),
               "a name of your choice; pools with different names cannot reach each other through "
               "their NICs and use cluster.common"),
      name_row("cluster.pools.*.calibration", by_default("auto"), names(calibration_names),
               files(".yaml"), example("a100-published"),
               "fitted constants of these nodes; auto: those fitted on their kind of GPU"),
      map_row("cluster.common", example("{bandwidth: 25 Gb/s}"),
              "the network that pools with different networks share, such as Ethernet; only the "
              "nodes' links to it limit the rate"),
      bandwidth_row("cluster.common.bandwidth", sets<&CommonNetwork::node_Bps>, required,
                    example("25 Gb/s"), "bandwidth per node and direction"),
      duration_row("cluster.common.latency", sets<&CommonNetwork::latency_s>, by_default("30 us"),
                   "latency of a message, in addition to its switches"),
  };
}

}  // namespace

Rows cluster_rows() {
  return joined({machine_rows(), jitter_rows(), node_rows({"cluster.node"}, false),
                 gpu_rows({"cluster.node.gpu"}), pool_rows(),
                 node_rows({"cluster.pools.*.node"}, true), gpu_rows({"cluster.pools.*.node.gpu"}),
                 fabric_rows()});
}

}  // namespace windtunnel
