// The example in docs/guide/traces.md must equal what write_made_kineto() writes;
// WINDTUNNEL_UPDATE_GOLDEN=1 writes it again.
#include "tests/traces/profile/made_kineto.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>

#include "traces/profile/packed_file.hpp"

namespace windtunnel {
namespace {

std::string unpacked(const std::string& path) {
  PackedFile file(path);
  std::string bytes;
  while (file.more()) {
    bytes += file.current();
    file.advance();
    file.mark();
  }
  return bytes;
}

MadeTrace example(int rank) {
  return {.rank = rank,
          .tp = 2,
          .dp = 2,
          .steps = 4,
          .layers = 4,
          .hidden = 4096,
          .ffn = 16384,
          .tokens = 4096,
          .with_host = false,
          .seed = 11 + static_cast<std::uint64_t>(rank)};
}

TEST(MadeKineto, TheExampleIsMadeByIt) {
  const std::string folder = WINDTUNNEL_SOURCE_DIR "/examples/traces/kineto";
  for (int rank = 0; rank < 4; ++rank) {
    const std::string path = folder + "/rank-" + std::to_string(rank) + ".pt.trace.json.gz";
    const std::string made = made_kineto(example(rank));
    if (std::getenv("WINDTUNNEL_UPDATE_GOLDEN") != nullptr) {
      std::filesystem::create_directories(folder);
      gzFile file = gzopen(path.c_str(), "wb9");
      gzwrite(file, made.data(), static_cast<unsigned>(made.size()));
      gzclose(file);
    }
    EXPECT_EQ(unpacked(path), made) << path;
  }
}

}  // namespace
}  // namespace windtunnel
