// What can be written in a scenario, and which library this is.
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

// All keys of a scenario, in its order.
WINDTUNNEL_API std::vector<Key> keys();

// What may stand at a key that takes names: names("model"), names("cluster.node"),
// names("schedule"), names("snapshots"), names("precision"). Throws Error for a key that is none;
// no names where the key takes other values.
WINDTUNNEL_API std::vector<std::string> names(const std::string& key);

// "0.1.0 (402225afff4e)": the version and the commit that was built.
WINDTUNNEL_API std::string version();

}  // namespace windtunnel_api
