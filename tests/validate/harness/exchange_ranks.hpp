// Runs exchanges on several processes. Every rank can compute the gradients of all ranks, and
// therefore the result that each rank must hold.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "tests/validate/harness/device_ranks.hpp"
#include "tests/validate/harness/exchange/exchange.hpp"

namespace windtunnel {

using Tensors = std::vector<std::vector<float>>;

// A rank that finds a fault throws, and run_ranks() passes it on.
inline void require(bool holds, const std::string& what) {
  if (!holds) throw Error(what);
}

inline bool same_bits(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

enum class GradientKind { gaussian, heavy, sparse, constant };
constexpr GradientKind kGradientKinds[] = {GradientKind::gaussian, GradientKind::heavy,
                                           GradientKind::sparse, GradientKind::constant};

inline float draw(GradientKind kind, RandomStream& random) {
  switch (kind) {
    case GradientKind::gaussian:
      return static_cast<float>(random.normal());
    case GradientKind::heavy:
      return static_cast<float>(std::tan(M_PI * (random.uniform() - 0.5)));
    case GradientKind::sparse:
      return random.below(100) == 0 ? static_cast<float>(random.normal()) : 0.0F;
    case GradientKind::constant:
      break;
  }
  return 0.25F;
}

inline Tensors gradients_of(GradientKind kind, const std::vector<TensorShape>& shapes, int rank,
                            int step) {
  RandomStream random(static_cast<std::uint64_t>(100 * step + rank), RandomPurpose::test,
                      static_cast<std::uint64_t>(kind));
  Tensors tensors;
  for (const TensorShape& shape : shapes) {
    std::vector<float>& values = tensors.emplace_back(static_cast<size_t>(shape.elements()));
    for (float& value : values) value = draw(kind, random);
  }
  return tensors;
}

class RecordingCollectives : public Collectives {
 public:
  explicit RecordingCollectives(Collectives& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int ranks() const override { return inner_.ranks(); }
  void all_reduce(float* values, size_t elements) override {
    note("all-reduce-ring", elements * sizeof(float));
    inner_.all_reduce(values, elements);
  }
  void reduce_scatter(const float* values, float* part, size_t part_elements) override {
    note("reduce-scatter-ring", part_elements * sizeof(float) * static_cast<size_t>(ranks()));
    inner_.reduce_scatter(values, part, part_elements);
  }
  void all_gather(const std::byte* part, std::byte* all, size_t part_bytes) override {
    note("all-gather-ring", part_bytes * static_cast<size_t>(ranks()));
    inner_.all_gather(part, all, part_bytes);
  }
  void all_to_all(const std::byte* out, std::byte* in, size_t part_bytes) override {
    note("all-to-all-pairwise", part_bytes * static_cast<size_t>(ranks()));
    inner_.all_to_all(out, in, part_bytes);
  }
  void broadcast(std::byte* values, size_t size_bytes, int root) override {
    note("broadcast", size_bytes);
    inner_.broadcast(values, size_bytes, root);
  }
  void exchange(int to, const std::byte* out, size_t out_bytes, int from, std::byte* in,
                size_t in_bytes) override {
    note("send", out_bytes);
    inner_.exchange(to, out, out_bytes, from, in, in_bytes);
  }

  const std::string& calls() const { return calls_; }

 private:
  void note(const char* name, size_t bytes) { calls_ += fmt::format("{} {}\n", name, bytes); }

  Collectives& inner_;
  std::string calls_;
};

// Runs one rank's side of an exchange.
class ExchangingRank {
 public:
  ExchangingRank(TcpGroup& group, const CompressorChoice& choice,
                 const std::vector<TensorShape>& shapes)
      : group_(group),
        tcp_(group),
        device_collectives_(device_collectives(group)),
        collectives_(*device_collectives_),
        shapes_(shapes),
        exchange_(choice, shapes, device(kTestDevice), collectives_) {}

  int ranks() const { return group_.ranks(); }
  int rank() const { return group_.rank(); }
  Exchange& exchange() { return exchange_; }

  // Returns the sum that this rank got.
  Tensors run(const Tensors& gradients) {
    for (size_t i = 0; i < shapes_.size(); ++i) {
      device(kTestDevice)
          .copy(reinterpret_cast<std::byte*>(exchange_.gradient(i)),
                reinterpret_cast<const std::byte*>(gradients[i].data()),
                gradients[i].size() * sizeof(float));
    }
    exchange_.run();
    return read([&](size_t i) { return exchange_.gradient(i); });
  }

  // Returns what this rank has not sent; zeros if nothing is kept.
  Tensors error() const {
    return read([&](size_t i) { return exchange_.error(i); });
  }

  // Adds up the values of all ranks in double precision.
  std::vector<std::vector<double>> sum(const Tensors& own) {
    std::vector<std::vector<double>> sums;
    for (const std::vector<float>& values : own) {
      std::vector<double>& sum = sums.emplace_back(values.size());
      for (int rank = 0; rank < ranks(); ++rank) {
        std::vector<float> theirs = values;
        tcp_.broadcast(reinterpret_cast<std::byte*>(theirs.data()), theirs.size() * sizeof(float),
                       rank);
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += theirs[i];
      }
    }
    return sums;
  }

  void require_equal_on_all(const Tensors& result) {
    for (const std::vector<float>& values : result) {
      std::vector<float> first = values;
      tcp_.broadcast(reinterpret_cast<std::byte*>(first.data()), first.size() * sizeof(float), 0);
      require(std::memcmp(first.data(), values.data(), first.size() * sizeof(float)) == 0,
              "ranks differ");
    }
  }

  // Requires that all ranks called the same collectives.
  void require_equal_calls() {
    std::string first = collectives_.calls();
    size_t size = first.size();
    tcp_.broadcast(reinterpret_cast<std::byte*>(&size), sizeof size, 0);
    require(size == first.size(), "calls of ranks differ in number");
    tcp_.broadcast(reinterpret_cast<std::byte*>(first.data()), size, 0);
    require(first == collectives_.calls(), "calls of ranks differ");
  }
  const std::string& calls() const { return collectives_.calls(); }

 private:
  template <typename Place>
  Tensors read(const Place& place) const {
    Tensors tensors;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      const auto elements = static_cast<size_t>(shapes_[i].elements());
      const float* const from = place(i);
      std::vector<float>& values = tensors.emplace_back(elements);
      if (from == nullptr) continue;
      device(kTestDevice)
          .copy(reinterpret_cast<std::byte*>(values.data()),
                reinterpret_cast<const std::byte*>(from), elements * sizeof(float));
    }
    return tensors;
  }

  TcpGroup& group_;
  TcpCollectives tcp_;
  std::unique_ptr<Collectives> device_collectives_;
  RecordingCollectives collectives_;
  std::vector<TensorShape> shapes_;
  Exchange exchange_;
};

}  // namespace windtunnel
