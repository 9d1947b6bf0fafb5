#include "tests/validate/harness/exchange/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/test_names.hpp"
#include "tests/validate/harness/exchange_ranks.hpp"

namespace windtunnel {
namespace {

// Tensors are bias and weights of two layers, with odd sizes, and one tensor that is too small for
// factors.
const std::vector<TensorShape> kShapes = {{0, 130}, {130, 77}, {0, 9}, {9, 7}, {64, 130}};
constexpr int kSteps = 3;
constexpr double kRounding = 6e-8;  // 2^-24

using Sums = std::vector<std::vector<double>>;

// Returns the sum of |x| over ranks, element by element.
Sums magnitudes(GradientKind kind, int ranks, int step) {
  Sums sums;
  for (int rank = 0; rank < ranks; ++rank) {
    const Tensors gradients = gradients_of(kind, kShapes, rank, step);
    sums.resize(gradients.size());
    for (size_t t = 0; t < gradients.size(); ++t) {
      sums[t].resize(gradients[t].size());
      for (size_t i = 0; i < gradients[t].size(); ++i) sums[t][i] += std::abs(gradients[t][i]);
    }
  }
  return sums;
}

class Exchanges : public DeviceRanksTest,
                  public ::testing::WithParamInterface<std::tuple<int, GradientKind>> {
 protected:
  int ranks() const { return std::get<0>(GetParam()); }
  GradientKind kind() const { return std::get<1>(GetParam()); }

  // Calls `check(rank, gradients, result, step)` on every rank after every step.
  template <typename Check>
  void run(const CompressorChoice& choice, const Check& check) const {
    run_device_ranks(ranks(), [&](TcpGroup& group) {
      ExchangingRank rank(group, choice, kShapes);
      for (int step = 0; step < kSteps; ++step) {
        const Tensors gradients = gradients_of(kind(), kShapes, rank.rank(), step);
        const Tensors before = rank.error();
        const Tensors result = rank.run(gradients);
        rank.require_equal_on_all(result);
        check(rank, before, gradients, result, step);
      }
      rank.require_equal_calls();
    });
  }
};

// Requires that, over all ranks, what was sent and what was kept add up to the gradients, within
// `rounding` of the sum of magnitudes.
void require_nothing_lost(ExchangingRank& rank, const Tensors& before, const Tensors& gradients,
                          const Tensors& result, double rounding) {
  const Sums old = rank.sum(before);
  const Sums added = rank.sum(gradients);
  const Sums kept = rank.sum(rank.error());
  double largest = 0;
  for (size_t t = 0; t < result.size(); ++t) {
    for (size_t i = 0; i < result[t].size(); ++i) {
      largest = std::max({largest, std::abs(old[t][i]), std::abs(added[t][i])});
    }
  }
  for (size_t t = 0; t < result.size(); ++t) {
    for (size_t i = 0; i < result[t].size(); ++i) {
      const double lost = old[t][i] + added[t][i] - kept[t][i] - result[t][i];
      require(std::abs(lost) <= rounding * largest,
              fmt::format("lost {} of {} in tensor {}", lost, largest, t));
    }
  }
}

TEST_P(Exchanges, DenseGradientsAreSummed) {
  run({.name = "none"}, [&](ExchangingRank& rank, const Tensors& /*before*/,
                            const Tensors& gradients, const Tensors& result, int step) {
    const Sums sum = rank.sum(gradients);
    const Sums sizes = magnitudes(kind(), ranks(), step);
    for (size_t t = 0; t < result.size(); ++t) {
      for (size_t i = 0; i < result[t].size(); ++i) {
        require(std::abs(result[t][i] - sum[t][i]) <= ranks() * kRounding * sizes[t][i], "sum");
      }
    }
  });
}

// Each rank's element is off by at most half a quantisation step of its block, and their sum by
// half a step of the sum's block. The bound uses `largest`, the sum of the ranks' largest elements,
// in place of the largest elements of blocks.
void require_quantised(double levels, const Sums& sum, const Tensors& result, double largest) {
  for (size_t t = 0; t < result.size(); ++t) {
    for (size_t i = 0; i < result[t].size(); ++i) {
      const double bound = largest / levels * 1.0001 + 1e-6 * largest;
      require(std::abs(result[t][i] - sum[t][i]) <= bound,
              fmt::format("off by {}, bound {}", result[t][i] - sum[t][i], bound));
    }
  }
}

TEST_P(Exchanges, QuantisedSumsAreWithinTheirSteps) {
  for (const auto& [name, levels] : {std::pair{"int8", 127.0}, std::pair{"int4", 7.0}}) {
    const CompressorChoice choice{.name = name, .block = levels < 10 ? 64.0 : 256.0};
    const double steps = levels;
    run(choice, [&](ExchangingRank& rank, const Tensors& /*before*/, const Tensors& gradients,
                    const Tensors& result, int /*step*/) {
      // The error consists of half a quantisation step of each rank and of the sum. The sum's
      // values are at most the sum of the ranks' largest values.
      double own = 0;
      for (const std::vector<float>& tensor : gradients) {
        for (const float x : tensor) own = std::max(own, std::abs(double(x)));
      }
      const Tensors mine = {{static_cast<float>(own)}};
      const double largest = rank.sum(mine)[0][0];
      require_quantised(steps, rank.sum(gradients), result, largest * (1 + 1 / steps));
    });
  }
}

TEST_P(Exchanges, QuantisedWithFeedbackLosesNothingOfItsOwn) {
  const CompressorChoice choice{.name = "int8", .feedback = ErrorFeedback::ef};
  run(choice, [&](ExchangingRank& rank, const Tensors& before, const Tensors& gradients,
                  const Tensors& /*result*/, int /*step*/) {
    // A rank's error is at most half a quantisation step of the values that it had to send.
    double largest = 0;
    for (size_t t = 0; t < gradients.size(); ++t) {
      for (size_t i = 0; i < gradients[t].size(); ++i) {
        largest = std::max(largest, std::abs(double(before[t][i]) + gradients[t][i]));
      }
    }
    for (const std::vector<float>& tensor : rank.error()) {
      for (const float e : tensor) require(std::abs(e) <= largest / 254 * 1.0001, "error");
    }
  });
}

TEST_P(Exchanges, MostRanksDecideSigns) {
  run({.name = "signsgd"}, [&](ExchangingRank& rank, const Tensors& /*before*/,
                               const Tensors& gradients, const Tensors& result, int /*step*/) {
    Tensors positive = gradients;
    for (std::vector<float>& tensor : positive) {
      for (float& x : tensor) x = x >= 0 ? 1.0F : 0.0F;
    }
    const Sums votes = rank.sum(positive);
    for (size_t t = 0; t < result.size(); ++t) {
      for (size_t i = 0; i < result[t].size(); ++i) {
        require(result[t][i] == (2 * votes[t][i] >= ranks() ? 1.0F : -1.0F), "vote");
      }
    }
  });
}

TEST_P(Exchanges, SignsWithFeedbackKeepWhatTheirScaleMisses) {
  const CompressorChoice choice{.name = "signsgd", .feedback = ErrorFeedback::ef};
  run(choice, [&](ExchangingRank& rank, const Tensors& before, const Tensors& gradients,
                  const Tensors& result, int /*step*/) {
    // A tensor is padded to 64 elements with zeros, which count for the mean. Their error is minus
    // the scale and counts in the next step. So the scale can be read off the error.
    const Tensors after = rank.error();
    const float c0 = before[0][0] + gradients[0][0];
    const float scale = std::abs(c0 - after[0][0]);
    for (size_t t = 0; t < gradients.size(); ++t) {
      for (size_t i = 0; i < gradients[t].size(); ++i) {
        const float c = before[t][i] + gradients[t][i];
        const float kept = c - (c >= 0 ? scale : -scale);
        require(std::abs(after[t][i] - kept) <= 4 * kRounding * (std::abs(c) + scale), "error");
      }
    }
    const double scales = rank.sum({{scale}})[0][0];
    for (const std::vector<float>& tensor : result) {
      for (const float x : tensor)
        require(std::abs(std::abs(x) - scales) <= 1e-5 * scales, "scale");
    }
  });
}

// Each rank chooses the k largest elements of all its tensors; if some are equal, it takes the
// first of them.
TEST_P(Exchanges, TopKIsExact) {
  const CompressorChoice choice{.name = "topk", .density = 0.02};
  double elements = 0;
  for (const TensorShape& shape : kShapes) elements += shape.elements();
  const auto k = static_cast<size_t>(std::round(0.02 * elements));
  run(choice, [&](ExchangingRank& rank, const Tensors& before, const Tensors& gradients,
                  const Tensors& result, int /*step*/) {
    std::vector<float> all;
    for (size_t t = 0; t < gradients.size(); ++t) {
      for (size_t i = 0; i < gradients[t].size(); ++i) {
        all.push_back(before[t][i] + gradients[t][i]);
      }
    }
    std::vector<size_t> order(all.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(
        order, [&](size_t a, size_t b) { return std::abs(all[a]) > std::abs(all[b]); });
    std::vector<float> sent(all.size());
    for (size_t i = 0; i < k; ++i) std::swap(sent[order[i]], all[order[i]]);
    size_t at = 0;
    const Tensors after = rank.error();
    Tensors sent_by_tensor;
    for (size_t t = 0; t < after.size(); ++t) {
      sent_by_tensor.emplace_back(after[t].size());
      for (size_t i = 0; i < after[t].size(); ++i, ++at) {
        require(after[t][i] == all[at], "kept");
        sent_by_tensor[t][i] = sent[at];
      }
    }
    // A sum of at most 4 floats in double precision, rounded once, differs from sums in float by a
    // rounding each.
    const Sums sum = rank.sum(sent_by_tensor);
    for (size_t t = 0; t < result.size(); ++t) {
      for (size_t i = 0; i < result[t].size(); ++i) {
        require(std::abs(result[t][i] - sum[t][i]) <= 1e-6 * std::abs(sum[t][i]) + 1e-5, "sent");
        require((result[t][i] == 0) == (static_cast<float>(sum[t][i]) == 0), "place");
      }
    }
  });
}

TEST_P(Exchanges, SparseMethodsLoseNothing) {
  for (const char* const name : {"topk", "topk-threshold", "randomk"}) {
    const CompressorChoice choice{.name = name, .density = 0.05};
    run(choice, [&](ExchangingRank& rank, const Tensors& before, const Tensors& gradients,
                    const Tensors& result, int /*step*/) {
      require_nothing_lost(rank, before, gradients, result, 4 * kRounding);
      size_t sent = 0;
      for (const std::vector<float>& tensor : result) sent += std::ranges::count(tensor, 0.0F);
      size_t all = 0;
      for (const std::vector<float>& tensor : result) all += tensor.size();
      require(all - sent <= static_cast<size_t>(0.06 * ranks() * all), "too many");
      if (kind() == GradientKind::gaussian) {
        require(all - sent >= static_cast<size_t>(0.02 * all), "too few");
      }
    });
  }
}

TEST_P(Exchanges, LowRankMethodsLoseNothing) {
  for (const char* const name : {"powersgd", "acp-sgd"}) {
    const CompressorChoice choice{.name = name, .rank = 3};
    run(choice, [&](ExchangingRank& rank, const Tensors& before, const Tensors& gradients,
                    const Tensors& result,
                    int /*step*/) { require_nothing_lost(rank, before, gradients, result, 2e-5); });
  }
}

TEST_P(Exchanges, TernarySumsStayBetweenTheirEnds) {
  run({.name = "terngrad"}, [&](ExchangingRank& rank, const Tensors& /*before*/,
                                const Tensors& gradients, const Tensors& result, int /*step*/) {
    double largest = 0;
    for (int r = 0; r < ranks(); ++r) {
      Tensors theirs = {{0}};
      for (const std::vector<float>& tensor : gradients) {
        for (const float x : tensor) theirs[0][0] = std::max(theirs[0][0], std::abs(x));
      }
      if (r != rank.rank()) theirs[0][0] = 0;
      largest = std::max(largest, rank.sum(theirs)[0][0]);
    }
    Tensors positive = gradients;
    Tensors negative = gradients;
    for (size_t t = 0; t < gradients.size(); ++t) {
      for (size_t i = 0; i < gradients[t].size(); ++i) {
        positive[t][i] = gradients[t][i] > 0 ? 1 : 0;
        negative[t][i] = gradients[t][i] < 0 ? 1 : 0;
      }
    }
    const Sums above = rank.sum(positive);
    const Sums below = rank.sum(negative);
    for (size_t t = 0; t < result.size(); ++t) {
      for (size_t i = 0; i < result[t].size(); ++i) {
        const double codes = result[t][i] / largest;
        require(std::abs(codes - std::round(codes)) < 1e-5, "a whole number of maxima");
        require(codes <= above[t][i] + 1e-5 && codes >= -below[t][i] - 1e-5, "signs");
      }
    }
  });
}

std::string exchange_name(const std::tuple<int, GradientKind>& exchange) {
  static constexpr const char* kKinds[] = {"gaussian", "heavy", "sparse", "constant"};
  const auto [ranks, kind] = exchange;
  return std::to_string(ranks) + " ranks " + kKinds[static_cast<int>(kind)];
}

INSTANTIATE_TEST_SUITE_P(RanksAndGradients, Exchanges,
                         ::testing::Combine(::testing::Values(2, 3, 4),
                                            ::testing::ValuesIn(kGradientKinds)),
                         named(exchange_name));

using OneExchange = DeviceRanksTest;

// Every block has whole numbers up to the largest code, so that nothing is rounded while all ranks
// have the same values.
TEST_F(OneExchange, WholeNumbersSurviveQuantisation) {
  for (const auto& [name, levels] : {std::pair{"int8", 127}, std::pair{"int4", 7}}) {
    const CompressorChoice choice{.name = name, .block = levels < 10 ? 64.0 : 256.0};
    const int most = levels;
    run_device_ranks(3, [&](TcpGroup& group) {
      const std::vector<TensorShape> shapes = {{40, 256}};
      ExchangingRank rank(group, choice, shapes);
      Tensors gradients(1);
      for (int i = 0; i < 40 * 256; ++i) {
        gradients[0].push_back(static_cast<float>(i % (2 * most + 1) - most));
      }
      for (int i = 0; i < 40 * 256; i += 64) gradients[0][static_cast<size_t>(i)] = most;
      const Tensors result = rank.run(gradients);
      for (size_t i = 0; i < result[0].size(); ++i) {
        require(result[0][i] == 3 * gradients[0][i], "whole number");
      }
    });
  }
}

// Gradients whose sum has at most the rank of the factors arrive exactly: any start spans their
// rows.
TEST_F(OneExchange, FactorsHoldSumsOfTheirRank) {
  for (const char* const name : {"powersgd", "acp-sgd"}) {
    const CompressorChoice choice{.name = name, .rank = 3};
    run_device_ranks(3, [&](TcpGroup& group) {
      const std::vector<TensorShape> shapes = {{96, 80}};
      ExchangingRank rank(group, choice, shapes);
      for (int step = 0; step < 2; ++step) {
        RandomStream left(5, RandomPurpose::test, static_cast<std::uint64_t>(group.rank()));
        RandomStream right(6, RandomPurpose::test, static_cast<std::uint64_t>(group.rank()));
        std::vector<double> rows(96);
        std::vector<double> columns(80);
        for (double& x : rows) x = left.normal();
        for (double& x : columns) x = right.normal();
        Tensors gradients(1);
        for (const double row : rows) {
          for (const double column : columns) {
            gradients[0].push_back(static_cast<float>(row * column));
          }
        }
        const Sums errors = rank.sum(rank.error());
        const Sums sum = rank.sum(gradients);
        const Tensors result = rank.run(gradients);
        // ACP-SGD starts from a factor that is independent of the rows.
        if (step == 0 && choice.name == "acp-sgd") continue;
        for (size_t i = 0; i < result[0].size(); ++i) {
          require(std::abs(result[0][i] - sum[0][i] - errors[0][i]) < 1e-4, "whole");
        }
      }
    });
  }
}

// For a constant gradient, power iteration finds the best approximation (Eckart and Young 1936):
// the first entries of a diagonal matrix with decreasing entries.
TEST_F(OneExchange, FactorsFindTheLargestSingularValues) {
  for (const char* const name : {"powersgd", "acp-sgd"}) {
    const CompressorChoice choice{.name = name, .rank = 3, .feedback = ErrorFeedback::none};
    run_device_ranks(2, [&](TcpGroup& group) {
      const std::vector<TensorShape> shapes = {{64, 96}};
      ExchangingRank rank(group, choice, shapes);
      Tensors gradients = {std::vector<float>(64 * 96)};
      for (size_t i = 0; i < 64; ++i) {
        gradients[0][i * 96 + i] = std::ldexp(0.5F, -static_cast<int>(std::min<size_t>(i, 40)));
      }
      Tensors result;
      for (int step = 0; step < 40; ++step) result = rank.run(gradients);
      for (size_t row = 0; row < 64; ++row) {
        for (size_t column = 0; column < 96; ++column) {
          const float expected = row == column && row < 3 ? 2 * gradients[0][row * 96 + row] : 0;
          require(std::abs(result[0][row * 96 + column] - expected) < 1e-5, "singular values");
        }
      }
    });
  }
}

// Compares the expectation of TernGrad's codes with the gradient, over 300 runs.
TEST_F(OneExchange, TernaryIsUnbiased) {
  run_device_ranks(2, [](TcpGroup& group) {
    const std::vector<TensorShape> shapes = {{0, 512}};
    ExchangingRank rank(group, {.name = "terngrad"}, shapes);
    const Tensors gradients = gradients_of(GradientKind::gaussian, shapes, rank.rank(), 0);
    const Sums sum = rank.sum(gradients);
    constexpr int kRuns = 300;
    std::vector<double> mean(512);
    double largest = 0;
    for (int i = 0; i < kRuns; ++i) {
      const Tensors result = rank.run(gradients);
      for (size_t j = 0; j < mean.size(); ++j) {
        mean[j] += result[0][j] / kRuns;
        largest = std::max(largest, std::abs(double(result[0][j])));
      }
    }
    // A code's variance is at most a quarter of the maximum squared, and it is rounded twice.
    const double deviation = largest * std::sqrt(0.5 / kRuns);
    for (size_t j = 0; j < mean.size(); ++j) {
      require(std::abs(mean[j] - sum[0][j]) < 5 * deviation, "mean");
    }
  });
}

// An element that no rank has is zero. With m elements, one shares a counter of c with another with
// probability 1 - e^(-m/c), and is correct if at most one of its three counters is shared.
TEST_F(OneExchange, SketchesFindWhatIsNotZero) {
  for (const int ranks : {2, 3, 4}) {
    run_device_ranks(ranks, [](TcpGroup& group) {
      const std::vector<TensorShape> shapes = {{100, 200}, {0, 100}};
      ExchangingRank rank(group, {.name = "s2-reducer", .density = 0.6}, shapes);
      for (int step = 0; step < 2; ++step) {
        const Tensors gradients = gradients_of(GradientKind::sparse, shapes, rank.rank(), step);
        const Tensors result = rank.run(gradients);
        rank.require_equal_on_all(result);
        const Sums sum = rank.sum(gradients);
        size_t right = 0;
        size_t filled = 0;
        for (size_t t = 0; t < result.size(); ++t) {
          for (size_t i = 0; i < result[t].size(); ++i) {
            if (sum[t][i] == 0) {
              require(result[t][i] == 0, "zero");
              continue;
            }
            ++filled;
            if (std::abs(result[t][i] - sum[t][i]) < 1e-5) ++right;
          }
        }
        const double counters = 0.6 * 20100 / 3;
        const double shared = 1 - std::exp(-double(filled) / counters);
        const double expected = 1 - shared * shared * (3 - 2 * shared);
        const double spread = std::sqrt(filled * expected * (1 - expected));
        require(filled > 100 && right >= filled * expected - 4 * spread,
                fmt::format("{}/{}, expected {}", right, filled, expected));
      }
    });
  }
}

// Descends on the mean over ranks of |w - m|^2 / 2, where each rank has a minimum m of its own.
// Returns the squared distance to the common minimum, relative to the start.
double left_of_descent(TcpGroup& group, const CompressorChoice& choice) {
  constexpr int kDescent = 400;
  constexpr float kRate = 0.02F;
  const std::vector<TensorShape> shapes = {{0, 40}, {24, 16}, {32, 20}};
  ExchangingRank rank(group, choice, shapes);
  // A rank's minimum is a part common to all ranks, plus half as large a part of its own.
  Tensors minimum = gradients_of(GradientKind::gaussian, shapes, 50, 0);
  const Tensors own = gradients_of(GradientKind::gaussian, shapes, rank.rank(), 0);
  Tensors weights = own;
  for (size_t t = 0; t < own.size(); ++t) {
    for (size_t i = 0; i < own[t].size(); ++i) minimum[t][i] += own[t][i] / 2;
    std::ranges::fill(weights[t], 0.0F);
  }
  const auto ranks = static_cast<float>(rank.ranks());
  Tensors gradients = own;
  for (int step = 0; step < kDescent; ++step) {
    for (size_t t = 0; t < own.size(); ++t) {
      for (size_t i = 0; i < own[t].size(); ++i) {
        gradients[t][i] = (weights[t][i] - minimum[t][i]) / ranks;
      }
    }
    const Tensors sum = rank.run(gradients);
    for (size_t t = 0; t < own.size(); ++t) {
      for (size_t i = 0; i < own[t].size(); ++i) weights[t][i] -= kRate * sum[t][i];
    }
  }
  rank.require_equal_on_all(weights);
  const Sums minima = rank.sum(minimum);
  double left = 0;
  double start = 0;
  for (size_t t = 0; t < own.size(); ++t) {
    for (size_t i = 0; i < own[t].size(); ++i) {
      const double at = minima[t][i] / rank.ranks();
      left += (weights[t][i] - at) * (weights[t][i] - at);
      start += at * at;
    }
  }
  return left / start;
}

// Each compressor descends as far as dense gradients, to within a hundredth of the squared
// distance. Sparse ones without error feedback do not, because the largest elements of the ranks
// cancel out. Signs are left out: if two ranks disagree, their vote is always positive.
TEST_F(OneExchange, EachDescendsAsDenseDoes) {
  for (const CompressorChoice& choice :
       {CompressorChoice{.name = "int8"}, CompressorChoice{.name = "int4", .block = 64},
        CompressorChoice{.name = "powersgd", .rank = 4},
        CompressorChoice{.name = "acp-sgd", .rank = 4}, CompressorChoice{.name = "terngrad"},
        CompressorChoice{.name = "topk", .density = 0.1},
        CompressorChoice{.name = "topk-threshold", .density = 0.1},
        CompressorChoice{.name = "randomk", .density = 0.2}}) {
    run_device_ranks(2, [&](TcpGroup& group) {
      const double dense = left_of_descent(group, {.name = "none"});
      require(dense < 1e-6, fmt::format("dense: {} of the way is left", dense));
      const double left = left_of_descent(group, choice);
      require(left < dense + 0.01, fmt::format("{}: {} of the way is left", choice.name, left));
    });
  }
  const CompressorChoice lossy{.name = "topk", .density = 0.1, .feedback = ErrorFeedback::none};
  run_device_ranks(2, [&](TcpGroup& group) {
    const double left = left_of_descent(group, lossy);
    require(left > 0.02, fmt::format("without feedback: {} of the way is left", left));
  });
}

TEST_F(OneExchange, SaysWhyNot) {
  EXPECT_EQ(why_no_exchange({.name = "powersgd"}), "");
  EXPECT_NE(why_no_exchange({.name = "fp8"}).find("int8"), std::string::npos);
  EXPECT_NE(why_no_exchange({.name = "demo"}).find("take one of"), std::string::npos);
  EXPECT_NE(why_no_exchange({.name = "int4"}).find("blocks of 64"), std::string::npos);
  EXPECT_EQ(why_no_exchange({.name = "int4", .block = 64}), "");
  EXPECT_NE(why_no_exchange({.name = "topk", .feedback = ErrorFeedback::ef21}), "");
  EXPECT_THROW(why_no_exchange({.name = "powersdg"}), Error);
}

}  // namespace
}  // namespace windtunnel
