// A process that holds bytes by name, a trainer or a keeper of a node, until it is killed. The
// process that started it asks it over a socket; what it held is gone with it.
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

// The training state of a node after so many steps, by a rule that everybody can follow again.
Bytes trained_state(int node, std::int64_t steps, std::size_t size_bytes);

// A file is written beside its place first, as its name and this.
inline constexpr const char* kPartOfFile = ".part";

class KeptProcess {
 public:
  KeptProcess();  // throws Error (failed) where the system refuses
  ~KeptProcess();
  KeptProcess(KeptProcess&& other) noexcept;
  KeptProcess& operator=(KeptProcess&& other) noexcept;
  KeptProcess(const KeptProcess&) = delete;
  KeptProcess& operator=(const KeptProcess&) = delete;

  void kill_now();  // SIGKILL, and waits until it is gone
  // Of a process that is gone, or has nothing of this name: false, nothing.
  bool put(const std::string& name, std::span<const std::byte> bytes);
  std::optional<Bytes> get(const std::string& name);
  bool flip_byte(const std::string& name);  // in the middle
  // Looks at it itself: is_whole().
  bool holds(const std::string& name, std::int64_t iteration);
  // From now on what was put as `staged` is what it holds as `name`.
  bool rename(const std::string& staged, const std::string& name);
  // The process itself writes from its memory to a file, whole or not at all, and reads it back.
  bool write_file(const std::string& name, const std::string& path);
  bool read_file(const std::string& name, const std::string& path);
  // The steps `from` to `to` of trained_state(), on what it holds under this name.
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
