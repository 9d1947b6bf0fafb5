// What a reader of a result should know of the keys that it was made from: that one is not used, or
// that a name did not bring all that it stands for.
#pragma once

#include <string>

namespace windtunnel {

struct Note {
  std::string key;   // of the scenario that it is about, or several
  std::string text;  // a sentence without it
  // The figures of this result, where other results may have the same note with their own.
  std::string figures = {};
  bool operator==(const Note&) const = default;
};

}  // namespace windtunnel
