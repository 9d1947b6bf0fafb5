#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/report/api/small_case.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;

// Describes the library's qsgd as a caller would: few bits per element, in blocks with a scale of
// four bytes.
Recipe quantised(const CompressorRequest& request) {
  const double n = request.elements();
  const double b = request.element_bytes;
  const double packed = n * (request.numbers.at("bits") / 8 + 4 / request.numbers.at("block"));
  Recipe recipe;
  recipe.steps = {
      {.kernels = {{.bytes = b * n + packed, .like = "quantise blocks", .law = "quantise-int4"}},
       .collective = Collective::all_to_all,
       .bytes = packed},
      {.kernels = {{.bytes = packed + packed / request.ranks, .like = "requantise blocks"}},
       .collective = Collective::all_gather,
       .bytes = packed},
      {.kernels = {
           {.bytes = packed + b * n, .like = "quantise blocks", .law = "dequantise-int4"}}}};
  recipe.buffer_bytes = 2 * packed;
  return recipe;
}

// Returns a compressor with one kernel, and then one all-reduce of `share` of the buffer.
Compressor sparse(double share) {
  const auto recipe = [share](const CompressorRequest& request) {
    Recipe made;
    made.steps = {{.kernels = {{.bytes = 3 * request.element_bytes * request.elements()}},
                   .bytes = share * request.element_bytes * request.elements()}};
    return made;
  };
  return {.recipe = recipe, .summable = true, .fusible = true};
}

Case unsharded() {
  return small_case().set("layout.sharding", "none");
}

Case case_with(Compressor compressor) {
  return unsharded()
      .add_compressor("mine", std::move(compressor))
      .set("communication.compressor", "mine");
}

std::string fault_of(Compressor compressor) {
  return error_of([&] { case_with(std::move(compressor)).check(); }).what();
}

// Returns the error for a recipe of one step and one kernel that `change` has damaged.
template <class Change>
std::string fault_in(Change change) {
  Compressor compressor = sparse(0.1);
  compressor.recipe = [recipe = compressor.recipe, change](const CompressorRequest& request) {
    Recipe made = recipe(request);
    change(made);
    return made;
  };
  return fault_of(std::move(compressor));
}

TEST(PublicCompressor, OwnRecipeIsTheLibrarysBitForBit) {
  const Case own = case_with(
      {.recipe = quantised, .numbers = {{"bits", 4}, {"block", 512}}, .feedback = "none"});
  const Case library = unsharded().set("communication.compressor", "qsgd");
  const Result expected = simulate(library);
  const Result result = simulate(own);
  for (const Figure& figure : expected.figures()) {
    EXPECT_EQ(result[figure.key], figure.value) << figure.key;
  }
  EXPECT_NE(expected["iteration.time_s"], simulate(unsharded())["iteration.time_s"]);
}

TEST(PublicCompressor, RequestHoldsTheBuffer) {
  CompressorRequest seen;
  Compressor compressor = {
      .recipe = quantised, .numbers = {{"bits", 4}, {"block", 512}}, .feedback = "ef"};
  compressor.recipe = [&](const CompressorRequest& request) {
    seen = request;
    return quantised(request);
  };
  Case the_case = case_with(std::move(compressor));
  the_case.set("communication.compressor.bits", "6")
      .set("communication.compressor.feedback", "ef21");
  simulate(the_case);
  EXPECT_EQ(seen.ranks, 4);  // 16 GPUs with tp 2 and pp 2
  EXPECT_EQ(seen.nodes, 1);  // a stage's replicas are on one node
  EXPECT_EQ(seen.element_bytes, 4);
  EXPECT_EQ(seen.numbers.at("bits"), 6);
  EXPECT_EQ(seen.numbers.at("block"), 512);
  EXPECT_EQ(seen.feedback, "ef21");
  EXPECT_FALSE(seen.tensors.empty());
}

TEST(PublicCompressor, FewerBytesAndMoreStateShow) {
  const double plain_s = simulate(unsharded())["iteration.time_s"];
  const double tenth_s = simulate(case_with(sparse(0.1)))["iteration.time_s"];
  const double half_s = simulate(case_with(sparse(0.5)))["iteration.time_s"];
  EXPECT_LT(tenth_s, half_s);
  EXPECT_LT(tenth_s, plain_s + 1);
  Compressor keeping = sparse(0.1);
  keeping.recipe = [recipe = keeping.recipe](const CompressorRequest& request) {
    Recipe made = recipe(request);
    made.state_bytes = 1e12;
    return made;
  };
  const Error full = error_of([&] { simulate(case_with(std::move(keeping))); });
  EXPECT_EQ(full.cause(), Error::Cause::failed);  // out of memory
}

// The compressor works with sharded gradients, with overlap that needs one all-reduce, and with
// levels of synchronisation.
TEST(PublicCompressor, GoesWhereItsPromisesAllow) {
  Case sharded = small_case();
  sharded.add_compressor("mine", sparse(0.1)).set("communication.compressor", "mine");
  EXPECT_GT(simulate(sharded)["iteration.time_s"], 0);
  Case dear = case_with(sparse(0.1));
  EXPECT_GT(simulate(dear.set("communication.overlap", "dear"))["iteration.time_s"], 0);
  Compressor plain = sparse(0.1);
  plain.summable = plain.fusible = false;
  Case whole = small_case();
  whole.add_compressor("mine", plain).set("communication.compressor", "mine");
  EXPECT_GT(simulate(whole)["iteration.time_s"], 0);
  EXPECT_THAT(error_of([&] { whole.set("communication.overlap", "dear").check(); }).what(),
              HasSubstr("needs more than one all-reduce, but"));
  Case levels = unsharded();
  levels.add_compressor("mine", sparse(0.1))
      .set("layout.pp", "1")
      .set("layout.tp", "4")
      .set("sync", "[{over: node, every: 10 steps, compressor: mine}]");
  EXPECT_GT(simulate(levels)["iteration.time_s"], 0);
}

TEST(PublicCompressor, FaultsNameStepAndKernel) {
  EXPECT_THAT(fault_in([](Recipe& r) { r.steps[0].kernels[0].bytes = -3; }),
              HasSubstr("compressor 'mine', step 0, kernel 0: bytes is -3; it must be a number"));
  EXPECT_THAT(fault_in([](Recipe& r) { r.steps[0].bytes = std::nan(""); }),
              HasSubstr("compressor 'mine', step 0: bytes is nan"));
  EXPECT_THAT(fault_in([](Recipe& r) { r.steps[0].every = 0; }), HasSubstr("every is 0"));
  EXPECT_THAT(fault_in([](Recipe& r) { r.state_bytes = std::numeric_limits<double>::infinity(); }),
              HasSubstr("compressor 'mine': state_bytes is inf"));
  EXPECT_THAT(fault_in([](Recipe& r) { r.steps[0].kernels[0].like = "erorr add"; }),
              HasSubstr("did you mean 'error add'?"));
  EXPECT_THAT(fault_in([](Recipe& r) { r.steps[0].kernels[0].law = "quantise-int5"; }),
              HasSubstr("unknown law 'quantise-int5'"));
  EXPECT_THAT(fault_in([](Recipe& r) { r.steps[0].kernels[0].next_law = "add"; }),
              HasSubstr("law is empty"));
  EXPECT_THAT(fault_in([](Recipe& r) { r.steps[0].collective = Collective::all_gather; }),
              HasSubstr("is summable, so it may only use all-reduces"));
  EXPECT_THAT(fault_in([](Recipe& r) { r.steps[0].hop = ReduceHop::node; }),
              HasSubstr("is summable, so it may only use all-reduces"));
  EXPECT_THAT(fault_in([](Recipe& r) { r.steps.push_back(r.steps[0]); }),
              HasSubstr("is fusible, but runs 2 collectives"));
  EXPECT_THAT(fault_in([](Recipe& r) {
                r.steps[0].bytes = 1e10;
                r.steps[0].every = 1e9;
              }),
              HasSubstr("bytes times every is 1e+19"));
}

// A compressor that can be fused but not reduce-scattered still promises a single all-reduce.
TEST(PublicCompressor, WhatIsFusedIsOneAllReduce) {
  Compressor gathered = sparse(0.1);
  gathered.summable = false;
  gathered.recipe = [sums = gathered.recipe](const CompressorRequest& request) {
    Recipe made = sums(request);
    made.steps[0].collective = Collective::all_gather;
    return made;
  };
  EXPECT_THAT(fault_of(gathered), HasSubstr("is fusible, so it may only use all-reduces"));
}

TEST(PublicCompressor, NamesNumbersAndKeysAreChecked) {
  Case the_case = unsharded();
  const auto message = [&](const std::string& name, Compressor compressor) {
    return std::string(
        error_of([&] { the_case.add_compressor(name, std::move(compressor)); }).what());
  };
  EXPECT_THAT(message("powersgd", sparse(1)), HasSubstr("'powersgd' already"));
  EXPECT_THAT(message("", sparse(1)), HasSubstr("needs a name"));
  Compressor wrong = sparse(1);
  wrong.numbers = {{"rnak", 4}};
  EXPECT_THAT(message("mine", wrong), HasSubstr("did you mean 'rank'?"));
  wrong.numbers = {{"density", 2}};
  EXPECT_THAT(message("mine", wrong), HasSubstr("density 2 is not above 0 and at most 1"));
  wrong.numbers = {{"rank", 0}};
  EXPECT_THAT(message("mine", wrong), HasSubstr("rank is 0; it must be a whole number above 0"));
  wrong.numbers = {{"rank", 2.5}};
  EXPECT_THAT(message("mine", wrong), HasSubstr("rank is 2.5"));
  EXPECT_THAT(message("a: b", sparse(1)), HasSubstr("cannot be called 'a: b'"));
  EXPECT_THAT(message("mine", {}), HasSubstr("compressor 'mine' has no recipe"));
  wrong.numbers = {};
  wrong.feedback = "eff";
  EXPECT_THAT(message("mine", wrong), HasSubstr("unknown feedback 'eff'"));
  Case keyed = case_with(sparse(0.1));
  EXPECT_THAT(error_of([&] { keyed.set("communication.compressor.rank", "4").check(); }).what(),
              HasSubstr("mine does not use it"));
  Case misspelt = case_with(sparse(0.1));
  EXPECT_THAT(error_of([&] { misspelt.set("communication.compressor", "mien").check(); }).what(),
              HasSubstr("did you mean 'mine'?"));
  Case tensor = case_with(sparse(0.1));
  tensor.set("communication.compressor", "none").set("compress", "[{axis: tp, name: mine}]");
  EXPECT_THAT(error_of([&] { tensor.check(); }).what(), HasSubstr("mine is made for gradients"));
}

TEST(PublicCompressor, ALaterOneOfTheNameWins) {
  Case the_case = case_with(sparse(0.9));
  const double first_s = simulate(the_case)["iteration.time_s"];
  const Case again = the_case.add_compressor("mine", sparse(0.1));
  EXPECT_LT(simulate(again)["iteration.time_s"], first_s);
}

TEST(PublicCompressor, WhatTheCallerThrowsPassesThrough) {
  const Case the_case = case_with(
      {.recipe = [](const CompressorRequest&) -> Recipe { throw std::domain_error("none"); }});
  EXPECT_THROW(the_case.check(), std::domain_error);
}

}  // namespace
}  // namespace windtunnel
