// Where each key of a scenario stands: what outlives its text, so that whoever finds fault with a
// job later can still say where.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "models/base/error.hpp"

namespace windtunnel {

class Places {
 public:
  bool stated(std::string_view key) const;     // a value, or anything below it
  Location where(std::string_view key) const;  // of the key, else of what it would stand in
  // The same, but of the --set that changed it or something below it, if there is one.
  Location fault_at(std::string_view key) const;
  // The error with the place of the key that it is about: the first of them that a --set changed,
  // else the first that the scenario states. As it is where it is about no key, or nothing was
  // read.
  Error placed(const Error& error) const;
  // The result of `work`; its Errors get their places.
  template <class Work>
  auto placing(Work work) const {
    try {
      return work();
    } catch (const Error& error) {
      throw placed(error);
    }
  }

  void add(const std::string& key, const Location& where) { places_[key] = where; }

 private:
  std::map<std::string, Location, std::less<>> places_;
};

}  // namespace windtunnel
