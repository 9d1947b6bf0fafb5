// Runs a function in a forked child, which sends its result through a pipe.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace windtunnel {

// Sends plain bytes to another process of the same program. Large vectors are written from their
// place and read into their place, without a copy.
class PipeWriter {
 public:
  explicit PipeWriter(int end) : end_(end) {}

  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(&value, sizeof value);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(values.size());
    put_bytes(values.data(), values.size() * sizeof(T));
  }
  void put_bytes(const void* bytes, std::size_t size);
  void flush();
  void drop() { waiting_.clear(); }
  bool has_sent() const { return sent_; }

 private:
  void send(const char* bytes, std::size_t size);

  int end_;
  bool sent_ = false;
  std::string waiting_;
};

class PipeReader {
 public:
  explicit PipeReader(int end) : end_(end) {}

  template <class T>
  void get(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    get_bytes(&value, sizeof value);
  }
  template <class T>
  void get(std::vector<T>& values) {
    std::size_t size = 0;
    get(size);
    values.resize(size);
    get_bytes(values.data(), size * sizeof(T));
  }
  // Throws Error if the child ends before it has sent these bytes.
  void get_bytes(void* bytes, std::size_t size);
  // Returns all bytes until the child ends.
  std::string rest();

 private:
  std::size_t receive(char* bytes, std::size_t size);

  int end_;
  std::string ahead_;  // bytes read from the pipe; those before at_ have been taken
  std::size_t at_ = 0;
};

// `body` runs in the child and writes its result; `read` takes the result here. If `body` throws an
// Error, it is rethrown here with its exit code; any other exception becomes an InternalError with
// its text. If part of the result was sent before `body` threw, an Error says that there is no
// result. Exceptions of `read` pass through. Throws Error (exit code failed) that names the signal
// if the child was killed.
void run_in_child(const std::function<void(PipeWriter&)>& body,
                  const std::function<void(PipeReader&)>& read);

}  // namespace windtunnel
