// Names and keys that scenarios can use, and the library's version.
#pragma once

#include <string>
#include <vector>
#include <windtunnel/export.hpp>

namespace windtunnel_api {

struct Key {
  std::string path;           // "layout.tp"; '*' stands for the index in a list
  std::string default_value;  // empty: none, or it follows from others
  std::string help;
};

// All keys that a scenario can have, in their order there.
WINDTUNNEL_API std::vector<Key> keys();

// The names accepted by a key: names("model"), names("cluster.node"), names("schedule"),
// names("snapshots"), names("precision"). Empty if the key takes other values. Throws Error for an
// unknown key.
WINDTUNNEL_API std::vector<std::string> names(const std::string& key);

// "0.1.0 (402225afff4e)": version and commit of the build.
WINDTUNNEL_API std::string version();

}  // namespace windtunnel_api
