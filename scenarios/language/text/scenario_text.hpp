// A scenario's tree as the text of a file, the other way round from parse_document().
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "models/results/named_file.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

// [top-level key] what a reader of the scenario should know of it.
using PartComments = std::map<std::string, std::string>;

// A part per line, lists and the cluster an item per line, comments above their parts.
std::string scenario_text_of(const DocumentNode& tree, const PartComments& comments = {});

// The files that a scenario names, sought beside it. What was read of them goes into the record of
// a result, from which it is made again although they have changed or are gone.

class NamedFiles {
 public:
  // A text that is kept whole; of longer ones the hash alone.
  static constexpr std::size_t kMostKept = std::size_t{64} * 1024;

  // `given` stand in the place of those on the disk, where they have a text.
  explicit NamedFiles(std::string folder, std::vector<NamedFile> given = {});

  std::string path(const std::string& name) const;  // as messages name it
  // Throws Error if it cannot be read.
  std::string text(const std::string& name);

  // All that were asked for, once each.
  const std::vector<NamedFile>& read() const { return read_; }

 private:
  std::string folder_;
  std::vector<NamedFile> given_;
  std::vector<NamedFile> read_;
};

// 16 hexadecimal digits.
std::string text_hash(const std::string& text);

}  // namespace windtunnel
