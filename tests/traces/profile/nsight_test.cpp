#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/error_of.hpp"
#include "traces/profile/captured_steps.hpp"
#include "traces/profile/profile_reader.hpp"
#include "traces/sqlite/sqlite_file.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;
using Statements = std::vector<std::string>;

std::string database(const Statements& statements, const std::string& name = "t") {
  const std::string path =
      fmt::format("{}windtunnel-nsight-{}-{}.sqlite", ::testing::TempDir(), getpid(), name);
  std::filesystem::remove(path);
  SqliteFile file(path);
  for (const std::string& statement : statements) file.execute(statement);
  file.close();
  return path;
}

// These tables are as Nsight Systems 2024 exports them, with the columns that are read and some
// others.
Statements tables() {
  return {
      "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, "
      "deviceId INTEGER NOT NULL, contextId INTEGER, streamId INTEGER NOT NULL, correlationId "
      "INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, "
      "streamId INTEGER, correlationId INTEGER, bytes INTEGER, copyKind INTEGER)",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, correlationId "
      "INTEGER, nameId INTEGER)",
      "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, "
      "globalTid INTEGER, textId INTEGER)",
      "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT)",
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3')",
      "INSERT INTO StringIds VALUES (1, 'sm90_xmma_gemm_bf16'), (2, "
      "'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'), (3, 'iteration 8')",
  };
}

Statements with(Statements more) {
  Statements all = tables();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::string kernel_row(std::int64_t start, std::int64_t end, int name = 1, int correlation = 5) {
  return fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, 0, 1, 7, {}, 9, {}, 1)", start, end,
      correlation, name);
}

TEST(Nsight, WhatItHoldsBecomesAProfile) {
  const std::string path = database(
      with(
          {kernel_row(2000, 5000), kernel_row(6000, 9000, 2, 6),
           "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (9000, 9500, 0, 7, 7, 100, 1)",
           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1500, 5, 1), (2000, 2100, 6, 1), "
           "(2200, 2300, 7, 1)",
           "INSERT INTO NVTX_EVENTS VALUES (500, 1800, 59, 'ProfilerStep#7', 1, NULL), (1800, "
           "9900, "
           "59, NULL, 1, 3), (600, 700, 59, 'forward', 1, NULL), (600, NULL, 34, 'step 5', 1, "
           "NULL)"}),
      "rank3");
  const RankProfile profile = read_profile(path);
  EXPECT_EQ(profile.rank, 3);
  EXPECT_EQ(profile.gpu, "NVIDIA H100 80GB HBM3");
  ASSERT_EQ(profile.work.size(), 3u);
  EXPECT_EQ(profile.work[0].kind, WorkKind::product);
  EXPECT_NEAR(profile.work[0].launched_s, 0.5e-6, 1e-12);
  EXPECT_EQ(profile.work[1].kind, WorkKind::communication);
  ASSERT_EQ(profile.calls.size(), 1u);
  EXPECT_LT(profile.calls[0].bytes, 0);  // not stated
  EXPECT_EQ(profile.work[2].kind, WorkKind::copy);
  ASSERT_EQ(profile.steps.size(), 2u);
  EXPECT_EQ(profile.steps[1].name, "iteration 8");
  EXPECT_EQ(captured_steps(profile).steps.size(), 2u);
}

TEST(Nsight, WithKernelsAloneItIsRead) {
  const std::string path = database(
      {"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
       "streamId INTEGER, correlationId INTEGER)",
       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 7, 1)"});
  EXPECT_EQ(read_nsight(path).work.size(), 1u);
}

TEST(ProfileReader, RanksStandInNames) {
  const std::string path = database(with({kernel_row(1, 2)}), "x");
  const auto rank_of = [&](const std::string& name) {
    const std::string copy = ::testing::TempDir() + "windtunnel-" + name + ".sqlite";
    std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
    const RankId rank = read_profile(copy).rank;
    std::filesystem::remove(copy);
    return rank;
  };
  EXPECT_EQ(rank_of("run.rank12"), 12);
  EXPECT_EQ(rank_of("rank-3.pt.trace"), 3);
  EXPECT_EQ(rank_of("trace.4"), 4);
  EXPECT_EQ(rank_of("frank.3"), 3);            // letters before "rank" do not matter
  EXPECT_EQ(rank_of("run.2024.12.h100"), -1);  // these numbers are no ranks
  EXPECT_EQ(rank_of("run.2024.3"), 3);
  EXPECT_EQ(rank_of("node2.rank_5.2024"), 5);
  EXPECT_EQ(rank_of("run"), -1);
  EXPECT_EQ(rank_of("rank99999999999"), -1);
}

TEST(NsightErrors, GraphsWithoutTheirKernelsAreRefused) {
  const std::string table =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, graphId INTEGER)";
  EXPECT_EQ(read_nsight(database(with({kernel_row(1, 2), table}))).work.size(), 1u);
  const std::string path = database(with(
      {kernel_row(1, 2), table, "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (3, 9, 1)"}));
  EXPECT_THAT(error_of([&] { read_nsight(path); }), HasSubstr("--cuda-graph-trace=node"));
}

TEST(NsightErrors, HostileFilesAreRefusedInWords) {
  const std::string whole_path = database(with({kernel_row(1, 2)}), "whole");
  std::ifstream in(whole_path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const auto bytes_fault = [](const std::string& bytes) {
    const std::string path =
        fmt::format("{}windtunnel-nsight-{}-bytes.sqlite", ::testing::TempDir(), getpid());
    std::ofstream(path, std::ios::binary) << bytes;
    return error_of([&] { read_nsight(path); });
  };
  const std::string none = "has no table CUPTI_ACTIVITY_KIND_KERNEL";
  EXPECT_THAT(bytes_fault(""), HasSubstr(none));
  for (const std::string& bytes :
       {std::string(200, 'x'),
        std::string("not a database, but long enough to hold a header of one, "
                    "which has a hundred bytes and this one more than that")}) {
    EXPECT_THAT(bytes_fault(bytes), HasSubstr("file is not a database"));
  }
  EXPECT_THAT(bytes_fault("x"), HasSubstr("windtunnel-nsight"));
  for (const double share : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    const auto size = static_cast<std::size_t>(double(whole.size()) * share);
    EXPECT_THAT(bytes_fault(whole.substr(0, size)), HasSubstr("windtunnel-nsight"));
  }
  for (const std::size_t at : {std::size_t{16}, std::size_t{19}, std::size_t{100}}) {
    std::string flipped = whole;
    flipped[at] = '\x77';
    EXPECT_THAT(bytes_fault(flipped), HasSubstr("windtunnel-nsight")) << at;
  }
  EXPECT_THAT(error_of([] { read_nsight("/nowhere.sqlite"); }), HasSubstr("cannot be read"));
  EXPECT_THAT(error_of([] { read_nsight(::testing::TempDir()); }),
              HasSubstr("is a folder; expected a file"));
}

TEST(NsightErrors, HostileTablesAreRefusedInWords) {
  const std::string kernels = "CUPTI_ACTIVITY_KIND_KERNEL";
  const auto made = [&](const std::string& columns) {
    return "CREATE TABLE " + kernels + " (" + columns + ")";
  };
  const std::string full = made("start, end, deviceId, streamId, correlationId, demangledName");
  const auto row = [&](const std::string& values) {
    return Statements{full, "INSERT INTO " + kernels + " VALUES (" + values + ")"};
  };
  const auto in_table = [&](const std::string& statement) {
    return with({kernel_row(1, 2), statement});
  };
  const std::string launches = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ";
  const std::string copies = "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES ";
  const std::string spans = "INSERT INTO NVTX_EVENTS VALUES ";
  const std::string at = "table " + kernels + ", row 1: ";
  const std::pair<Statements, std::string> cases[] = {
      {{"CREATE TABLE other (a)"}, "has no table " + kernels},
      {{"CREATE VIEW " + kernels + " AS SELECT 1 AS start"}, "has no table " + kernels},
      {{"CREATE VIEW " + kernels +
        " AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS start "
        "FROM r"},
       "has no table " + kernels},
      {tables(), "contains no work of a GPU; let the profiler"},
      {{full}, "contains no work of a GPU; let the profiler"},
      {{made("a")}, "no such column: start"},
      {{made("start")}, "no such column"},
      {{made("start, end")}, "no such column: deviceId"},
      {{made("start, end, deviceId")}, "no such column: streamId"},
      {{made("start, end, deviceId, streamId")}, "no such column: correlationId"},
      {row("NULL, 2, 0, 7, 1, 1"), at + "'start' is not a whole number"},
      {row("1, NULL, 0, 7, 1, 1"), at + "'end' is not a whole number"},
      {row("'one', 2, 0, 7, 1, 1"), "'start' is not a whole number"},
      {row("1.5, 2, 0, 7, 1, 1"), "'start' is not a whole number"},
      {row("x'00', 2, 0, 7, 1, 1"), "'start' is not a whole number"},
      {row("1, 2.5, 0, 7, 1, 1"), "'end' is not a whole number"},
      {row("1, 9e999, 0, 7, 1, 1"), "'end' is not a whole number"},
      {row("1, -9e999, 0, 7, 1, 1"), "'end' is not a whole number"},
      {row("1, 'NaN', 0, 7, 1, 1"), "'end' is not a whole number"},
      {row("5, 2, 0, 7, 1, 1"), at + "ends at 2 ns, before it begins at 5"},
      {row("-9223372036854775807, 9223372036854775807, 0, 7, 1, 1"), "'dur' is 1.8"},
      {row("0, 9223372036854775807, 0, 7, 1, 1"), "'dur' is 9223372036854776 micro"},
      {row("1, 2, 'zero', 7, 1, 1"), "'deviceId' is not a whole number"},
      {row("1, 2, 0.5, 7, 1, 1"), "'deviceId' is not a whole number"},
      {row("1, 2, 0, 'seven', 1, 1"), "'streamId' is not a whole number"},
      {row("1, 2, 0, 7.5, 1, 1"), "'streamId' is not a whole number"},
      {row("1, 2, 0, 7, x'', 1"), "'correlationId' is not a whole number"},
      {row("1, 2, 0, 7, 'x', 1"), "'correlationId' is not a whole number"},
      {row("1, 2, 0, 7, 1, 1), (1, 2, 1, 7, 1, 1"), "of both GPU 0 and GPU 1"},
      {{full, "CREATE TABLE StringIds (id)", "INSERT INTO " + kernels + " VALUES (1,2,0,7,1,1)"},
       "no such column: s.value"},
      {{full, "CREATE TABLE StringIds (value)", "INSERT INTO " + kernels + " VALUES (1,2,0,7,1,1)"},
       "no such column: s.id"},
      {{made("start, end, deviceId, streamId, correlationId"),
        "CREATE TABLE StringIds (id, value)"},
       "no such column: k.demangledName"},
      {{full, "CREATE TABLE StringIds (id, value)", "INSERT INTO StringIds VALUES (1, 7)",
        "INSERT INTO " + kernels + " VALUES (1,2,0,7,1,1)"},
       "'value' is no text"},
      {{full, "CREATE TABLE StringIds (id, value)", "INSERT INTO StringIds VALUES (1, x'ff')",
        "INSERT INTO " + kernels + " VALUES (1,2,0,7,1,1)"},
       "'value' is no text"},
      {in_table(launches + "('a', 2, 5, 1)"), "table CUPTI_ACTIVITY_KIND_RUNTIME, row 1: 'start'"},
      {in_table(launches + "(1, NULL, 5, 1)"), "'end' is not a whole number"},
      {in_table(launches + "(3, 2, 5, 1)"), "ends at 2 ns"},
      {in_table(launches + "(1, 2, 'x', 1)"), "'correlationId' is not a whole number"},
      {in_table(launches + "(1, 2, 0.5, 1)"), "'correlationId' is not a whole number"},
      {in_table(copies + "('a', 2, 0, 7, 7, 1, 1)"), "table CUPTI_ACTIVITY_KIND_MEMCPY, row 1"},
      {in_table(copies + "(NULL, 2, 0, 7, 7, 1, 1)"), "'start' is not a whole number"},
      {in_table(copies + "(9, 2, 0, 7, 7, 1, 1)"), "ends at 2 ns"},
      {in_table(copies + "(1, 2, 3, 7, 7, 1, 1)"), "of both GPU 0 and GPU 3"},
      {in_table(spans + "('x', 2, 59, 'step 1', 1, NULL)"), "table NVTX_EVENTS, row 1: 'start'"},
      {in_table(spans + "(1, 'x', 59, 'step 1', 1, NULL)"), "'end' is not a whole number"},
      {in_table(spans + "(3, 2, 59, 'step 1', 1, NULL)"), "ends at 2 ns"},
      {in_table(spans + "(1, 2, 59, x'00', 1, NULL)"), "is no text"},
      {in_table("DROP TABLE NVTX_EVENTS; CREATE TABLE NVTX_EVENTS (a)"), "table NVTX_EVENTS: no"},
      {in_table("DROP TABLE TARGET_INFO_GPU; CREATE TABLE TARGET_INFO_GPU (a)"), "no such column"},
      {in_table("UPDATE TARGET_INFO_GPU SET name = 7.5"), "no error"},  // SQLite stores it as text
      {in_table("UPDATE TARGET_INFO_GPU SET name = x'00'"), "'name' is no text"},
      {in_table("DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME; CREATE TABLE "
                "CUPTI_ACTIVITY_KIND_RUNTIME (a)"),
       "table CUPTI_ACTIVITY_KIND_RUNTIME: no such column"},
  };
  EXPECT_GE(std::size(cases), 50u);
  for (const auto& [statements, message] : cases) {
    const std::string path = database(statements);
    EXPECT_THAT(error_of([&] { read_nsight(path); }), HasSubstr(message)) << statements.back();
  }
}

}  // namespace
}  // namespace windtunnel
