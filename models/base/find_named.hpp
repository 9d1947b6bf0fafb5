// The item of a list that a user means by its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {

// `items` live as long as the reference is used and have a member `name`. Throws Error at `where`
// with the nearest names where none of them is so called; `noun` says what they are.
template <class Items>
const auto& find_named(const Items& items, std::string_view noun, std::string_view name,
                       const Location& where = {}) {
  std::vector<std::string> known;
  for (const auto& item : items) {
    if (item.name == name) return item;
    known.emplace_back(item.name);
  }
  throw Error(where, unknown_name(noun, name, known));
}

}  // namespace windtunnel
