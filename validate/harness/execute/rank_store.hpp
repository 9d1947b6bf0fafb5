// The bytes that a rank copies, encodes and stores, in memory and in an unnamed file, which
// disappears with the process.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "models/plan/plan.hpp"

namespace windtunnel {

class RankStore {
 public:
  RankStore() = default;
  ~RankStore();
  RankStore(const RankStore&) = delete;
  RankStore& operator=(const RankStore&) = delete;

  // Copies, xors or writes this many bytes, depending on the kind of task. Throws Error (failed) if
  // the disk refuses.
  void work(TaskKind kind, std::size_t size_bytes);

 private:
  void write(std::span<const std::byte> bytes);

  std::mutex mutex_;
  std::vector<std::byte> from_, to_;
  int file_ = -1;
  std::size_t written_bytes_ = 0;
};

}  // namespace windtunnel
