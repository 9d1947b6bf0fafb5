#include "scenarios/language/library/calibration_heads.hpp"

#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

CalibrationHead read_head(const LibraryFile& file) {
  const std::string_view head = file.text.substr(0, file.text.find("\nparameters:"));
  const DocumentNode document =
      parse_document(std::string(head), "library/" + std::string(file.path));
  return {require_text(document, "name"), require(document, "gpu").text, file};
}

}  // namespace

const std::vector<CalibrationHead>& library_calibration_heads() {
  static const std::vector<CalibrationHead> heads = [] {
    std::vector<CalibrationHead> found;
    for (const LibraryFile& file : library_files()) {
      if (file.path.starts_with("calibrations/")) found.push_back(read_head(file));
    }
    return found;
  }();
  return heads;
}

}  // namespace windtunnel
