// Writes the tree of a scenario as the text of a file, the reverse of parse_document().
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "models/results/named_file.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

// Maps a top-level key to the comment above that part of the scenario.
using PartComments = std::map<std::string, std::string>;

// Writes a line for each top-level key, but for the cluster and for lists a line for each item.
// Comments stand above their parts.
std::string scenario_text_of(const DocumentNode& tree, const PartComments& comments = {});

// The files that a scenario names, searched for in its folder. Their content goes into the record
// of a result, so that the result can be made again after the files change or disappear.

class NamedFiles {
 public:
  // Texts up to this size are kept whole; longer texts are kept only as a hash.
  static constexpr std::size_t kMostKept = std::size_t{64} * 1024;

  // Files of `given` that have a text are used instead of those on disk.
  explicit NamedFiles(std::string folder, std::vector<NamedFile> given = {});

  std::string path(const std::string& name) const;  // as messages name it
  // Throws Error if it cannot be read.
  std::string text(const std::string& name);

  // All files that were asked for, without repeats.
  const std::vector<NamedFile>& read() const { return read_; }

 private:
  std::string folder_;
  std::vector<NamedFile> given_;
  std::vector<NamedFile> read_;
};

// A hash of 16 hexadecimal digits.
std::string text_hash(const std::string& text);

}  // namespace windtunnel
