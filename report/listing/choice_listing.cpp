#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "models/base/units.hpp"
#include "models/compression/compressors.hpp"
#include "models/cost/snapshot/snapshot_writer.hpp"
#include "report/listing/listing.hpp"
#include "scenarios/language/library/library.hpp"
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
  return table_of("compressor | what it is | usual | source", compressor_kinds(),
                  [](const CompressorKind& kind) -> TableRow {
                    return {std::string(kind.name), std::string(kind.help), compressor_keys(kind),
                            std::string(kind.source)};
                  });
}

Json compressor_document() {
  return {{"compressors", list_json(compressor_kinds(), [](const CompressorKind& kind) {
             Json usual = Json::object();
             for (const CompressorNumber& number : compressor_numbers()) {
               if (takes(kind, number)) usual[std::string(number.name)] = kind.usual.*number.member;
             }
             if (!kind.usual.base.empty()) usual["base"] = kind.usual.base;
             if (takes_feedback(kind)) usual["feedback"] = name_of(kind.usual.feedback);
             Json entry = MEMBERS_JSON(kind, name, help, source);
             entry["usual"] = std::move(usual);
             PUT_MEMBERS(entry, kind, summable, fusible, whole_tensors);
             return entry;
           })}};
}

namespace {

std::string rate_text(const Parameter& rate) {
  return rate.value > 0 ? format_bandwidth(rate.value) : "-";
}

}  // namespace

TextTable snapshot_writer_table() {
  return table_of(
      "writer | writes > | reads > | GPU to host > | start > | ranks | while busy | "
      "origin | source",
      snapshot_writers(), [](const NamedWriter& writer) -> TableRow {
        return {std::string(writer.name),
                rate_text(writer.write_Bps),
                rate_text(writer.read_Bps),
                rate_text(writer.copy_Bps),
                writer.start_s.value > 0 ? format_seconds(writer.start_s.value) : "-",
                std::string(name_of(writer.ranks)),
                std::string(name_of(writer.when_busy)),
                to_string(writer.write_Bps.origin),
                writer.write_Bps.source};
      });
}

Json snapshot_writer_document() {
  return {{"writers", list_json(snapshot_writers(), [](const NamedWriter& writer) {
             Json entry = {{"name", writer.name},
                           {"ranks", name_of(writer.ranks)},
                           {"when_busy", name_of(writer.when_busy)}};
             for (const auto& [key, number] : {std::pair("write_Bps", &writer.write_Bps),
                                               {"read_Bps", &writer.read_Bps},
                                               {"copy_Bps", &writer.copy_Bps},
                                               {"start_s", &writer.start_s}}) {
               if (number->value > 0) entry[key] = parameter_json(*number);
             }
             return entry;
           })}};
}

}  // namespace windtunnel
