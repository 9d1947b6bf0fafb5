// A file that a scenario names, as it was when a result was made from it.
#pragma once

#include <optional>
#include <string>

namespace windtunnel {

struct NamedFile {
  std::string name;                      // as the scenario writes it
  std::optional<std::string> text = {};  // none: too large, or not UTF-8
  std::string hash = {};                 // of the text, 16 hexadecimal digits
  bool operator==(const NamedFile&) const = default;
};

}  // namespace windtunnel
