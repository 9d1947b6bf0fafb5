#include "validate/accuracy/rows/baselines.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "models/base/error.hpp"
#include "models/cost/op/op_cost.hpp"

namespace windtunnel {
namespace {

constexpr const char* kMfuLearned = "6ND at the MFU of the fit rows";
constexpr const char* kMfuSeen = "6ND at the MFU of these rows";
constexpr const char* kRegression = "quadratic regression of the fit rows";

// The parameters that one token uses: only those of its experts.
double active_parameters(const TransformerSpec& model) {
  const int idle = model.moe.experts - model.moe.per_token;
  return model.parameters() - model.moe_layers() * std::max(idle, 0) * model.expert_parameters();
}

// Seconds of one step with all GPUs at their peak. None if the GPU does not support the precision.
std::optional<double> peak_s(const Job& job) {
  try {
    const double tokens = static_cast<double>(job.batch.global) * job.batch.sequence;
    return 6 * active_parameters(job.model) * tokens /
           (job.layout.ranks() * peak_flops(job.cluster.node.gpu, job.precision));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<double> median_mfu(const std::vector<const BaselineRow*>& rows) {
  std::vector<double> shares;
  for (const BaselineRow* row : rows) {
    const std::optional<double> ideal_s = peak_s(*row->job);
    if (ideal_s) shares.push_back(*ideal_s / row->measured_s);
  }
  if (shares.empty()) return std::nullopt;
  std::sort(shares.begin(), shares.end());
  const size_t half = shares.size() / 2;
  return shares.size() % 2 == 1 ? shares[half] : (shares[half - 1] + shares[half]) / 2;
}

constexpr int kFeatures = 7;
constexpr int kCoefficients = 1 + kFeatures + kFeatures * (kFeatures + 1) / 2;
constexpr size_t kFewestRows = 2 * size_t{kCoefficients};

using Features = Eigen::Array<double, kFeatures, 1>;

std::optional<Features> features_of(const Job& job) {
  const std::optional<double> ideal_s = peak_s(job);
  if (!ideal_s) return std::nullopt;
  const Layout& layout = job.layout;
  const double microbatches =
      static_cast<double>(job.batch.global) / (static_cast<double>(job.batch.micro) * layout.dp);
  const std::array<double, kFeatures> values = {*ideal_s,
                                                static_cast<double>(layout.ranks()),
                                                microbatches,
                                                static_cast<double>(layout.tp),
                                                static_cast<double>(layout.pp),
                                                static_cast<double>(layout.dp),
                                                static_cast<double>(job.model.hidden)};
  Features logs;
  for (int i = 0; i < kFeatures; ++i) logs[i] = std::log(values[i]);
  if (!logs.isFinite().all()) return std::nullopt;
  return logs;
}

class Regression {
 public:
  // None if there are too few rows.
  static std::optional<Regression> fit(const std::vector<const BaselineRow*>& rows) {
    std::vector<Features> features;
    std::vector<double> logs;
    for (const BaselineRow* row : rows) {
      if (const auto found = features_of(*row->job)) {
        features.push_back(*found);
        logs.push_back(std::log(row->measured_s));
      }
    }
    if (features.size() < kFewestRows) return std::nullopt;
    Regression regression;
    const auto count = static_cast<double>(features.size());
    for (const Features& at : features) regression.mean_ += at / count;
    Features variance = Features::Zero();
    for (const Features& at : features) variance += (at - regression.mean_).square() / count;
    // A constant feature tells nothing; its scale must not be 0.
    regression.scale_ = (variance > 1e-12).select(variance.sqrt(), 1);
    Eigen::MatrixXd matrix(features.size(), kCoefficients);
    for (size_t i = 0; i < features.size(); ++i) {
      matrix.row(static_cast<Eigen::Index>(i)) = regression.terms(features[i]);
    }
    const Eigen::Map<const Eigen::VectorXd> target(logs.data(),
                                                   static_cast<Eigen::Index>(logs.size()));
    // If columns are linearly dependent, this is the solution with the smallest norm.
    regression.coefficients_ = matrix.completeOrthogonalDecomposition().solve(target);
    return regression;
  }

  std::optional<double> predict_s(const Job& job) const {
    const auto features = features_of(job);
    if (!features) return std::nullopt;
    return std::exp(terms(*features).dot(coefficients_));
  }

 private:
  Eigen::RowVectorXd terms(const Features& features) const {
    const Features at = (features - mean_) / scale_;
    Eigen::RowVectorXd row(kCoefficients);
    Eigen::Index next = 0;
    row[next++] = 1;
    for (int i = 0; i < kFeatures; ++i) {
      row[next++] = at[i];
      for (int j = 0; j <= i; ++j) row[next++] = at[i] * at[j];
    }
    return row;
  }

  Features mean_ = Features::Zero();
  Features scale_ = Features::Ones();
  Eigen::VectorXd coefficients_;
};

// The fitted rules of one family. kMfuSeen and kMfuLearned name the rows that the MFU comes from.
struct Rules {
  std::optional<double> mfu;
  const char* mfu_name = kMfuSeen;
  std::optional<Regression> regression;
};

Rules learn(const std::string& family, const std::vector<BaselineRow>& rows) {
  std::vector<const BaselineRow*> learned;
  std::vector<const BaselineRow*> elsewhere;
  std::vector<const BaselineRow*> judged;
  for (const BaselineRow& row : rows) {
    if (row.fit) elsewhere.push_back(&row);
    if (row.family == family) (row.fit ? learned : judged).push_back(&row);
  }
  Rules rules;
  rules.regression = Regression::fit(learned);
  rules.mfu = median_mfu(learned.empty() ? elsewhere : learned);
  if (rules.mfu) {
    rules.mfu_name = kMfuLearned;
  } else {
    rules.mfu = median_mfu(judged);
  }
  return rules;
}

}  // namespace

std::vector<std::map<std::string, double>> step_baselines(const std::vector<BaselineRow>& rows) {
  std::map<std::string, Rules> rules;
  std::vector<std::map<std::string, double>> predictions;
  for (const BaselineRow& row : rows) {
    auto& named = predictions.emplace_back();
    if (row.fit) continue;
    const auto [at, is_new] = rules.try_emplace(row.family);
    if (is_new) at->second = learn(row.family, rows);
    const Rules& rule = at->second;
    const std::optional<double> ideal_s = peak_s(*row.job);
    if (rule.mfu && ideal_s) named[rule.mfu_name] = *ideal_s / *rule.mfu;
    if (!rule.regression) continue;
    if (const auto seconds = rule.regression->predict_s(*row.job)) named[kRegression] = *seconds;
  }
  return predictions;
}

}  // namespace windtunnel
