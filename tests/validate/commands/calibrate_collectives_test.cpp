// These tests run windtunnel validate collectives and calibrate on timings of collectives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/nccl_log.hpp"
#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Rows are all-reduces of 8 to 64 H100, with 10 us per step of a ring and 40 GB/s; one row is
// inconsistent.
std::string rows_file(const std::string& folder) {
  const std::string path = folder + "/rows.csv";
  std::ofstream out(path);
  out << "source,machine,gpu,gpus,nodes,network,collective,bytes,time_us,placement,dtype,notes,"
         "check\n";
  for (const int gpus : {8, 16, 32, 64}) {
    for (double bytes = 1 << 20; bytes <= 1 << 28; bytes *= 4) {
      out << fmt::format(
          "s,M,H100,{},{},InfiniBand NDR 8x400Gb/s/node,all_reduce,{:.0f},{},out,"
          "float,,\n",
          gpus, gpus / 8, bytes, 20.0 * gpus + bytes / 4e4);
    }
  }
  out << "s,M,H100,64,8,InfiniBand NDR 8x400Gb/s/node,all_reduce,1024,5,out,float,,inconsistent\n";
  return path;
}

TEST(ValidateCollectives, FitsAndJudges) {
  const std::string folder = scratch_folder("validate_collectives");
  const std::string rows = rows_file(folder);
  const std::string page = folder + "/page.md";
  const ProgramResult result = run_program(fmt::format(
      "validate collectives {} --fit-where 'gpus<=32' --json --markdown {}", rows, page));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("rows").size(), 5u);
  EXPECT_EQ(document.at("fitted").size(), 15u);
  EXPECT_EQ(document.at("skipped").size(), 1u);
  EXPECT_EQ(document.at("rows")[0].at("metric"), "time_s");
  EXPECT_EQ(document.at("rows")[0].at("family"), "M, from 1 MB");
  EXPECT_TRUE(document.at("families")[0].at("baselines").contains("alpha-beta, ring"));
  EXPECT_NE(read_text(page).find("# Predicted against measured collectives"), std::string::npos);
}

// The log comes from a network at a fraction of its nominal bandwidth.
TEST(CalibrateCollectives, ANetworkBelowItsSpecificationIsNamedByItsRatio) {
  const std::string folder = scratch_folder("calibrate_slow_network");
  const std::string log = nccl_log(folder, "run.log");
  const std::string of = log + " --network 'InfiniBand NDR 8x400Gb/s/node'";
  const ProgramResult fitted =
      run_program(fmt::format("calibrate --from {} --machine mine --out {}/net.yaml", of, folder));
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_NE(fitted.out.find("warning: this network reaches "), std::string::npos) << fitted.out;
  EXPECT_NE(fitted.out.find(" % of what the specification of such a machine predicts"),
            std::string::npos);
  const ProgramResult judged = run_program("validate collectives " + of);
  ASSERT_EQ(judged.exit_code, 0) << judged.err;
  EXPECT_NE(judged.out.find("off to one side:"), std::string::npos) << judged.out;
  EXPECT_NE(judged.out.find(" % of what is predicted (median of 3 points, 3 of them slower)"),
            std::string::npos)
      << judged.out;
}

// Links at half their speed are reported even if latencies are shorter than predicted.
TEST(CalibrateCollectives, ShortLatenciesDoNotHideSlowLinks) {
  const std::string folder = scratch_folder("calibrate_slow_links");
  const std::string log = folder + "/run.log";
  std::ofstream out(log);
  out << "# Using devices\n";
  for (int rank = 0; rank < 32; ++rank) {
    out << fmt::format("#  Rank {} Group 0 Pid 1 on host{} device {} [0x04] NVIDIA H100\n", rank,
                       rank / 8, rank % 8);
  }
  out << "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw "
         "#wrong\n";
  for (double bytes = 1048576; bytes < 1e10; bytes *= 2) {
    const double us = 60 + bytes * 2 * 31 / 32 / 180e3;  // 180 GB/s of bus bandwidth
    const std::string half =
        fmt::format("{:.2f} {:.2f} {:.2f} 0", us, bytes / us / 1e3, bytes / us / 1e3 * 2 * 31 / 32);
    out << fmt::format("{:.0f} {:.0f} float sum -1 {} {}\n", bytes, bytes / 4, half, half);
  }
  out.close();
  const ProgramResult fitted = run_program(
      fmt::format("calibrate --from {} --collective all-reduce --network 'InfiniBand NDR "
                  "8x400Gb/s/node' --out {}/net.yaml",
                  log, folder));
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_NE(fitted.out.find("warning: this network reaches 5"), std::string::npos) << fitted.out;
}

TEST(ValidateCollectives, ReadsALog) {
  const std::string folder = scratch_folder("validate_collectives_log");
  const ProgramResult result =
      run_program(fmt::format("validate collectives {} --network 'InfiniBand NDR 8x400Gb/s/node' "
                              "--json",
                              nccl_log(folder, "run.log")));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("rows").size(), 3u);
  EXPECT_EQ(document.at("families")[0].at("name"), "NVIDIA H100, from 1 MB, from specification");
}

// A log of several nodes without a network cannot be predicted, and the reason is named.
TEST(ValidateCollectives, SaysWhatALogLacks) {
  const std::string folder = scratch_folder("validate_collectives_network");
  const ProgramResult result = run_program("validate collectives " + nccl_log(folder, "run.log"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("6: '' does not say which network joins the nodes"), std::string::npos)
      << result.out;
}

TEST(ValidateCollectives, FailsAboveTheBound) {
  const std::string rows = rows_file(scratch_folder("validate_collectives_bound"));
  EXPECT_EQ(run_program("validate collectives " + rows + " --fail-above 100").exit_code, 0);
  const ProgramResult result = run_program("validate collectives " + rows + " --fail-above 1e-6");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("is above 1e-06"), std::string::npos) << result.err;
}

TEST(ValidateCollectives, ListsBadRows) {
  const std::string folder = scratch_folder("validate_collectives_bad");
  const std::string path = folder + "/bad.csv";
  std::ofstream(path) << "machine,gpu,gpus,nodes,network,collective,bytes,time_us\n"
                         "M,H100,16,2,IB,all_redcue,1024,5\n";
  const ProgramResult result = run_program("validate collectives " + path + " --json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json skipped = json::parse(result.out).at("skipped");
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_TRUE(skipped[0].at("id").get<std::string>().ends_with("bad.csv:2:6"));
  EXPECT_EQ(skipped[0].at("reason"), "unknown collective 'all_redcue'; did you mean 'all_reduce'?");
  EXPECT_EQ(run_program("validate collectives no-such-file.csv").exit_code, 2);
}

// validate reads the file that calibrate writes, and its predictions are nearer to the rows than
// the initial ones.
TEST(CalibrateCollectives, WritesACalibration) {
  const std::string folder = scratch_folder("calibrate_collectives");
  const std::string rows = rows_file(folder);
  const std::string out = folder + "/mine.yaml";
  const ProgramResult fit =
      run_program(fmt::format("calibrate --from {0} --out {1} --json --page {1}.html", rows, out));
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  EXPECT_NE(read_text(out + ".html").find("<h1>Network of M</h1>"), std::string::npos);
  const json document = json::parse(fit.out);
  EXPECT_EQ(document.at("machine"), "M");
  EXPECT_EQ(document.at("points"), 20);
  EXPECT_EQ(document.at("skipped").size(), 1u);
  const std::string reason = "its source marks the row as inconsistent";
  const size_t at = fit.err.find(reason);
  ASSERT_NE(at, std::string::npos) << fit.err;
  // One row is not used, and its line in the output states the reason.
  const size_t begin = fit.err.rfind('\n', at) + 1;
  const std::string line = fit.err.substr(begin, fit.err.find('\n', at) - begin);
  EXPECT_TRUE(std::regex_search(line, std::regex("(^|[^0-9])1([^0-9]|$)"))) << line;
  const auto mape = [&](const std::string& options) {
    const ProgramResult result =
        run_program(fmt::format("validate collectives {} --json {}", rows, options));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out).at("families")[0].at("median_ape").get<double>();
  };
  EXPECT_LT(mape("--calibration " + out), mape(""));
}

TEST(CalibrateCollectives, FromALog) {
  const std::string folder = scratch_folder("calibrate_collectives_log");
  const std::string out = folder + "/mine.yaml";
  const ProgramResult result = run_program(
      fmt::format("calibrate --from {} --machine mine --network 'RoCE 8x400Gb/s/node' --out {}",
                  nccl_log(folder, "run.txt"), out));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("fitted on 3 measured points of run.txt"), std::string::npos)
      << result.out;
  EXPECT_NE(read_text(out).find("name: \"mine\""), std::string::npos);
}

TEST(CalibrateCollectives, IsOfOneMachine) {
  const std::string folder = scratch_folder("calibrate_collectives_machines");
  const std::string path = folder + "/rows.csv";
  std::ofstream(path) << "machine,gpu,gpus,nodes,network,collective,bytes,time_us\n"
                         "M,H100,8,1,NVLink4,all_reduce,1024,5\n"
                         "N,H100,8,1,NVLink4,all_reduce,1024,5\n";
  const std::string command = fmt::format("calibrate --from {} --out {}/o.yaml", path, folder);
  const ProgramResult result = run_program(command);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("contains rows of 2 machines, but a calibration describes one; choose "
                            "with --machine, which may be repeated: M, N"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(run_program(command + " --machine N").exit_code, 0);
  const ProgramResult unknown = run_program(command + " --force --machine K");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(run_program(command + " --force --machine M --gpu h100").exit_code, 2);
  // Two machines get a file each.
  EXPECT_EQ(run_program(command + " --force --machine N --machine M").exit_code, 0);
  EXPECT_NE(read_text(folder + "/o-m.yaml").find("name: \"o-m\""), std::string::npos);
  EXPECT_NE(read_text(folder + "/o-n.yaml").find("name: \"o-n\""), std::string::npos);
  // If one page cannot be written, the other still is.
  fs::create_directories(folder + "/p-m.html/full");
  const ProgramResult half =
      run_program(command + " --force --machine N --machine M --page " + folder + "/p.html");
  EXPECT_EQ(half.exit_code, 1);
  EXPECT_NE(half.err.find("cannot write"), std::string::npos) << half.err;
  for (const char* file : {"/o-m.yaml", "/o-n.yaml"}) {
    EXPECT_NE(half.out.find("wrote " + folder + file), std::string::npos) << half.out;
  }
  EXPECT_NE(read_text(folder + "/p-n.html").find("<h1>Network of N</h1>"), std::string::npos);
}

// Only the file names and the option say which collective these logs measured.
TEST(CalibrateCollectives, FromSeveralLogs) {
  const std::string folder = scratch_folder("calibrate_collectives_logs");
  const std::string named = nccl_log(folder, "h100-allreduce-2n.log", "");
  const std::string nameless = nccl_log(folder, "run.log", "");
  const std::string start = fmt::format(
      "calibrate --network 'RoCE 8x400Gb/s/node' --machine mine --out {}/net.yaml "
      "--force",
      folder);
  const ProgramResult refused = run_program(fmt::format("{} --from {}", start, nameless));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("state it with --collective"), std::string::npos) << refused.err;
  const ProgramResult both = run_program(
      fmt::format("{} --from {} --from {} --collective All-Reduce", start, named, nameless));
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_NE(both.out.find("fitted on 3 measured points of h100-allreduce-2n.log, run.log"),
            std::string::npos)
      << both.out;
  EXPECT_EQ(run_program(fmt::format("{} --from {}", start, named)).exit_code, 0);
}

// Runs of two nodes say nothing about links within a node.
TEST(CalibrateCollectives, WhatNoRowTellsOfStays) {
  const std::string folder = scratch_folder("calibrate_collectives_kept");
  const std::string out = folder + "/net.yaml";
  const ProgramResult fit =
      run_program(fmt::format("calibrate --from {} --network 'RoCE 8x400Gb/s/node' --out {}",
                              nccl_log(folder, "two-nodes.log"), out));
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  EXPECT_NE(fit.out.find("no row is of a group inside a node, so collectives there keep the "
                         "constants of h100-published"),
            std::string::npos)
      << fit.out;
  EXPECT_NE(fit.out.find("because no row depends on them: "), std::string::npos) << fit.out;
  const auto seconds = [&](const std::string& options) {
    const ProgramResult run =
        run_program("run " WINDTUNNEL_SOURCE_DIR
                    "/scenarios/small.yaml --json --set cluster.node=dgx-h100 "
                    "--set cluster.nodes=1 --set layout.tp=8 --set layout.pp=1 " +
                    options);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out).at("iteration").at("time_s").get<double>();
  };
  EXPECT_EQ(seconds("--set calibration=h100-published"), seconds("--set calibration=" + out));
}

}  // namespace
}  // namespace windtunnel
