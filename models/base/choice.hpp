// The word for each enumerator that a scenario, the library or a message names. Words that the
// models' own messages need are defined beside their enumeration, all others in
// scenarios/language/text/choices.hpp.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {

// A name of a value. If a value has several names, the first one is printed.
template <class T>
struct Choice {
  std::string_view name;
  T value;
};

// The specialisation for an enumeration is the array of its choices.
template <class T>
inline constexpr int kChoices = 0;

template <class T>
std::vector<std::string_view> names_of() {
  std::vector<std::string_view> names;
  for (const Choice<T>& choice : kChoices<T>) names.push_back(choice.name);
  return names;
}

template <class T>
bool has_choice(std::string_view name) {
  return std::ranges::find(kChoices<T>, name, &Choice<T>::name) != std::end(kChoices<T>);
}

// The name must be one of the choices: whoever parsed it has checked that.
template <class T>
T value_of(std::string_view name) {
  const auto* found = std::ranges::find(kChoices<T>, name, &Choice<T>::name);
  CHECK(found != std::end(kChoices<T>), "'{}' is no choice", name);
  return found->value;
}

template <class T>
bool has_name(T value) {
  return std::ranges::find(kChoices<T>, value, &Choice<T>::value) != std::end(kChoices<T>);
}

template <class T>
std::string_view name_of(T value) {
  const auto* found = std::ranges::find(kChoices<T>, value, &Choice<T>::value);
  CHECK(found != std::end(kChoices<T>), "an enumerator without a name");
  return found->name;
}

}  // namespace windtunnel
