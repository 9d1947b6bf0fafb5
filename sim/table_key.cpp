// A hash over everything in a Job that the table depends on: all of it but what is cleared first,
// so that a member which is new counts without being listed here.
#include <fmt/format.h>
#include <xxhash.h>

#include <bit>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "models/layer_network.hpp"
#include "sim/iteration_table.hpp"

// Names for the members of an aggregate of n, and the case of one.
#define WT_M1 m1
#define WT_M2 WT_M1, m2
#define WT_M3 WT_M2, m3
#define WT_M4 WT_M3, m4
#define WT_M5 WT_M4, m5
#define WT_M6 WT_M5, m6
#define WT_M7 WT_M6, m7
#define WT_M8 WT_M7, m8
#define WT_M9 WT_M8, m9
#define WT_M10 WT_M9, m10
#define WT_M11 WT_M10, m11
#define WT_M12 WT_M11, m12
#define WT_M13 WT_M12, m13
#define WT_M14 WT_M13, m14
#define WT_M15 WT_M14, m15
#define WT_M16 WT_M15, m16
#define WT_M17 WT_M16, m17
#define WT_M18 WT_M17, m18
#define WT_M19 WT_M18, m19
#define WT_M20 WT_M19, m20
#define WT_M21 WT_M20, m21
#define WT_M22 WT_M21, m22
#define WT_M23 WT_M22, m23
#define WT_M24 WT_M23, m24
#define WT_M25 WT_M24, m25
#define WT_M26 WT_M25, m26
#define WT_M27 WT_M26, m27
#define WT_M28 WT_M27, m28
#define WT_M29 WT_M28, m29
#define WT_M30 WT_M29, m30
#define WT_M31 WT_M30, m31
#define WT_M32 WT_M31, m32
#define WT_M33 WT_M32, m33
#define WT_M34 WT_M33, m34
#define WT_M35 WT_M34, m35
#define WT_M36 WT_M35, m36
#define WT_M37 WT_M36, m37
#define WT_M38 WT_M37, m38
#define WT_M39 WT_M38, m39
#define WT_M40 WT_M39, m40
#define WT_CASE(n)                     \
  if constexpr (kMembers == (n)) {     \
    const auto& [WT_M##n] = aggregate; \
    add_all(WT_M##n);                  \
  }

namespace windtunnel {
namespace {

// Stands for a value of any type where only the number of members counts.
struct Anything {
  template <class T>
  operator T() const {  // NOLINT(google-explicit-constructor)
    std::terminate();
  }
};

template <class T, class... Members>
constexpr int members_of() {
  if constexpr (sizeof...(Members) > 64) {
    return -1;
  } else if constexpr (requires { T{Members{}..., Anything{}}; }) {
    return members_of<T, Members..., Anything>();
  } else {
    return static_cast<int>(sizeof...(Members));
  }
}

class Digest {
 public:
  Digest() { XXH3_64bits_reset(state_.get()); }

  template <class T>
  void add(const T& value) {
    if constexpr (std::is_same_v<T, Parameter>) {
      add(value.value);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      XXH3_64bits_update(state_.get(), &value, sizeof value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      add(value.size());
      XXH3_64bits_update(state_.get(), value.data(), value.size());
    } else if constexpr (std::is_same_v<T, Action>) {  // no aggregate
      add_all(value.kind, value.with_next, value.stage, value.unit);
    } else if constexpr (requires { value.get(); }) {
      add(value != nullptr);
      if (value != nullptr) add(*value);
    } else if constexpr (requires { value.has_value(); }) {
      add(value.has_value());
      if (value.has_value()) add(*value);
    } else if constexpr (requires { value.begin(); }) {
      add(value.size());
      for (const auto& item : value) add(item);
    } else {
      add_members(value);
    }
  }
  std::string text() const { return fmt::format("{:016x}", XXH3_64bits_digest(state_.get())); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };

  template <class... Ts>
  void add_all(const Ts&... members) {
    (add(members), ...);
  }

  template <class T>
  void add_members(const T& aggregate) {
    constexpr int kMembers = members_of<T>();
    static_assert(kMembers >= 1 && kMembers <= 40, "more cases are needed");
    // clang-format off
    WT_CASE(1) WT_CASE(2) WT_CASE(3) WT_CASE(4) WT_CASE(5)
    WT_CASE(6) WT_CASE(7) WT_CASE(8) WT_CASE(9) WT_CASE(10)
    WT_CASE(11) WT_CASE(12) WT_CASE(13) WT_CASE(14) WT_CASE(15)
    WT_CASE(16) WT_CASE(17) WT_CASE(18) WT_CASE(19) WT_CASE(20)
    WT_CASE(21) WT_CASE(22) WT_CASE(23) WT_CASE(24) WT_CASE(25)
    WT_CASE(26) WT_CASE(27) WT_CASE(28) WT_CASE(29) WT_CASE(30)
    WT_CASE(31) WT_CASE(32) WT_CASE(33) WT_CASE(34) WT_CASE(35)
    WT_CASE(36) WT_CASE(37) WT_CASE(38) WT_CASE(39) WT_CASE(40)
    // clang-format on
  }

  std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
};

// Clears what campaigns read and iterations do not.
Job without_campaign(Job job) {
  for (SnapshotTier& tier : job.snapshots) {
    tier.every_iterations = 0;
    tier.every_s = tier.every_overhead = 0;
    tier.keeper_process = false;
    tier.kept = 0;
  }
  for (FailureClass& failure_class : job.failures) {
    FailureClass slowest;
    if (failure_class.kind == FailureKind::slow_node) slowest.slowdown = failure_class.slowdown;
    failure_class = slowest;
  }
  RecoveryPolicy recovery;
  recovery.when_no_spare = job.recovery.when_no_spare;
  recovery.elastic.groups = job.recovery.elastic.groups;
  job.recovery = recovery;
  job.campaign = {};
  job.tokens = job.steps = job.price_usd_per_gpu_s = 0;
  job.failure_origin = job.recovery_origin = Origin::assumed;
  return job;
}

}  // namespace

std::string table_key(const Job& job) {
  Digest digest;
  digest.add(without_campaign(job));
  return digest.text();
}

}  // namespace windtunnel
