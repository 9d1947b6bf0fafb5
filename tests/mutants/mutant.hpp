// Helpers of planted mutants (mutants.py). Each mutant stands in the source beside the original
// code, and WINDTUNNEL_MUTANT in the environment activates one; a single build holds all of them. A
// mutant that is evaluated marks its byte in the file WINDTUNNEL_REACHED, which child processes
// share, so that suites that never evaluate a mutant need not run against it. The operators below
// stand between operands (`a + Plus{7} + b`), because the text alone does not tell where an operand
// ends. No source of the project includes this header.
#pragma once
#pragma GCC system_header

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <concepts>
#include <cstdlib>
#include <initializer_list>
#include <type_traits>

namespace windtunnel_mutants {

inline constexpr int kMost = 4096;

inline int chosen() {
  const char* text = std::getenv("WINDTUNNEL_MUTANT");
  return text == nullptr ? -1 : std::atoi(text);
}

inline unsigned char* shared_marks() {
  const char* path = std::getenv("WINDTUNNEL_REACHED");
  if (path == nullptr) return nullptr;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* bytes = mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return bytes == MAP_FAILED ? nullptr : static_cast<unsigned char*>(bytes);
}

// Until these are initialised no mutant is active: `alive_one` counts from one.
inline int alive_one = chosen() + 1;
inline unsigned char* marks = shared_marks();

inline bool on(int mutant) {
  if (marks != nullptr) marks[mutant] = 1;
  return alive_one == mutant + 1;
}

template <class T>
concept Number = std::is_arithmetic_v<T>;

template <class T, char sign>
struct Left {
  T value;
  int mutant;
};

#define WINDTUNNEL_ARITHMETIC(Name, sign, character, other)                           \
  struct Name {                                                                       \
    int mutant;                                                                       \
  };                                                                                  \
  template <Number A>                                                                 \
  Left<A, character> operator sign(A a, Name n) {                                     \
    return {a, n.mutant};                                                             \
  }                                                                                   \
  template <Number A, Number B>                                                       \
  auto operator sign(Left<A, character> a, B b) {                                     \
    return on(a.mutant) ? decltype(a.value sign b)(a.value other b) : a.value sign b; \
  }
WINDTUNNEL_ARITHMETIC(Plus, +, '+', -)
WINDTUNNEL_ARITHMETIC(Minus, -, '-', +)
WINDTUNNEL_ARITHMETIC(Times, *, '*', /)
WINDTUNNEL_ARITHMETIC(Over, /, '/', *)

#define WINDTUNNEL_BOUND(Name, sign, character, other)          \
  struct Name {                                                 \
    int mutant;                                                 \
  };                                                            \
  template <class A>                                            \
  Left<const A*, character> operator sign(const A& a, Name n) { \
    return {&a, n.mutant};                                      \
  }                                                             \
  template <class A, class B>                                   \
  bool operator sign(Left<const A*, character> a, const B& b) { \
    return on(a.mutant) ? *a.value other b : *a.value sign b;   \
  }
WINDTUNNEL_BOUND(Below, <, '<', <=)
WINDTUNNEL_BOUND(AtMost, <=, 'l', <)
WINDTUNNEL_BOUND(Above, >, '>', >=)
WINDTUNNEL_BOUND(AtLeast, >=, 'g', >)

#define WINDTUNNEL_EXTREME(name, original, other)                   \
  template <int mutant, class T>                                    \
  const T& name(const T& a, const T& b) {                           \
    return on(mutant) ? std::other(a, b) : std::original(a, b);     \
  }                                                                 \
  template <int mutant, class T>                                    \
  T name(std::initializer_list<T> values) {                         \
    return on(mutant) ? std::other(values) : std::original(values); \
  }
WINDTUNNEL_EXTREME(least_of, min, max)
WINDTUNNEL_EXTREME(greatest_of, max, min)

}  // namespace windtunnel_mutants
