#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "models/compression/compressors.hpp"
#include "report/listing/listing.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

// These are the keys of the method with their usual numbers: "rank 4, feedback ef".
std::string compressor_keys(const CompressorKind& kind) {
  std::vector<std::string> keys;
  for (const CompressorNumber& number : compressor_numbers()) {
    const double usual = kind.usual.*number.member;
    if (usual > 0) keys.push_back(fmt::format("{} {:g}", number.name, usual));
  }
  if (!kind.usual.base.empty()) keys.push_back(fmt::format("base {}", kind.usual.base));
  if (takes_feedback(kind)) {
    keys.push_back(fmt::format("feedback {}", name_of(kind.usual.feedback)));
  }
  return fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace

TextTable compressor_table() {
  TextTable table{{{"compressor"}, {"what it is"}, {"usual"}, {"source"}}, {}};
  for (const CompressorKind& kind : compressor_kinds()) {
    table.rows.push_back({std::string(kind.name), std::string(kind.help), compressor_keys(kind),
                          std::string(kind.source)});
  }
  return table;
}

Json compressor_document() {
  Json array = Json::array();
  for (const CompressorKind& kind : compressor_kinds()) {
    Json usual = Json::object();
    for (const CompressorNumber& number : compressor_numbers()) {
      if (takes(kind, number)) usual[std::string(number.name)] = kind.usual.*number.member;
    }
    if (!kind.usual.base.empty()) usual["base"] = kind.usual.base;
    if (takes_feedback(kind)) usual["feedback"] = name_of(kind.usual.feedback);
    array.push_back({{"name", kind.name},
                     {"help", kind.help},
                     {"source", kind.source},
                     {"usual", std::move(usual)},
                     {"summable", kind.summable},
                     {"fusible", kind.fusible},
                     {"whole_tensors", kind.whole_tensors}});
  }
  return {{"compressors", array}};
}

}  // namespace windtunnel
