// Reads a network from the text of a measured row, such as "InfiniBand NDR 8x400Gb/s/node":
// transport, NICs, bandwidths.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "validate/accuracy/collectives/collective_machine.hpp"

namespace windtunnel {
namespace {

constexpr double kGbps = 1e9 / 8;  // bytes per second of a Gb/s

struct Word {
  std::string_view word;
  Transport transport;
};
// The first word found in the text decides: TCPX-O comes before TCPX before TCP.
constexpr std::array kTransports{
    Word{"tcpxo", Transport::tcpxo},
    Word{"tcpx-o", Transport::tcpxo},
    Word{"fastrak", Transport::tcpxo},
    Word{"tcpx", Transport::tcpx},
    Word{"slingshot", Transport::slingshot},
    Word{"cassini", Transport::slingshot},
    Word{"efa", Transport::efa},
    Word{"elastic fabric", Transport::efa},
    Word{"roce", Transport::roce},
    Word{"spectrum-x", Transport::roce},
    Word{"infiniband", Transport::infiniband},
    Word{"ndr", Transport::infiniband},
    Word{"hdr", Transport::infiniband},
    Word{"edr", Transport::infiniband},
    Word{"xdr", Transport::infiniband},
    Word{"fdr", Transport::infiniband},
    Word{"quantum", Transport::infiniband},
    Word{"omni-path", Transport::infiniband},
    Word{"ib ", Transport::infiniband},
    Word{"rdma", Transport::roce},
    Word{"ethernet", Transport::tcp},
    Word{"gbe", Transport::tcp},
    Word{"socket", Transport::tcp},
    Word{"tcp", Transport::tcp},
};

struct Speed {
  std::string_view word;
  double gbps;
};
// Port speeds for names of InfiniBand and generations of NICs, if the text has no number.
constexpr std::array kSpeeds{
    Speed{"xdr", 800},          Speed{"ndr200", 200},       Speed{"ndr", 400},
    Speed{"hdr100", 100},       Speed{"hdr", 200},          Speed{"edr", 100},
    Speed{"fdr", 56},           Speed{"qdr", 32},           Speed{"slingshot-11", 200},
    Speed{"slingshot 11", 200}, Speed{"slingshot-10", 100}, Speed{"slingshot", 200},
    Speed{"connectx-8", 800},   Speed{"cx-8", 800},         Speed{"cx8", 800},
    Speed{"connectx-7", 400},   Speed{"cx-7", 400},         Speed{"cx7", 400},
    Speed{"connectx-6", 200},   Speed{"cx-6", 200},         Speed{"cx6", 200},
    Speed{"connectx-5", 100},   Speed{"cx-5", 100},         Speed{"cx5", 100},
    Speed{"omni-path", 100},
};

// Each generation's bytes per second per GPU and direction follow data sheets: V100, A100, H100,
// B200 are generations 2 to 5.
constexpr std::array kNvlinkGenerations{80e9, 150e9, 300e9, 450e9, 900e9};

// Patterns for numbers in the text. Speeds are case-sensitive, because GB/s differs from Gb/s; all
// others expect lower-case text.
struct Patterns {
  RE2 nvlink{R"(nvlink[ -]?(?:gen ?)?([1-5])?)"};
  RE2 nvlink_domain{R"(\bnvl ?-?(\d{1,4}))"};
  RE2 pcie{R"(pci(?:e|[ -]express)[ -]*(?:gen)?[ -]*([1-6])?)"};
  // Matches "8x400Gb/s".
  RE2 ports_and_speed{
      R"((\d{1,3}) ?[xX*] ?(\d{1,5}(?:\.\d+)?) ?([gG](?:b/s|bps|bit/s|bE|B/s|\b)))"};
  RE2 speed{R"((\d{1,5}(?:\.\d+)?) ?(GB/s|[GT](?:b/s|bps|bit/s|bE|\b)))"};
  // Matches "2x HDR".
  RE2 times{R"((\d{1,3}) ?x ?(?:hpe |cray |mellanox |nvidia )?)"
            R"((?:slingshot|connectx|cx-?\d|[hnxe]dr|infiniband|ib\b|roce|nics?|efa))"};
  // Matches "8-NIC", "4 NICs", "1 QSFP", but not the 11 of "Slingshot-11 NICs".
  RE2 count{
      R"((?:^|[^-\d.])(\d{1,3})[ -](?:nics?|hcas?|ports?|rails?|qsfp\w*|cx-?\d|connectx-?\d)\b)"};
  RE2 per_gpu{R"(nics? (?:per|for each|/) ?(?:gpu|rank)|/gpu\b|/rank\b)"};
};

const Patterns& patterns() {
  static const Patterns patterns;
  return patterns;
}

bool has_word(const std::string& text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if (at == 0 || std::isalpha(static_cast<unsigned char>(text[at - 1])) == 0) return true;
  }
  return false;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Ports are sold with these speeds in Gb/s.
constexpr std::array kNominal{10.0, 25.0, 40.0, 56.0, 100.0, 200.0, 400.0, 800.0};

// A measured port speed such as "~49 GB/s" is slightly below the nominal one.
double nominal_bandwidth(double delivered_Bps) {
  for (const double gbps : kNominal) {
    const double share = delivered_Bps / (gbps * kGbps);
    if (share <= 1 && share >= 0.85) return gbps * kGbps;
  }
  return delivered_Bps;
}

void read_inside(const std::string& low, NetworkText& out) {
  std::string generation;
  if (RE2::PartialMatch(low, patterns().nvlink, &generation)) {
    out.nvlink = true;
    if (!generation.empty()) out.nvlink_Bps = kNvlinkGenerations[std::stoi(generation) - 1];
  }
  if (has_word(low, "nvswitch") || has_word(low, "nvls")) out.nvlink = true;
  out.nvls = has_word(low, "nvls");
  out.sharp = has_word(low, "sharp") || has_word(low, "collnet");
  RE2::PartialMatch(low, patterns().nvlink_domain, &out.nvlink_domain);
  if (out.nvlink_domain == 0 && has_word(low, "mnnvl")) out.nvlink_domain = 72;
  if (RE2::PartialMatch(low, patterns().pcie, &generation)) {
    if (generation.empty()) out.assumed.emplace_back("PCIe generation 3");
    const int number = generation.empty() ? 3 : std::stoi(generation);
    out.pcie_Bps = 16e9 * std::pow(2.0, number - 3);  // 16 lanes
  }
}

// Converts a number with its unit to bytes per second. Bytes are delivered rates, bits nominal
// ones.
double bandwidth_of(double value, const std::string& unit, NetworkText& out) {
  if (unit.starts_with("GB")) {
    const double nominal = nominal_bandwidth(value * 1e9);
    out.assumed.push_back(fmt::format("NICs of {:g} Gb/s", nominal / kGbps));
    return nominal;
  }
  return value * kGbps * (unit.starts_with('T') ? 1000 : 1);
}

// Returns whether a number of ports precedes the speed.
bool read_speed(const std::string& text, NetworkText& out) {
  double speed = 0;
  std::string unit;
  const bool counted =
      RE2::PartialMatch(text, patterns().ports_and_speed, &out.nics, &speed, &unit);
  if (counted || RE2::PartialMatch(text, patterns().speed, &speed, &unit)) {
    out.nic_Bps = bandwidth_of(speed, unit, out);
  }
  return counted;
}

int counted_nics(const std::string& low) {
  int nics = 0;
  if (RE2::PartialMatch(low, patterns().times, &nics)) return nics;
  if (RE2::PartialMatch(low, patterns().count, &nics)) return nics;
  if (has_word(low, "single")) return 1;
  if (has_word(low, "dual")) return 2;
  return has_word(low, "quad") ? 4 : 0;
}

void read_nics(const std::string& text, const std::string& low, NetworkText& out) {
  const bool counted = read_speed(text, out);
  const bool per_node =
      low.find("/node") != std::string::npos || low.find("per node") != std::string::npos;
  if (!(counted && per_node) && RE2::PartialMatch(low, patterns().per_gpu)) {
    out.nics_per_gpu = out.nics > 0 ? out.nics : 1;
    out.nics = 0;
  } else if (!counted) {
    out.nics = counted_nics(low);
  }
  // A bandwidth of the whole node, or one too high for a port, is taken as the sum over NICs of 400
  // Gb/s.
  const double port_Bps = 400 * kGbps;
  if (out.nics == 0 && out.nics_per_gpu == 0 && (per_node || out.nic_Bps > 2 * port_Bps) &&
      out.nic_Bps > 0) {
    out.nics = std::max(1, static_cast<int>(std::lround(out.nic_Bps / port_Bps)));
    out.nic_Bps /= out.nics;
  }
  if (out.nic_Bps > 0) return;
  for (const Speed& speed : kSpeeds) {
    if (!has_word(low, speed.word)) continue;
    out.nic_Bps = speed.gbps * kGbps;
    return;
  }
}

}  // namespace

NetworkText read_network(const std::string& text) {
  NetworkText out;
  const std::string low = lower(text) + ' ';
  for (const Word& word : kTransports) {
    if (!has_word(low, word.word)) continue;
    out.transport = word.transport;
    out.names_transport = true;
    break;
  }
  if (!out.names_transport && low.find("unknown") != std::string::npos) {
    out.names_transport = true;
    out.assumed.emplace_back("InfiniBand");
  }
  read_inside(low, out);
  read_nics(text, low, out);
  return out;
}

}  // namespace windtunnel
