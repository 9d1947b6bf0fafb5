#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>

#include "traces/text.hpp"
#include "validate/accuracy/collective_machine.hpp"

namespace windtunnel {
namespace {

constexpr double kGbps = 1e9 / 8;  // bytes per second of a Gb/s

struct Word {
  std::string_view word;
  Transport transport;
};
// The first that stands in the text decides: TCPX-O before TCPX before TCP.
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
// Per port, where the text states no number. InfiniBand's names; generations of NICs.
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

// NVLink per GPU and direction by generation: data sheets of V100, A100, H100, B200.
constexpr std::array kNvlinkGenerations{80e9, 150e9, 300e9, 450e9, 900e9};

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

// Nominal port speeds in Gb/s.
constexpr std::array kNominal{10.0, 25.0, 40.0, 56.0, 100.0, 200.0, 400.0, 800.0};

// What a port delivers, "~49 GB/s", is a little less than its nominal speed.
double nominal_bandwidth(double delivered_Bps) {
  for (const double gbps : kNominal) {
    const double share = delivered_Bps / (gbps * kGbps);
    if (share <= 1 && share >= 0.85) return gbps * kGbps;
  }
  return delivered_Bps;
}

void read_inside(const std::string& low, NetworkText& out) {
  std::smatch match;
  static const std::regex nvlink(R"(nvlink[ -]?(?:gen ?)?([1-5])?)");
  if (std::regex_search(low, match, nvlink)) {
    out.nvlink = true;
    if (match[1].matched) out.nvlink_Bps = kNvlinkGenerations[std::stoi(match[1]) - 1];
  }
  if (has_word(low, "nvswitch") || has_word(low, "nvls")) out.nvlink = true;
  out.nvls = has_word(low, "nvls");
  out.sharp = has_word(low, "sharp") || has_word(low, "collnet");
  static const std::regex domain(R"(\bnvl ?-?(\d{1,4}))");
  if (std::regex_search(low, match, domain)) out.nvlink_domain = std::stoi(match[1]);
  if (out.nvlink_domain == 0 && has_word(low, "mnnvl")) out.nvlink_domain = 72;
  static const std::regex pcie(R"(pci(?:e|[ -]express)[ -]*(?:gen)?[ -]*([1-6])?)");
  if (std::regex_search(low, match, pcie)) {
    const int generation = match[1].matched ? std::stoi(match[1]) : 3;
    out.pcie_Bps = 16e9 * std::pow(2.0, generation - 3);  // 16 lanes
    if (!match[1].matched) out.assumed.emplace_back("PCIe generation 3");
  }
}

// A number with its unit as bytes per second; bytes are what a port delivers, bits its name.
double speed_Bps(const std::string& number, const std::string& unit, NetworkText& out) {
  const double value = std::stod(number);
  if (unit.starts_with("GB")) {
    const double nominal = nominal_bandwidth(value * 1e9);
    out.assumed.push_back(fmt::format("NICs of {:g} Gb/s", nominal / kGbps));
    return nominal;
  }
  return value * kGbps * (unit.starts_with('T') ? 1000 : 1);
}

// "8x400Gb/s", "400 GbE", "3.2 Tb/s", "~49 GB/s"; true where a number of ports stands before it.
bool read_speed(const std::string& text, NetworkText& out) {
  std::smatch match;
  static const std::regex times(
      R"((\d{1,3}) ?[xX*] ?(\d{1,5}(?:\.\d+)?) ?([gG](?:b/s|bps|bit/s|bE|B/s|\b)))");
  if (std::regex_search(text, match, times)) {
    out.nics = std::stoi(match[1]);
    out.nic_Bps = speed_Bps(match[2], match[3], out);
    return true;
  }
  static const std::regex alone(R"((\d{1,5}(?:\.\d+)?) ?(GB/s|[GT](?:b/s|bps|bit/s|bE|\b)))");
  if (std::regex_search(text, match, alone)) out.nic_Bps = speed_Bps(match[1], match[2], out);
  return false;
}

// "8-NIC", "4 NICs", "1 QSFP", "2x HDR", "dual-rail".
int counted_nics(const std::string& low) {
  std::smatch match;
  // Not the 11 of "Slingshot-11 NICs".
  static const std::regex count(
      R"((?:^|[^-\d.])(\d{1,3})[ -](?:nics?|hcas?|ports?|rails?|qsfp\w*|cx-?\d|connectx-?\d)\b)");
  static const std::regex times(
      R"((\d{1,3}) ?x ?(?:hpe |cray |mellanox |nvidia )?)"
      R"((?:slingshot|connectx|cx-?\d|[hnxe]dr|infiniband|ib\b|roce|nics?|efa))");
  if (std::regex_search(low, match, times) || std::regex_search(low, match, count)) {
    return std::stoi(match[1]);
  }
  if (has_word(low, "single")) return 1;
  if (has_word(low, "dual")) return 2;
  return has_word(low, "quad") ? 4 : 0;
}

void read_nics(const std::string& text, const std::string& low, NetworkText& out) {
  const bool counted = read_speed(text, out);
  const bool per_node =
      low.find("/node") != std::string::npos || low.find("per node") != std::string::npos;
  static const std::regex each(R"(nics? (?:per|for each|/) ?(?:gpu|rank)|/gpu\b|/rank\b)");
  if (!(counted && per_node) && std::regex_search(low, each)) {
    out.nics_per_gpu = out.nics > 0 ? out.nics : 1;
    out.nics = 0;
  } else if (!counted) {
    out.nics = counted_nics(low);
  }
  // One figure for a whole node, or one that no port has, is that of NICs of 400 Gb/s together.
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
