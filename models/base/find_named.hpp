// Finds the item of a list that a user names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {

// `items` must outlive the reference; each has a member `name`. Throws Error at `where` with the
// nearest names if there is no such item; `noun` says what the items are.
template <class Items>
const auto& find_named(const Items& items, std::string_view noun, std::string_view name,
                       const Location& where = {}) {
  for (const auto& item : items) {
    if (item.name == name) return item;
  }
  std::vector<std::string> known;
  for (const auto& item : items) known.emplace_back(item.name);
  throw Error(where, unknown_name(noun, name, known));
}

}  // namespace windtunnel
