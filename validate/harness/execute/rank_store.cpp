#include "validate/harness/execute/rank_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
// After that writing starts again at the beginning.
constexpr std::size_t kFileBytes = std::size_t{64} << 20;

}  // namespace

RankStore::~RankStore() {
  if (file_ >= 0) close(file_);
}

void RankStore::work(TaskKind kind, std::size_t size_bytes) {
  const std::lock_guard lock(mutex_);
  if (from_.empty()) {
    from_.assign(kBlock, std::byte{0x5a});
    to_.assign(kBlock, std::byte{0});
  }
  while (size_bytes > 0) {
    const std::size_t now = std::min(size_bytes, kBlock);
    size_bytes -= now;
    switch (kind) {
      case TaskKind::store:
        write(std::span(from_).first(now));
        break;
      case TaskKind::encode:
        for (std::size_t i = 0; i < now; ++i) to_[i] ^= from_[i];
        break;
      default:
        std::copy_n(from_.begin(), now, to_.begin());
    }
  }
}

void RankStore::write(std::span<const std::byte> bytes) {
  const auto refuse = [](const char* what) {
    throw Error(fmt::format("{} {}: {}", what, std::filesystem::temp_directory_path().string(),
                            std::strerror(errno)),
                ExitCode::failed);
  };
  if (file_ < 0) {
    std::string path = std::filesystem::temp_directory_path() / "windtunnel-store-XXXXXX";
    file_ = mkostemp(path.data(), O_CLOEXEC);
    if (file_ < 0) refuse("no file in");
    unlink(path.c_str());
  }
  while (!bytes.empty()) {
    const auto at = static_cast<off_t>(written_bytes_ % kFileBytes);
    const ssize_t count = pwrite(file_, bytes.data(), bytes.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) refuse("nothing more can be written to");
    written_bytes_ += static_cast<std::size_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace windtunnel
