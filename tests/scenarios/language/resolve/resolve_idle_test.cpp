#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/workload/filling.hpp"
#include "models/workload/input_pipeline.hpp"
#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

std::string idle_text(const std::string& line, const std::string& cluster = "") {
  return fmt::format(
      "name: a\nmodel: {{layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}}\n"
      "cluster: {{nodes: 1, node: dgx-h100{}}}\n"
      "layout: {{pp: 2}}\nbatch: {{global: 16}}\n{}\n",
      cluster, line);
}

Case idle_case(const std::string& line) {
  return parse_case(idle_text(line), "a.yaml");
}

std::string idle_fault(const std::string& line, const std::string& cluster = "") {
  return error_of([&] { parse_case(idle_text(line, cluster), "a.yaml"); });
}

TEST(ResolveFilling, TakesModelsAndPieces) {
  const Job job =
      idle_case(
          "filling: {margin: 0.1, work: [{name: encoder, model: bert-large, samples: 4, "
          "needed_by: micro-batch, units: 2}, {name: other, piece: 3 ms, unit_pieces: 7, "
          "resident: 1 GB, working: 2 MB, switch: 1 ms}]}")
          .job;
  ASSERT_NE(job.filling, nullptr);
  EXPECT_EQ(job.filling->margin, 0.1);
  const FillingWork& encoder = job.filling->work[0];
  EXPECT_EQ(encoder.need, FillingNeed::microbatch);
  EXPECT_EQ(encoder.units, 2);
  EXPECT_EQ(encoder.model->transformer.name, "bert-large");
  const FillingWork& other = job.filling->work[1];
  EXPECT_EQ(other.model, nullptr);
  EXPECT_EQ(other.piece_s, 3e-3);
  EXPECT_EQ(other.pieces, 7);
  EXPECT_EQ(other.resident_bytes, 1e9);
  EXPECT_EQ(idle_case("").job.filling, nullptr);
  EXPECT_NE(idle_case("filling: {work: [{name: n, model: resnet-50}]}")
                .job.filling->work[0]
                .model->network,
            nullptr);
}

TEST(ResolveFilling, WhatCannotBeIsRefusedAtItsPlace) {
  const std::string start = "a.yaml:6:";
  for (const auto& [line, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"filling: {work: [{name: n}]}", "piece: 3 ms"},
           {"filling: {work: [{name: n, model: bert-base, piece: 1 s}]}",
            "leave this key or the model out"},
           {"filling: {work: [{name: n, piece: 1 s, samples: 4}]}", "add model"},
           {"filling: {work: [{name: n, piece: 1 s, units: 4}]}", "add needed_by"},
           {"redundancy: drop-slowest\nfilling: {work: [{name: n, piece: 1 s}]}", "redundancy"}}) {
    const std::string fault = idle_fault(line);
    EXPECT_THAT(fault, HasSubstr(why));
    EXPECT_TRUE(fault.starts_with(start) || fault.starts_with("a.yaml:7:")) << fault;
  }
  EXPECT_THAT(
      idle_fault("filling: {work: [{name: n, piece: 1 s}]}", ", jitter: {sigma: 0.1, per: task}"),
      HasSubstr("per: step"));
}

TEST(ResolveInput, IsAsStated) {
  const Job job = idle_case(
                      "input: {sample: 110 kB, prepare: 8 ms, workers: 8, read_from: local-disk, "
                      "prefetch: 0}")
                      .job;
  ASSERT_NE(job.input, nullptr);
  EXPECT_EQ(job.input->sample_bytes, 110e3);
  EXPECT_EQ(job.input->sample_core_s, 8e-3);
  EXPECT_EQ(job.input->workers, 8);
  EXPECT_EQ(job.input->source, InputSource::local_disk);
  EXPECT_EQ(job.input->prefetch, 0);
  EXPECT_THAT(idle_fault("input: {sample: 1 kB, read_from: memory}"), HasSubstr("leave it out"));
}

TEST(ResolvePauses, ByIterationsOrTime) {
  const TrainingPauses pauses =
      idle_case(
          "campaign: {length: 1 d, evaluation: {every: 1000 iterations, takes: 60 s}, logging: "
          "{every: 10 min, takes: 2 s}}")
          .pauses;
  EXPECT_EQ(pauses.evaluation, (TrainingPause{1000, 0, 60}));
  EXPECT_EQ(pauses.logging, (TrainingPause{0, 600, 2}));
  EXPECT_THAT(idle_fault("campaign: {length: 1 d, evaluation: {every: 1 h}}"), HasSubstr("takes"));
}

// The keys of idle work are part of a case's identity; the margin changes no iteration.
TEST(ResolveIdle, IsPartOfWhatACaseIs) {
  const auto work = [](const char* margin) {
    return idle_case(
        fmt::format("filling: {{margin: {}, work: [{{name: n, piece: 1 s}}]}}", margin));
  };
  EXPECT_NE(work("0.1").table, work("0.2").table);
  const auto paused = [](const char* takes) {
    return idle_case(
        fmt::format("campaign: {{length: 1 d, logging: {{every: 1 h, takes: {}}}}}", takes));
  };
  EXPECT_NE(paused("1 s").key, paused("2 s").key);
  EXPECT_EQ(paused("1 s").table, paused("2 s").table);
}

}  // namespace
}  // namespace windtunnel
