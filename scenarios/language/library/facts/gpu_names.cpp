#include "scenarios/language/library/facts/gpu_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/find_named.hpp"
#include "models/base/printable.hpp"
#include "scenarios/language/library/calibration_heads.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

std::vector<GpuName> read_gpu_names(const DocumentNode& document) {
  require_map(document, "names of GPUs");
  std::vector<GpuName> names;
  for (const DocumentEntry& entry : document.entries) {
    const DocumentNode& map = entry.value;
    require_map(map, entry.key);
    check_keys(map, {"of", "node", "calibration", "nvlink", "instead"});
    GpuName gpu = {.name = entry.key,
                   .kind = entry.key,
                   .node = find_node(require_text(map, "node")).name,
                   .calibration = find_named(library_calibration_heads(), "calibration",
                                             require_text(map, "calibration"))
                                      .name};
    if (map.value_of("of") != nullptr) gpu.kind = require_text(map, "of");
    if (map.value_of("instead") != nullptr) gpu.instead = require_text(map, "instead");
    if (const DocumentNode* nvlink = map.value_of("nvlink")) {
      gpu.nvlink_Bps = quantity(*nvlink, Dimension::bytes_per_s, "nvlink");
    }
    names.push_back(std::move(gpu));
  }
  return names;
}

const std::vector<GpuName>& gpu_names() {
  static const std::vector<GpuName> names = read_gpu_names(library_document("gpu_names.yaml"));
  return names;
}

}  // namespace

bool stands_for_a_gpu(const std::string& calibration) {
  return std::ranges::any_of(gpu_names(),
                             [&](const GpuName& gpu) { return gpu.calibration == calibration; });
}

const GpuName& gpu_named(const std::string& text, bool stand_ins) {
  const std::vector<GpuName>& names = gpu_names();
  const std::string plain = plain_name(text);
  const GpuName* found = nullptr;
  std::size_t first = std::string::npos;
  for (const GpuName& gpu : names) {
    if (!stand_ins && !gpu.instead.empty()) continue;
    const std::size_t at = plain.find(gpu.name);
    if (at == std::string::npos || at > first) continue;
    if (at == first && gpu.name.size() < found->name.size()) continue;
    found = &gpu;
    first = at;
  }
  if (found == nullptr) {
    throw Error(fmt::format("no GPU of the library is called '{}'", excerpt(text)));
  }
  return *found;
}

}  // namespace windtunnel
