#include "scenarios/language/library/kernel_laws.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "models/base/quantity_range.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

// The range of a number of a law; the numbers are written without units.
const QuantityRange& range_of_number(const std::string& key) {
  const auto inverse = [](const QuantityRange& rate) {
    return QuantityRange{1 / rate.largest, 1 / rate.smallest};
  };
  static const QuantityRange kPerFlop = inverse(quantity_range(Dimension::flops_per_s));
  static const QuantityRange kPerByte = inverse(quantity_range(Dimension::bytes_per_s));
  // The spread may be tiny: if a law goes through all of its points, only rounding errors are left.
  static const QuantityRange kSpread = {std::numeric_limits<double>::min(),
                                        quantity_range(Dimension::number).largest};
  if (key == "spread") return kSpread;
  if (key == "flop_s") return kPerFlop;
  if (key == "byte_s") return kPerByte;
  if (key == "fixed_s" || key == "seconds") return quantity_range(Dimension::seconds);
  const bool bytes = key == "least_bytes" || key == "most_bytes" || key == "sizes_bytes";
  return quantity_range(bytes ? Dimension::bytes : Dimension::number);
}

double number_at(const DocumentNode& node, const std::string& key) {
  const double value = quantity(node, Dimension::number, key);
  const QuantityRange& range = range_of_number(key);
  if (range.holds(value)) return value;
  throw Error(node.where, fmt::format("{}: expected 0, or {:g} to {:g}, not {}", key,
                                      range.smallest, range.largest, node.text));
}

double number(const DocumentNode& map, const std::string& key) {
  const double value = number_at(require(map, key), key);
  if (value >= 0) return value;
  throw Error(require(map, key).where, fmt::format("{}: expected a number of at least 0", key));
}

std::vector<double> ascending(const DocumentNode& map, const std::string& key) {
  const DocumentNode& list = require(map, key);
  std::vector<double> numbers;
  for (const DocumentNode& item : list.items) {
    numbers.push_back(number_at(item, key));
    if (!(numbers.back() >= 0) || (numbers.size() > 1 && numbers.back() < numbers.end()[-2])) {
      throw Error(item.where, fmt::format("{}: expected numbers in ascending order", key));
    }
  }
  if (numbers.size() < 2)
    throw Error(list.where, fmt::format("{}: expected two or more numbers", key));
  return numbers;
}

std::string_view kernel_of(std::string_view key) {
  return key.substr(0, key.find(' '));
}

// Products have a line over operations and bytes; other kernels have a curve over bytes.
bool is_line(std::string_view key) {
  KernelWork work;
  work.m = work.n = work.k = 1;
  return kernel_kind(kernel_of(key)).flops(work) > 0;
}

// The list may be missing in a file written by hand.
std::vector<MeasuredShape> read_shapes(const DocumentNode& map) {
  std::vector<MeasuredShape> shapes;
  const DocumentNode* list = map.value_of("shapes");
  if (list == nullptr) return shapes;
  for (const DocumentNode& item : list->items) {
    std::vector<double> numbers;
    for (const DocumentNode& part : item.items) {
      numbers.push_back(quantity(part, Dimension::number, "shapes"));
    }
    if (numbers.size() == 4) numbers.push_back(1);  // the default weight
    const bool positive = numbers.size() == 5 && numbers[0] > 0 && numbers[1] > 0 && numbers[2] > 0;
    if (!positive || !std::isfinite(numbers[3]) || !(numbers[4] >= 0 && numbers[4] <= 1)) {
      throw Error(item.where,
                  "shapes: expected [m, n, k, log of (measured / law), weight from 0 to 1]");
    }
    shapes.push_back({numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]});
  }
  return shapes;
}

std::string shapes_text(const std::vector<MeasuredShape>& shapes) {
  std::vector<std::string> texts;
  for (const MeasuredShape& shape : shapes) {
    texts.push_back(fmt::format("[{}, {}, {}, {}, {}]", shape.m, shape.n, shape.k, shape.residual,
                                shape.weight));
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

KernelLaw read_law(const std::string& key, const DocumentNode& map) {
  require_map(map, key);
  check_keys(map, {"sizes_bytes", "seconds", "fixed_s", "flop_s", "byte_s", "shapes", "spread",
                   "least_bytes", "most_bytes", "slowdown", "slowdown_spread", "disturbed"});
  KernelLaw law;
  law.key = key;
  law.spread = number(map, "spread");
  law.least = number(map, "least_bytes");
  law.most = number(map, "most_bytes");
  if (map.value_of("slowdown") != nullptr) {
    law.slowdown = {number(map, "slowdown"), number(map, "slowdown_spread")};
    if (law.slowdown.log > std::numbers::ln2) {
      throw Error(require(map, "slowdown").where,
                  "slowdown: at most log 2, because two threads on a core get half of it each");
    }
  }
  if (map.value_of("disturbed") != nullptr) law.disturbed = number(map, "disturbed");
  if (is_line(key)) {
    law.fixed_s = number(map, "fixed_s");
    law.flop_s = number(map, "flop_s");
    law.byte_s = number(map, "byte_s");
    law.shapes = read_shapes(map);
    return law;
  }
  law.curve.sizes = ascending(map, "sizes_bytes");
  law.curve.seconds = ascending(map, "seconds");
  law.curve.spread = law.spread;
  for (size_t i = 1; i < law.curve.sizes.size(); ++i) {
    if (law.curve.sizes[i] > law.curve.sizes[i - 1]) continue;
    throw Error(require(map, "sizes_bytes").items[i].where, "sizes_bytes: stands twice");
  }
  if (law.curve.sizes.size() != law.curve.seconds.size()) {
    throw Error(require(map, "seconds").where,
                "seconds: expected as many numbers as sizes_bytes "
                "has");
  }
  return law;
}

// Checks keys such as "gemm type=fp32", which begin with a kernel.
void check_kernel(const DocumentEntry& entry) {
  try {
    kernel_kind(kernel_of(entry.key));
  } catch (const Error& error) {
    throw Error(entry.where, error.what());
  }
}

}  // namespace

std::string kernel_laws_text(const KernelLaws& laws) {
  std::string text = fmt::format("kernel_laws:\n  run_spread: {}\n  laws:\n", laws.run_spread);
  for (const KernelLaw& law : laws.laws) {
    text += fmt::format("    \"{}\":\n", law.key);
    if (law.curve.sizes.empty()) {
      text += fmt::format("      fixed_s: {}\n      flop_s: {}\n      byte_s: {}\n", law.fixed_s,
                          law.flop_s, law.byte_s);
      if (!law.shapes.empty()) text += fmt::format("      shapes: {}\n", shapes_text(law.shapes));
    } else {
      text += fmt::format("      sizes_bytes: [{}]\n      seconds: [{}]\n",
                          fmt::join(law.curve.sizes, ", "), fmt::join(law.curve.seconds, ", "));
    }
    text += fmt::format("      spread: {}\n      least_bytes: {}\n      most_bytes: {}\n",
                        law.spread, law.least, law.most);
    if (law.disturbed > 0) text += fmt::format("      disturbed: {}\n", law.disturbed);
    if (law.slowdown == Slowdown{}) continue;  // no slowdown was measured
    text += fmt::format("      slowdown: {}\n      slowdown_spread: {}\n", law.slowdown.log,
                        law.slowdown.spread);
  }
  return text;
}

KernelLaws read_kernel_laws(const DocumentNode& section) {
  require_map(section, "kernel_laws");
  check_keys(section, {"run_spread", "laws"});
  KernelLaws laws;
  laws.run_spread = number(section, "run_spread");
  const DocumentNode& list = require(section, "laws");
  require_map(list, "laws");
  for (const DocumentEntry& entry : list.entries) {
    check_kernel(entry);
    laws.laws.push_back(read_law(entry.key, entry.value));
  }
  return laws;
}

KernelLaws read_kernel_laws(const std::string& path) {
  const DocumentNode document = parse_document(read_text_file(path), path);
  require_map(document, "a calibration");
  const DocumentNode* section = document.value_of("kernel_laws");
  if (section == nullptr) {
    throw Error(Location{path},
                "has no kernel_laws; windtunnel calibrate --backend writes files with kernel_laws");
  }
  return read_kernel_laws(*section);
}

}  // namespace windtunnel
