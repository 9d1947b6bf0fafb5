// Features that number the layers of a model are tested with models that are tables of layers.
#include <gtest/gtest.h>

#include "models/workload/layer_table.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

struct TableJob {
  const char* name;
  const char* scenario;
  Overrides set;
};

void PrintTo(const TableJob& job, std::ostream* out) {
  *out << job.name;
}

class LayerTableJobs : public testing::TestWithParam<TableJob> {};

TEST_P(LayerTableJobs, RunToAStepTime) {
  const std::string file = std::string(WINDTUNNEL_SOURCE_DIR) + "/scenarios/" + GetParam().scenario;
  const Record record =
      simulate(load_case(file, GetParam().set), {.threads = 1, .allow_oom = true});
  EXPECT_GT(record.iteration.time_s, 0);
  EXPECT_EQ(record.job.model.layers, static_cast<int>(record.job.network->layers.size()));
}

INSTANTIATE_TEST_SUITE_P(
    All, LayerTableJobs,
    testing::Values(
        TableJob{"gossip",
                 "mlp-cpu.yaml",
                 {{"sync", "[{islands: 2, every: 1 step, pattern: gossip, graph: random}]"}}},
        TableJob{"fragments",
                 "headlines/l-greco.yaml",
                 {{"sync",
                   "[{islands: 2, every: 50 steps, fragments: 5, delay: 2 steps, compressor: "
                   "int4}]"}}},
        TableJob{
            "islands",
            "headlines/terngrad.yaml",
            {{"communication.compressor", "none"}, {"sync", "[{islands: 2, every: 10 steps}]"}}},
        TableJob{"filling",
                 "headlines/acp-sgd-resnet.yaml",
                 {{"filling", "{work: [{name: evaluation, piece: 1 ms}]}"}}}),
    [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace windtunnel
