#include "report/json/model_json.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "report/json/json.hpp"
#include "scenarios/language/library/library.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

TEST(ModelJson, HasDimensionsAndParametersByTheScenariosKeys) {
  const Json json = model_json(find_model("deepseek-v3"));
  EXPECT_EQ(json.at("layers"), 61);
  EXPECT_EQ(json.at("moe").at("experts"), 256);
  EXPECT_EQ(json.at("latent").at("kv_rank"), 512);
  EXPECT_EQ(json.at("parameters"), find_model("deepseek-v3").parameters());
  EXPECT_EQ(json.at("active_parameters"), find_model("deepseek-v3").active_parameters());
  EXPECT_TRUE(model_json(find_model("gemma3-27b")).at("moe").is_null());
  EXPECT_EQ(model_json(find_model("gemma3-27b")).at("window"), 1024);
}

TEST(ModelJson, OfARunIsWhatItTrains) {
  Record record = sample_record();
  const Json json = run_document(record, false).at("model");
  EXPECT_EQ(json.at("hidden"), record.job.model.hidden);
  record.job.network = std::make_shared<const LayerTable>(library_networks().front());
  EXPECT_EQ(model_json(record.job).at("name"), library_networks().front().name);
}

}  // namespace
}  // namespace windtunnel
