#include <string>
#include <utility>

#include "models/base/units.hpp"
#include "models/cost/snapshot/snapshot_writer.hpp"
#include "report/listing/listing.hpp"

namespace windtunnel {
namespace {

std::string rate_text(const Parameter& rate) {
  return rate.value > 0 ? format_bandwidth(rate.value) : "-";
}

}  // namespace

TextTable snapshot_writer_table() {
  TextTable table{{{"writer"},
                   {"writes", Align::right},
                   {"reads", Align::right},
                   {"GPU to host", Align::right},
                   {"start", Align::right},
                   {"ranks"},
                   {"while busy"},
                   {"origin"},
                   {"source"}},
                  {}};
  for (const NamedWriter& writer : snapshot_writers()) {
    table.rows.push_back({std::string(writer.name), rate_text(writer.write_Bps),
                          rate_text(writer.read_Bps), rate_text(writer.copy_Bps),
                          writer.start_s.value > 0 ? format_seconds(writer.start_s.value) : "-",
                          std::string(name_of(writer.ranks)),
                          std::string(name_of(writer.when_busy)),
                          to_string(writer.write_Bps.origin), writer.write_Bps.source});
  }
  return table;
}

Json snapshot_writer_document() {
  Json writers = Json::array();
  for (const NamedWriter& writer : snapshot_writers()) {
    Json entry = {{"name", writer.name},
                  {"ranks", name_of(writer.ranks)},
                  {"when_busy", name_of(writer.when_busy)}};
    const auto add = [&](const char* key, const Parameter& number) {
      if (number.value > 0) entry[key] = parameter_json(number);
    };
    add("write_Bps", writer.write_Bps);
    add("read_Bps", writer.read_Bps);
    add("copy_Bps", writer.copy_Bps);
    add("start_s", writer.start_s);
    writers.push_back(std::move(entry));
  }
  return {{"writers", std::move(writers)}};
}

}  // namespace windtunnel
