// Data-parallel methods of exchange on one cluster, predicted from one law per network: what the
// links and the software of its collectives cost, fitted on some rows
// (traces/rows/compression_rows.hpp, the rows of HKBU-HPML/ddl-benchmarks) and frozen.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "traces/rows/compression_rows.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Constants of Calibration, all that is fitted.
struct LinkLaw {
  double launch_s = 0;    // of a collective
  double node_share = 0;  // of PCIe's bandwidth
  double node_step_s = 0;
  struct Network {
    double share = 0;  // of the NIC's bandwidth
    double step_s = 0;
  };
  std::map<std::string, Network> networks;  // by column network
  // Parameter servers (BytePS).
  double server_launch_s = 0;  // of a push and pull, and of each exchange in a node
  double server_share = 1;     // of the NIC's bandwidth, each way
  double copy_share = 1;       // of PCIe's, by copies to the host and back
  double connection_Bps = std::numeric_limits<double>::infinity();  // to a server, over TCP
  // Logarithms within which a step that was not fitted on is expected, nine times of ten.
  double unseen = 0;
  double server_unseen = 0;
};

// `network`: how column network begins.
void apply_links(const LinkLaw& law, std::string_view network, Calibration& calibration);

struct LinkRows {
  // In the order of the file. Those of the family "suspect" count for nothing.
  std::vector<ValidationRow> judged;
  std::vector<ValidationRow> fitted;
  std::vector<SkippedRow> skipped;
  LinkLaw law;
  double hook_s = 0;                      // ByteScheduler's, of a layer with weights
  std::map<std::string, double> alone_s;  // by column model: the step on one GPU
};

// Whether the rows of this source are such.
bool is_link_row(const CompressionRun& run);

// `fit`: which rows the law is fitted on. Throws Error where none of them is of a method without
// parts (BSP or WFBP all-reduce).
LinkRows validate_links(const std::vector<const CompressionRun*>& runs,
                        const std::function<bool(const CompressionRun&)>& fit, int threads);

// Pairs of methods for one model, network and number of GPUs.
struct PairOrder {
  int pairs = 0;  // that differ by more than 5 % as measured, at least one row of them judged
  int right = 0;
  std::vector<std::string> wrong;  // "BERT-Large, 10GbE, 8 GPUs: WFBP before MG-WFBP"
};
PairOrder order_of_pairs(const LinkRows& rows, bool with_servers);

}  // namespace windtunnel
