// A process, a node's trainer or keeper, holds bytes by name until it is killed; they are lost with
// it. The process that started it sends it requests over a socket.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/validate/harness/drill/sealed_copy.hpp"

namespace windtunnel {

// Returns the training state of a node after this number of steps, by a rule that can be repeated.
Bytes trained_state(int node, std::int64_t steps, std::size_t size_bytes);

// A file is written under its name with this suffix first.
inline constexpr const char* kPartOfFile = ".part";

class KeptProcess {
 public:
  KeptProcess();  // throws Error (failed) if the system refuses
  ~KeptProcess();
  KeptProcess(KeptProcess&& other) noexcept;
  KeptProcess& operator=(KeptProcess&& other) noexcept;
  KeptProcess(const KeptProcess&) = delete;
  KeptProcess& operator=(const KeptProcess&) = delete;

  void kill_now();  // sends SIGKILL and waits until it is gone
  // If the process is gone, or has nothing of this name, put() returns false and get() nothing.
  bool put(const std::string& name, std::span<const std::byte> bytes);
  std::optional<Bytes> get(const std::string& name);
  bool flip_byte(const std::string& name);  // flips one in the middle
  // Asks the process to check its copy with is_whole().
  bool holds(const std::string& name, std::int64_t iteration);
  // Bytes that were put as `staged` are held as `name` from now on.
  bool rename(const std::string& staged, const std::string& name);
  // The process itself writes a file from its memory, completely or not at all, and reads it back.
  bool write_file(const std::string& name, const std::string& path);
  bool read_file(const std::string& name, const std::string& path);
  // Does the steps `from` to `to` of trained_state() on the bytes held under this name.
  bool train(const std::string& name, int node, std::int64_t from, std::int64_t to);

 private:
  struct Request;
  static Request asked(char what);
  bool ask(Request request, const std::string& name, const std::string& path,
           std::span<const std::byte> bytes, Bytes& answer);
  [[noreturn]] static void serve(int socket);

  pid_t process_ = 0;
  int socket_ = -1;
};

}  // namespace windtunnel
