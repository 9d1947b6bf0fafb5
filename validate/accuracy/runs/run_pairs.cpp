#include "validate/accuracy/runs/run_pairs.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <utility>

#include "models/results/familiarity.hpp"

namespace windtunnel {
namespace {

constexpr double kFullWeight = 10;  // pairs from which a publisher counts in full
constexpr size_t kMostPairs = 100;  // of a publisher and kind; the others say the same again

struct PairKind {
  const char* differs;
  std::vector<std::string> keys;
};

// Another number of GPUs, precision or model usually needs another layout.
const std::vector<PairKind>& pair_kinds() {
  static const std::vector<std::string> layout = {"layout", "schedule", "batch.micro", "recompute"};
  const auto with_layout = [](std::vector<std::string> keys) {
    keys.insert(keys.end(), layout.begin(), layout.end());
    return keys;
  };
  static const std::vector<PairKind> kinds = {
      {"schedule", {"schedule.kind", "layout.vpp"}},
      {"layout", layout},
      {"number of GPUs",
       with_layout({"cluster.nodes", "cluster.node.gpus", "cluster.node.nics", "batch.global"})},
      {"precision", with_layout({"precision"})},
      {"network", {"cluster.fabric", "cluster.node.nic", "cluster.node.nics"}},
      {"model or batch", with_layout({"model", "batch"})},
      {"machine", with_layout({"cluster", "calibration", "batch.global"})},
      {"software", with_layout({"software", "communication", "offload"})},
      {"several of these", {""}},
  };
  return kinds;
}

struct Ratio {
  double error;      // log(predicted ratio / measured ratio)
  double predicted;  // logarithm
};

// The pairs of a publisher.
struct Publisher {
  std::string name;
  std::vector<Ratio> ratios;

  double weight() const {
    return std::min(1.0, static_cast<double>(ratios.size()) / kFullWeight) /
           static_cast<double>(ratios.size());
  }
};

struct Law {
  double error = 0, share = 0;

  double scale(const Ratio& ratio) const { return std::hypot(error, share * ratio.predicted); }
};

double log_likelihood(const Law& law, const std::vector<Publisher>& publishers,
                      const Publisher* without) {
  double sum = 0;
  for (const Publisher& publisher : publishers) {
    if (&publisher == without) continue;
    double of_one = 0;
    for (const Ratio& ratio : publisher.ratios) {
      const double scale = law.scale(ratio);
      const double at = ratio.error / scale;
      of_one -= std::log(scale) + (kPairFreedom + 1) / 2.0 * std::log1p(at * at / kPairFreedom);
    }
    sum += publisher.weight() * of_one;
  }
  return sum;
}

Law most_likely(const std::vector<Publisher>& publishers, const Publisher* without = nullptr) {
  Law best;
  double largest = -INFINITY;
  for (double error = 0.005; error < 0.4; error *= 1.15) {
    for (int percent = 0; percent <= 60; percent += 5) {
      const Law law{error, percent / 100.0};
      const double likelihood = log_likelihood(law, publishers, without);
      if (likelihood > largest) {
        largest = likelihood;
        best = law;
      }
    }
  }
  return best;
}

// The factor on a law's scale with which nine tenths of the pairs lie in the 90 % interval that the
// other publishers make: a law that is fitted on few publishers is too sure of the next one.
double left_out_factor(const std::vector<Publisher>& publishers) {
  std::vector<std::pair<double, double>> reaches;  // in scales, with weights
  double weights = 0;
  for (const Publisher& publisher : publishers) {
    const Law law = most_likely(publishers, &publisher);
    for (const Ratio& ratio : publisher.ratios) {
      reaches.emplace_back(std::abs(ratio.error) / law.scale(ratio), publisher.weight());
      weights += publisher.weight();
    }
  }
  std::ranges::sort(reaches);
  double below = 0;
  const auto last = std::ranges::find_if(reaches, [&](const auto& each) {
    below += each.second;
    return below >= 0.9 * weights;
  });
  return last->first / boost::math::quantile(boost::math::students_t(kPairFreedom), 0.95);
}

double measured_spread(const std::vector<Publisher>& publishers) {
  double sum = 0, weights = 0;
  for (const Publisher& publisher : publishers) {
    for (const Ratio& ratio : publisher.ratios) {
      const double measured = ratio.predicted - ratio.error;
      sum += publisher.weight() * measured * measured;
      weights += publisher.weight();
    }
  }
  return std::sqrt(sum / weights);
}

// Keys and values as numbers, so that many pairs are compared quickly.
class NumberedRuns {
 public:
  explicit NumberedRuns(const std::vector<PairedRun>& runs) {
    for (const PairedRun& run : runs) {
      for (const auto& [key, value] : run.keys) keys_.emplace(key, 0);
    }
    for (auto& [key, number] : keys_) {
      number = names_.size();
      names_.push_back(key);
    }
    std::map<std::string, int> values;
    for (const PairedRun& run : runs) {
      std::vector<int>& row = rows_.emplace_back(names_.size(), -1);  // -1: not stated
      for (const auto& [key, value] : run.keys) {
        row[keys_[key]] = values.emplace(value, static_cast<int>(values.size())).first->second;
      }
    }
  }

  std::vector<std::string> differing(size_t one, size_t other) const {
    std::vector<std::string> keys;
    for (size_t at = 0; at < names_.size(); ++at) {
      if (rows_[one][at] != rows_[other][at]) keys.push_back(names_[at]);
    }
    return keys;
  }

 private:
  std::map<std::string, size_t> keys_;
  std::vector<std::string> names_;
  std::vector<std::vector<int>> rows_;  // [run][key]
};

void thin(std::vector<Ratio>& ratios) {
  if (ratios.size() <= kMostPairs) return;
  for (size_t i = 0; i < kMostPairs; ++i) ratios[i] = ratios[i * ratios.size() / kMostPairs];
  ratios.resize(kMostPairs);
}

}  // namespace

std::vector<MeasuredPairs> judge_pairs(const std::vector<PairedRun>& runs) {
  std::vector<MeasuredPairs> kinds;
  for (const PairKind& kind : pair_kinds()) {
    kinds.push_back({.differs = kind.differs, .keys = kind.keys});
  }
  std::vector<std::vector<Publisher>> publishers(kinds.size());
  const NumberedRuns numbered(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (runs[i].source != runs[j].source) continue;
      const std::vector<std::string> keys = numbered.differing(i, j);
      if (keys.empty()) continue;  // repeated measurements
      const auto kind = static_cast<size_t>(&pairs_of(kinds, keys) - kinds.data());
      ++kinds[kind].pairs;
      std::vector<Publisher>& all = publishers[kind];
      const std::string name(publisher_of(runs[i].source));
      auto publisher = std::ranges::find(all, name, &Publisher::name);
      if (publisher == all.end()) publisher = all.insert(all.end(), {name, {}});
      const double predicted = std::log(runs[i].predicted_s / runs[j].predicted_s);
      const double measured = std::log(runs[i].measured_s / runs[j].measured_s);
      publisher->ratios.push_back({predicted - measured, predicted});
    }
  }
  std::vector<MeasuredPairs> judged;
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (publishers[i].size() < 2) continue;
    for (Publisher& publisher : publishers[i]) thin(publisher.ratios);
    const Law law = most_likely(publishers[i]);
    kinds[i].sources = static_cast<int>(publishers[i].size());
    const double factor = left_out_factor(publishers[i]);
    kinds[i].error = factor * law.error;
    kinds[i].share = factor * law.share;
    kinds[i].spread = measured_spread(publishers[i]);
    judged.push_back(kinds[i]);
  }
  return judged;
}

}  // namespace windtunnel
