// Where each key of a scenario stands. It outlives the text, so that later checks of a job can
// still name the place.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "models/base/error.hpp"

namespace windtunnel {

class Places {
 public:
  bool stated(std::string_view key) const;     // the key or a key below it
  Location where(std::string_view key) const;  // of the key, else of the nearest map above it
  // The same, but prefers a --set that changed the key or a key below it.
  Location fault_at(std::string_view key) const;
  // Adds to the error the place of a key that it is about: the first that a --set changed, else the
  // first that the scenario states. Does not change an error about no key, or if nothing was read.
  Error placed(const Error& error) const;
  // Returns the result of `work` and adds places to its Errors.
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
