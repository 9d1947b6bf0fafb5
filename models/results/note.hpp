// A remark on the keys behind a result: that a key has no effect, for example, or that the library
// entry of a name lacks something.
#pragma once

#include <string>

namespace windtunnel {

struct Note {
  std::string key;   // the key, or several, that the note is about
  std::string text;  // a sentence that does not repeat the key
  // The part with this result's own numbers. Other results may have the same note with other
  // numbers.
  std::string figures = {};
  bool operator==(const Note&) const = default;
};

}  // namespace windtunnel
