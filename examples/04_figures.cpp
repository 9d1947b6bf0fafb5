// Prints every figure of a result with its unit, and every value of the case with its origin.
#include <algorithm>
#include <cstdio>
#include <windtunnel/windtunnel.hpp>

constexpr const char* kScenario = R"(
name: figures
model: gpt-7.5b
cluster: {nodes: 2, node: dgx-a100}
layout: {tp: 4, pp: 1, sharding: zero1}
batch: {global: 32}
)";

int main() {
  const windtunnel::Case the_case = windtunnel::Case::from_text(kScenario);
  const windtunnel::Result result = windtunnel::simulate(the_case);
  for (const windtunnel::Figure& figure : result.figures()) {
    std::printf("%s = %.6g %s\n", figure.key.c_str(), figure.value, figure.unit.c_str());
  }

  // Half of the values are defaults. The loop prints those GPU values that are not defaults, with
  // their origins.
  std::printf("\n");
  const auto values = the_case.values();
  const auto defaults = std::ranges::count_if(values, &windtunnel::ResolvedValue::is_default);
  std::printf("%s defaults\n", defaults > 0 ? "some" : "no");
  for (const windtunnel::ResolvedValue& value : values) {
    if (value.is_default || !value.key.starts_with("cluster.node.gpu")) continue;
    std::printf("%s = %s (%s)\n", value.key.c_str(), value.value.c_str(), value.origin.c_str());
  }
}
