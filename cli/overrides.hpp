// --set KEY=VALUE and --vary KEY=A,B,C as given on the command line.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/case.hpp"

namespace windtunnel {

// Throws Error when there is no KEY or no "=".
Overrides parse_overrides(const std::vector<std::string>& arguments);

struct VariedKey {
  std::string key;
  std::vector<std::string> values;
};

// Values are separated by commas outside of brackets, braces and quotes; "all" alone stands for
// every name that the key knows (schedule, cluster.node, model, ...). Throws Error when a value
// is empty, a bracket or quote is left open, or a key is varied twice. Messages name `option`.
std::vector<VariedKey> parse_varied(const std::vector<std::string>& arguments,
                                    const std::string& option = "--vary");

// As a shell reads it as one word: quoted where it has to be.
std::string shell_word(std::string_view text);

// All combinations; the last key changes fastest.
std::vector<Overrides> cross_product(const std::vector<VariedKey>& keys);

}  // namespace windtunnel
