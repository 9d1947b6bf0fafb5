#include "models/base/fit/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "models/base/quantile.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Step times of the form exp(p0) work + exp(p1) messages: two parameters in log space, and a third
// that has no effect.
struct Steps {
  std::vector<double> work, messages, measured;

  double seconds(const Point& point, size_t row) const {
    return std::exp(point[0]) * work[row] + std::exp(point[1]) * messages[row];
  }
};

Steps make_steps(size_t rows, const Point& truth, double noise, RandomStream& random) {
  Steps steps;
  for (size_t row = 0; row < rows; ++row) {
    steps.work.push_back(0.2 + random.uniform());
    steps.messages.push_back(2 * random.uniform());
    steps.measured.push_back(steps.seconds(truth, row) * std::exp(noise * random.normal()));
  }
  return steps;
}

FitProblem problem_of(const Steps& steps, double noise) {
  FitProblem problem;
  problem.prior = {{0.0, 0.3}, {-0.5, 0.6}, {1.0, 0.2}};
  problem.weights.assign(steps.measured.size(), 1.0);
  for (size_t row = 0; row < steps.measured.size(); ++row) {
    problem.clusters.push_back(static_cast<int>(row));
  }
  problem.scale_guess = noise;
  problem.residuals = [&steps](const std::vector<Point>& points) {
    std::vector<std::vector<double>> all;
    for (const Point& point : points) {
      std::vector<double> residuals;
      for (size_t row = 0; row < steps.measured.size(); ++row) {
        residuals.push_back(std::log(steps.seconds(point, row) / steps.measured[row]));
      }
      all.push_back(residuals);
    }
    return all;
  };
  return problem;
}

// The truth is drawn from the prior, and the rows from the truth: nine intervals of ten must hold
// it. Over 600 replicas the standard deviation of that share is 0.012.
TEST(Fit, IntervalsHoldTheTruthAsOftenAsTheySay) {
  constexpr int kReplicas = 600;
  constexpr double kNoise = 0.05;
  int held[2] = {0, 0};
  for (int replica = 0; replica < kReplicas; ++replica) {
    RandomStream random(11, RandomPurpose::test, static_cast<std::uint64_t>(replica));
    const Point truth = {0.3 * random.normal(), -0.5 + 0.6 * random.normal(), 1.0};
    const Steps steps = make_steps(40, truth, kNoise, random);
    const FitProblem problem = problem_of(steps, kNoise);
    const FitResult fit = fit_least_squares(problem);
    ASSERT_TRUE(fit.converged);
    for (const size_t i : {0u, 1u}) {
      held[i] += std::abs(fit.point[i] - truth[i]) <= kNormal95 * fit.sd[i];
    }
  }
  for (const int count : held) EXPECT_NEAR(count / double(kReplicas), 0.9, 0.04);
}

// The rows of a cluster share an error that is larger than each row's own; intervals must allow for
// it.
TEST(Fit, IntervalsAllowForClustersThatErrTogether) {
  constexpr int kReplicas = 400;
  int held = 0;
  for (int replica = 0; replica < kReplicas; ++replica) {
    RandomStream random(12, RandomPurpose::test, static_cast<std::uint64_t>(replica));
    const Point truth = {0.3 * random.normal(), -0.5, 1.0};
    Steps steps = make_steps(200, truth, 0.02, random);
    FitProblem problem = problem_of(steps, 0.1);
    problem.prior[1].sd = 1e-3;
    for (size_t first = 0; first < 200; first += 10) {
      const double shared = std::exp(0.1 * random.normal());
      for (size_t row = first; row < first + 10; ++row) {
        steps.measured[row] *= shared;
        problem.clusters[row] = static_cast<int>(first);
      }
    }
    const FitResult fit = fit_least_squares(problem);
    held += std::abs(fit.point[0] - truth[0]) <= kNormal95 * fit.sd[0];
  }
  EXPECT_NEAR(held / double(kReplicas), 0.9, 0.06);  // 0.39 without the sandwich
}

TEST(Fit, ATenthOfGrossOutliersMovesLittle) {
  RandomStream random(13, RandomPurpose::test, 0);
  const Point truth = {0.2, -0.8, 1.0};
  Steps steps = make_steps(200, truth, 0.05, random);
  const FitProblem problem = problem_of(steps, 0.05);
  const FitResult clean = fit_least_squares(problem);
  for (size_t row = 0; row < 200; row += 10) steps.measured[row] *= 8;
  const FitResult dirty = fit_least_squares(problem);
  EXPECT_TRUE(dirty.converged);
  for (const size_t i : {0u, 1u}) {
    EXPECT_NEAR(clean.point[i], truth[i], 4 * clean.sd[i]);
    EXPECT_NEAR(dirty.point[i], truth[i], 4 * clean.sd[i]);
  }
}

TEST(Fit, WithoutNoiseTheTruthIsFoundAndPriorHardlyMatters) {
  RandomStream random(14, RandomPurpose::test, 0);
  const Point truth = {0.7, -1.5, 1.0};
  const Steps steps = make_steps(30, truth, 0, random);
  const FitResult fit = fit_least_squares(problem_of(steps, 1e-4));
  EXPECT_NEAR(fit.point[0], truth[0], 1e-3);
  EXPECT_NEAR(fit.point[1], truth[1], 1e-3);
}

TEST(Fit, ParameterWithoutInfluenceStays) {
  RandomStream random(15, RandomPurpose::test, 0);
  const Steps steps = make_steps(10, {0.2, -0.8, 1.0}, 0.05, random);
  const FitResult fit = fit_least_squares(problem_of(steps, 0.05));
  EXPECT_EQ(fit.influence, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(fit.point[2], 1.0);
  EXPECT_EQ(fit.sd[2], 0.2);
}

TEST(Fit, RowsOfNoWeightLeaveThePrior) {
  RandomStream random(16, RandomPurpose::test, 0);
  const Steps steps = make_steps(10, {0.9, 0.8, 1.0}, 0.05, random);
  FitProblem problem = problem_of(steps, 0.05);
  problem.weights.assign(10, 0.0);
  const FitResult fit = fit_least_squares(problem);
  EXPECT_NEAR(fit.point[0], 0.0, 1e-12);
  EXPECT_NEAR(fit.point[1], -0.5, 1e-12);
  EXPECT_NEAR(fit.sd[1], 0.6, 1e-12);
}

TEST(Fit, FlatPriorMeetsOneRow) {
  RandomStream random(17, RandomPurpose::test, 0);
  const Steps steps = make_steps(1, {1.9, -0.5, 1.0}, 0, random);
  FitProblem problem = problem_of(steps, 0.1);
  problem.prior[0].sd = kInfinity;
  problem.prior[1].sd = 1e-6;
  const FitResult fit = fit_least_squares(problem);
  EXPECT_NEAR(fit.point[0], 1.9, 1e-3);
  EXPECT_TRUE(std::isfinite(fit.sd[0]));
}

// Residuals without a row, by one linear step, must equal those of a fit that really leaves the row
// out.
TEST(Fit, LeftOutResidualsAreThoseOfARefit) {
  RandomStream random(18, RandomPurpose::test, 0);
  const Steps steps = make_steps(40, {0.2, -0.8, 1.0}, 0.05, random);
  const FitProblem problem = problem_of(steps, 0.05);
  const FitResult fit = fit_least_squares(problem);
  std::vector<int> folds;
  for (size_t row = 0; row < 40; ++row) folds.push_back(steps.messages[row] > 1);
  const std::vector<double> left_out = left_out_residuals(problem, fit, folds);
  double most = 0;
  for (const int fold : {0, 1}) {
    FitProblem rest = problem;
    for (size_t row = 0; row < 40; ++row) rest.weights[row] = folds[row] != fold;
    const FitResult refit = fit_least_squares(rest);
    for (size_t row = 0; row < 40; ++row) {
      if (folds[row] != fold) continue;
      EXPECT_NEAR(left_out[row], refit.residuals[row], 0.006) << row;
      most = std::max(most, std::abs(left_out[row] - fit.residuals[row]));
    }
  }
  EXPECT_GT(most, 0.02);  // leaving out did change the predictions
}

TEST(Fit, AParameterThatMayNotMoveLeavesTheOthersLeftOut) {
  RandomStream random(18, RandomPurpose::test, 0);
  const Steps steps = make_steps(20, {0.2, -0.8, 1.0}, 0.05, random);
  FitProblem problem = problem_of(steps, 0.05);
  std::vector<int> folds;
  for (size_t row = 0; row < 20; ++row) folds.push_back(row % 2 == 0);
  const std::vector<double> expected =
      left_out_residuals(problem, fit_least_squares(problem), folds);
  problem.prior[2].sd = 0;
  const FitResult fit = fit_least_squares(problem);
  EXPECT_FALSE(fit.influence[2]);
  const std::vector<double> left_out = left_out_residuals(problem, fit, folds);
  for (size_t row = 0; row < 20; ++row) EXPECT_NEAR(left_out[row], expected[row], 1e-9) << row;
}

// Counts evaluations, where residuals and derivatives are evaluated by different callables.
struct Asked {
  int rows = 0;                       // evaluated residuals
  std::map<size_t, int> beside = {};  // evaluations for derivatives, by row
};

Asked asked_by(FitProblem problem, FitResult& fit) {
  Asked asked;
  const auto all = problem.residuals;
  problem.residuals = [&](const std::vector<Point>& points) {
    asked.rows += static_cast<int>(points.size() * problem.weights.size());
    return all(points);
  };
  problem.beside = [&](const std::vector<Point>& points,
                       const std::vector<std::vector<bool>>& wanted) {
    auto values = all(points);
    for (size_t at = 0; at < points.size(); ++at) {
      for (size_t row = 0; row < wanted[at].size(); ++row) {
        if (!wanted[at][row]) values[at][row] = 7;  // was not asked for
        asked.beside[row] += wanted[at][row];
      }
    }
    return values;
  };
  fit = fit_least_squares(problem);
  return asked;
}

// Half of the rows send no messages, so that they are straight lines, and one of three parameters
// has no effect. Derivatives are taken again for rows that they mispredict, for the parameters that
// affect them.
TEST(Fit, DerivativesAreTakenAgainWhereTheyMispredict) {
  RandomStream random(20, RandomPurpose::test, 0);
  Steps steps = make_steps(60, {0.2, -0.8, 1.0}, 0.05, random);
  for (size_t row = 0; row < 30; ++row) {
    steps.messages[row] = 0;
    steps.measured[row] = std::exp(0.2) * steps.work[row];
  }
  const FitProblem problem = problem_of(steps, 0.05);
  FitResult fit;
  const Asked asked = asked_by(problem, fit);
  const FitResult plain = fit_least_squares(problem);
  ASSERT_TRUE(fit.converged);
  for (const size_t i : {0u, 1u, 2u}) {
    EXPECT_DOUBLE_EQ(fit.point[i], plain.point[i]);
    EXPECT_DOUBLE_EQ(fit.sd[i], plain.sd[i]);
  }
  // At the start each row is evaluated on both sides of three parameters (6). Where the search
  // would end it is evaluated again for the parameters that affect it: one for a straight row (2),
  // two for a bent one (4). A bent row is also evaluated whenever its derivatives mispredict it.
  for (size_t row = 0; row < 30; ++row) EXPECT_EQ(asked.beside.at(row), 6 + 2) << row;
  int most = 0;
  for (size_t row = 30; row < 60; ++row) {
    EXPECT_EQ((asked.beside.at(row) - 6) % 4, 0) << row;
    most = std::max(most, asked.beside.at(row));
  }
  EXPECT_GE(most, 6 + 4 + 4);
  EXPECT_LE(most, 6 + 4 * 4);
  EXPECT_LE(asked.rows, 2 * (fit.iterations + 3) * 60);
}

TEST(Fit, AParameterMayStartWhereItEnds) {
  RandomStream random(21, RandomPurpose::test, 0);
  const Steps steps = make_steps(30, {-0.4, -0.5, 1.0}, 0.02, random);
  FitProblem problem = problem_of(steps, 0.02);
  const auto all = problem.residuals;
  problem.residuals = [all](std::vector<Point> points) {
    for (Point& point : points) point[0] = std::min(point[0], 0.0);  // flat above the prior
    return all(points);
  };
  const FitResult fit = fit_least_squares(problem);
  EXPECT_TRUE(fit.influence[0]);
  EXPECT_NEAR(fit.point[0], -0.4, 0.05);
}

// Each row is a staircase whose steps lie elsewhere, like the tiles of a kernel; on average all
// follow one line. They must constrain the fit as much as rows on that line would.
TEST(Fit, RowsThatJumpTellAsMuchAsTheLineThatTheyFollow) {
  for (const double stair : {0.001, 0.004, 0.016}) {
    for (int seed = 0; seed < 5; ++seed) {
      RandomStream random(30 + seed, RandomPurpose::test, 0);
      std::vector<double> phase(60), measured(60);
      for (size_t row = 0; row < 60; ++row) {
        phase[row] = random.uniform();
        measured[row] = 0.3 + 0.05 * random.normal();
      }
      FitProblem problem;
      problem.prior = {{0, 0.5}};
      problem.weights.assign(60, 1);
      for (int row = 0; row < 60; ++row) problem.clusters.push_back(row);
      problem.scale_guess = 0.05;
      problem.residuals = [&](const std::vector<Point>& points) {
        std::vector<std::vector<double>> residuals;
        for (const Point& point : points) {
          residuals.emplace_back();
          for (size_t row = 0; row < 60; ++row) {
            residuals.back().push_back(stair * std::floor(point[0] / stair + phase[row]) -
                                       measured[row]);
          }
        }
        return residuals;
      };
      const FitResult fit = fit_least_squares(problem);
      EXPECT_NEAR(fit.point[0], 0.3, 0.03) << stair << " " << seed;
      EXPECT_NEAR(fit.sd[0], 0.05 / std::sqrt(60), 0.004) << stair << " " << seed;
    }
  }
}

TEST(Fit, PointsThatCannotBeEvaluatedAreAvoided) {
  RandomStream random(19, RandomPurpose::test, 0);
  const Steps steps = make_steps(30, {0.5, -0.5, 1.0}, 0.05, random);
  FitProblem problem = problem_of(steps, 0.05);
  const auto all = problem.residuals;
  problem.residuals = [all](const std::vector<Point>& points) {
    auto values = all(points);
    for (size_t i = 0; i < points.size(); ++i) {
      if (points[i][0] > 0.3) values[i].assign(values[i].size(), std::nan(""));
    }
    return values;
  };
  const FitResult fit = fit_least_squares(problem);
  EXPECT_LE(fit.point[0], 0.3);
  EXPECT_GT(fit.point[0], 0.1);
}

}  // namespace
}  // namespace windtunnel
