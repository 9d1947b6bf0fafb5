#include "validate/harness/step/mlp_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "validate/harness/collectives/tcp_collectives.hpp"

namespace windtunnel {
namespace {

constexpr int kBatch = 24;
const std::vector<MlpLayer> kLayers = {
    {40, 64, true, true}, {64, 48, false, true}, {48, 48, true, true}, {48, 10, true, false}};

// Inputs of a normal law, and targets that a network of one hidden layer makes of them.
struct Task {
  std::vector<float> inputs, targets;

  explicit Task(int rows) {
    RandomStream random(7, RandomPurpose::test, 0);
    std::vector<double> first(40 * 16);
    std::vector<double> second(16 * 10);
    for (double& w : first) w = random.normal() / std::sqrt(40.0);
    for (double& w : second) w = random.normal() / 2;
    for (int row = 0; row < rows; ++row) {
      std::vector<double> hidden(16);
      for (size_t i = 0; i < 40; ++i) {
        inputs.push_back(static_cast<float>(random.normal()));
        for (size_t j = 0; j < 16; ++j) hidden[j] += inputs.back() * first[i * 16 + j];
      }
      for (size_t k = 0; k < 10; ++k) {
        double y = 0;
        for (size_t j = 0; j < 16; ++j) y += std::max(hidden[j], 0.0) * second[j * 10 + k];
        targets.push_back(static_cast<float>(y));
      }
    }
  }
};

std::vector<float> rows_of(const std::vector<float>& all, int rank, int ranks) {
  const size_t part = all.size() / static_cast<size_t>(ranks);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(part) * rank;
  return {begin, begin + static_cast<std::ptrdiff_t>(part)};
}

struct Trained {
  std::vector<std::vector<float>> weights;
  std::vector<double> losses;  // over all ranks, a sample
};

// The calling process is rank 0, so its result comes back.
Trained train(MlpPlan plan, int ranks, int steps) {
  plan.ranks = ranks;
  plan.rank_batch = kBatch / ranks;
  Trained trained;
  run_ranks(ranks, [&](TcpGroup& group) {
    TcpCollectives collectives(group);
    MlpStep step(plan, device(DeviceKind::cpu), collectives);
    const Task task(kBatch);
    step.set_batch(rows_of(task.inputs, group.rank(), ranks),
                   rows_of(task.targets, group.rank(), ranks));
    for (int i = 0; i < steps; ++i) {
      const StepSeconds seconds = step.run();
      for (const double s : seconds.by_phase) {
        if (s < 0) throw Error("time runs backwards");
      }
      auto loss = static_cast<float>(step.loss());
      collectives.all_reduce(&loss, 1);
      trained.losses.push_back(loss / kBatch);
    }
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
      trained.weights.push_back(step.weights(i));
      // The same on all ranks, to the bit.
      std::vector<float> first = trained.weights.back();
      const size_t size_bytes = first.size() * sizeof(float);
      collectives.broadcast(reinterpret_cast<std::byte*>(first.data()), size_bytes, 0);
      if (std::memcmp(first.data(), trained.weights.back().data(), size_bytes) != 0) {
        throw Error("weights of ranks differ");
      }
    }
  });
  return trained;
}

MlpPlan plan_of(const CompressorChoice& compressor) {
  MlpPlan plan = mlp_plan(kLayers, 1, kBatch);
  plan.compressor = compressor;
  plan.learning_rate = 0.05;
  return plan;
}

double distance(const Trained& a, const Trained& b) {
  double most = 0;
  for (size_t t = 0; t < a.weights.size(); ++t) {
    for (size_t i = 0; i < a.weights[t].size(); ++i) {
      most = std::max(most, std::abs(double(a.weights[t][i]) - b.weights[t][i]));
    }
  }
  return most;
}

// A plain form in double: the same weights to rounding, so that products, ReLU and gradients are
// what they should be.
class PlainMlp {
 public:
  explicit PlainMlp(const MlpPlan& plan, const std::vector<std::vector<float>>& start) {
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
      const MlpTensor& tensor = plan.tensors[i];
      Layer& layer = layers_[static_cast<size_t>(tensor.layer)];
      (tensor.bias ? layer.bias : layer.weight).assign(start[i].begin(), start[i].end());
    }
    for (size_t i = 0; i < kLayers.size(); ++i) {
      layers_[i].bias.resize(static_cast<size_t>(kLayers[i].outputs));
    }
  }

  void step(const Task& task, double rate) {
    std::vector<Layer> gradients(kLayers.size());
    for (size_t i = 0; i < kLayers.size(); ++i) {
      gradients[i].weight.resize(layers_[i].weight.size());
      gradients[i].bias.resize(layers_[i].bias.size());
    }
    for (size_t row = 0; row < kBatch; ++row) {
      std::vector<std::vector<double>> values = {
          {task.inputs.begin() + static_cast<std::ptrdiff_t>(row) * 40,
           task.inputs.begin() + static_cast<std::ptrdiff_t>(row + 1) * 40}};
      for (size_t i = 0; i < kLayers.size(); ++i) values.push_back(outputs(i, values.back()));
      std::vector<double> back;
      for (size_t k = 0; k < 10; ++k) {
        back.push_back((values.back()[k] - task.targets[row * 10 + k]) / kBatch);
      }
      for (size_t i = kLayers.size(); i-- > 0;) {
        back = through(i, values[i], values[i + 1], back, gradients[i]);
      }
    }
    for (size_t i = 0; i < kLayers.size(); ++i) {
      const Layer& gradient = gradients[i];
      for (size_t j = 0; j < gradient.weight.size(); ++j) {
        layers_[i].weight[j] -= rate * gradient.weight[j];
      }
      if (!kLayers[i].bias) continue;
      for (size_t j = 0; j < gradient.bias.size(); ++j) {
        layers_[i].bias[j] -= rate * gradient.bias[j];
      }
    }
  }

  const std::vector<double>& values(const MlpTensor& tensor) const {
    const Layer& layer = layers_[static_cast<size_t>(tensor.layer)];
    return tensor.bias ? layer.bias : layer.weight;
  }

 private:
  struct Layer {
    std::vector<double> weight, bias;
  };

  std::vector<double> outputs(size_t layer, const std::vector<double>& inputs) const {
    std::vector<double> values = layers_[layer].bias;
    for (size_t j = 0; j < values.size(); ++j) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        values[j] += layers_[layer].weight[j * inputs.size() + i] * inputs[i];
      }
      if (kLayers[layer].relu) values[j] = std::max(values[j], 0.0);
    }
    return values;
  }

  std::vector<double> through(size_t layer, const std::vector<double>& inputs,
                              const std::vector<double>& outputs, std::vector<double> back,
                              Layer& gradient) const {
    std::vector<double> before(inputs.size());
    for (size_t j = 0; j < back.size(); ++j) {
      if (kLayers[layer].relu && outputs[j] <= 0) back[j] = 0;
      gradient.bias[j] += back[j];
      for (size_t i = 0; i < inputs.size(); ++i) {
        gradient.weight[j * inputs.size() + i] += back[j] * inputs[i];
        before[i] += layers_[layer].weight[j * inputs.size() + i] * back[j];
      }
    }
    return before;
  }

  std::vector<Layer> layers_{kLayers.size()};
};

TEST(MlpStep, EqualsAPlainForm) {
  const MlpPlan plan = plan_of({.name = "none"});
  PlainMlp plain(plan, train(plan, 1, 0).weights);
  const Task task(kBatch);
  constexpr int kSteps = 5;
  for (int i = 0; i < kSteps; ++i) plain.step(task, plan.learning_rate);
  const Trained trained = train(plan, 1, kSteps);
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const std::vector<double>& expected = plain.values(plan.tensors[t]);
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(trained.weights[t][i], expected[i], 2e-6) << "tensor " << t << ", " << i;
    }
  }
}

// Halves of a batch on two ranks, quarters on four: the same sums in another order.
TEST(MlpStep, RanksWithPartsOfABatchLearnTheSame) {
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam}) {
    MlpPlan plan = plan_of({.name = "none"});
    plan.optimizer = optimizer;
    if (optimizer == Optimizer::adam) plan.learning_rate = 1e-3;
    const Trained alone = train(plan, 1, 10);
    const Trained start = train(plan, 1, 0);
    EXPECT_GT(distance(alone, start), 1e-3);
    for (const int ranks : {2, 4}) {
      const Trained together = train(plan, ranks, 10);
      // Adam divides by roots of small numbers.
      EXPECT_LT(distance(alone, together), optimizer == Optimizer::adam ? 1e-4 : 2e-6);
      EXPECT_NEAR(alone.losses.back(), together.losses.back(), 1e-5 * alone.losses.back());
    }
  }
}

TEST(MlpStep, NamesTheKernelOfItsOptimizer) {
  for (const auto& [optimizer, kernel] :
       {std::pair{Optimizer::sgd, "sgd"}, std::pair{Optimizer::adam, "adam"}}) {
    MlpPlan plan = plan_of({.name = "none"});
    plan.optimizer = optimizer;
    KernelSteps work;
    run_ranks(1, [&](TcpGroup& group) {
      TcpCollectives collectives(group);
      work = MlpStep(plan, device(DeviceKind::cpu), collectives).work();
    });
    ASSERT_GT(work.size(), plan.tensors.size());
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
      const KernelWork& step = work[work.size() - plan.tensors.size() + i].front();
      EXPECT_EQ(step.kernel, kernel);
      EXPECT_EQ(step.elements, plan.tensors[i].shape.elements());
    }
  }
}

// Buckets change when gradients go, not what becomes of them.
TEST(MlpStep, BucketsDoNotChangeDenseSteps) {
  MlpPlan plan = plan_of({.name = "none"});
  const Trained alone = train(plan, 2, 5);
  for (const auto& buckets : std::vector<std::vector<std::vector<int>>>{
           {{0, 1, 2, 3, 4, 5, 6}}, {{0, 1, 2}, {3, 4, 5, 6}}, {{0, 1, 2, 3, 4}, {5}, {6}}}) {
    plan.buckets = buckets;
    EXPECT_LT(distance(alone, train(plan, 2, 5)), 1e-6);
  }
}

// Without signs: of two ranks that disagree the vote is always positive.
TEST(MlpStep, LearnsByEveryExchange) {
  for (const CompressorChoice& compressor :
       {CompressorChoice{.name = "none"}, CompressorChoice{.name = "int8"},
        CompressorChoice{.name = "int4", .block = 64},
        CompressorChoice{.name = "powersgd", .rank = 2},
        CompressorChoice{.name = "acp-sgd", .rank = 2}, CompressorChoice{.name = "terngrad"},
        CompressorChoice{.name = "topk", .density = 0.1},
        CompressorChoice{.name = "topk-threshold", .density = 0.1},
        CompressorChoice{.name = "randomk", .density = 0.2}}) {
    SCOPED_TRACE(compressor.name);
    MlpPlan plan = plan_of(compressor);
    plan.buckets = {{0, 1, 2, 3}, {4, 5, 6}};
    const Trained trained = train(plan, 2, 150);
    EXPECT_LT(trained.losses.back(), 0.05 * trained.losses.front());
    EXPECT_GT(trained.losses.front(), 0.5);
  }
}

// Little is lost: as good as dense within a fifth of what was learnt.
TEST(MlpStep, PowerSgdAndInt8LearnAsWellAsDense) {
  const Trained dense = train(plan_of({.name = "none"}), 2, 150);
  for (const CompressorChoice& compressor :
       {CompressorChoice{.name = "int8"}, CompressorChoice{.name = "powersgd", .rank = 4}}) {
    const Trained trained = train(plan_of(compressor), 2, 150);
    EXPECT_NEAR(trained.losses.back(), dense.losses.back(),
                0.2 * (dense.losses.front() - dense.losses.back()));
  }
}

}  // namespace
}  // namespace windtunnel
