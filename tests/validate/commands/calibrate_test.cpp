#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

constexpr const char* kHeader =
    "source,model,layers,hidden,heads,seq,vocab,global_batch,micro_batch,gpus,gpu_type,tp,pp,dp,"
    "recompute,precision,iter_time_s,note\n";

std::string row(int layers, int hidden, int gpus, int tp, double step_s, const char* gpu) {
  const int dp = gpus / tp;
  return "test," + std::to_string(layers) + "L," + std::to_string(layers) + "," +
         std::to_string(hidden) + ",16,2048,51200," + std::to_string(16 * dp) + ",2," +
         std::to_string(gpus) + "," + gpu + "," + std::to_string(tp) + ",1," + std::to_string(dp) +
         ",none,bf16," + std::to_string(step_s) + ",\n";
}

// Rows reach a third of an A100's peak; one further row is of another kind, and one has no time.
std::string runs_file(const std::string& folder) {
  const std::string path = folder + "/rows.csv";
  std::ofstream out(path);
  out << kHeader;
  for (const int layers : {12, 24}) {
    for (const int hidden : {2048, 3072}) {
      for (const int gpus : {8, 16}) {
        const double flops = 16 * 2048.0 * 72 * layers * hidden * hidden;
        out << row(layers, hidden, gpus, 2, flops / 2 / (312e12 / 3), "A100-SXM4-80GB");
      }
    }
  }
  out << row(24, 2048, 8, 2, 1, "H100-SXM-80GB");
  out << "test,24L,24,2048,16,2048,51200,128,2,8,A100-SXM4-80GB,2,1,4,none,bf16,,\n";
  return path;
}

// No column states that tensor parallelism overlaps, but the file does: a single row then moves the
// prediction of its job towards what it measured.
TEST(CalibrateCommand, TakesTheJobOfARowFromItsFile) {
  const std::string folder = scratch_folder("calibrate-scenarios");
  std::filesystem::create_directories(folder + "/jobs");
  const std::string job = folder + "/jobs/a.yaml", out = folder + "/mine.yaml";
  std::ofstream(job)
      << "name: a\nmodel: llama3-8b\ncluster: {nodes: 2, node: dgx-h100}\n"
         "layout: {tp: 4, sequence_parallel: true}\nprecision: bf16\nrecompute: selective\n"
         "batch: {global: 64, micro: 1, sequence: 4096}\nsoftware: {tp_overlap: pipelined}\n";
  const auto step_s = [&](const std::string& set) {
    const ProgramResult ran = run_program("run " + job + " --json" + set);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return nlohmann::json::parse(ran.out).at("iteration").at("time_s").get<double>();
  };
  const double before_s = step_s("");
  const double measured_s = 1.1 * before_s;
  std::ofstream(folder + "/rows.csv")
      << "scenario,iter_time_s\njobs/a.yaml," << measured_s << "\njobs/none.yaml,1\n";
  const ProgramResult fit = run_program("calibrate --from " + folder + "/rows.csv --out " + out);
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  EXPECT_NE(fit.out.find("1 row cannot tell"), std::string::npos) << fit.out;
  EXPECT_NE(fit.out.find("none.yaml"), std::string::npos) << fit.out;
  const double after_s = step_s(" --set calibration=" + out);
  EXPECT_LT(std::abs(after_s - measured_s), 0.5 * std::abs(before_s - measured_s));
}

// The log states 3.3 times the predicted step or so; a fit on it moves the prediction towards it,
// and a table with a column `log` does the same.
TEST(CalibrateCommand, ReadsALogOfARunWithItsJob) {
  const std::string folder = scratch_folder("calibrate-log");
  const std::string examples = WINDTUNNEL_SOURCE_DIR "/examples/logs/llama3-8b";
  const std::string log = examples + ".log", job = examples + ".yaml";
  const std::string one = folder + "/one.yaml", two = folder + "/two.yaml";
  const ProgramResult fit =
      run_program("calibrate --from " + log + " --scenario " + job + " --json --out " + one);
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  const auto document = nlohmann::json::parse(fit.out);
  EXPECT_EQ(document.at("rows"), 1);
  EXPECT_LT(document.at("median_ape_after"), document.at("median_ape_before"));
  // The run slows down half way; the fit is on its faster part, and says so.
  EXPECT_NE(fit.err.find("the faster part counts"), std::string::npos) << fit.err;

  std::ofstream(folder + "/rows.csv") << "scenario,log,iter_time_s\n"
                                      << job << "," << log << ",\n"
                                      << job << "," << log << ",1.5\n";
  const ProgramResult table =
      run_program("calibrate --from " + folder + "/rows.csv --json --out " + two);
  ASSERT_EQ(table.exit_code, 0) << table.err;
  const auto same = nlohmann::json::parse(table.out);
  EXPECT_EQ(same.at("median_ape_before"), document.at("median_ape_before"));
  EXPECT_EQ(same.at("median_ape_after"), document.at("median_ape_after"));
  ASSERT_EQ(same.at("unusable").size(), 1u);
  EXPECT_NE(same.at("unusable")[0].at("reason").get<std::string>().find("leave log"),
            std::string::npos);
}

TEST(CalibrateCommand, AsksForTheJobOfALog) {
  const std::string log = "examples/logs/llama3-8b.log";
  const auto told = [](const std::string& arguments) {
    const ProgramResult result = run_program("calibrate --out new.yaml --from " + arguments);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_NE(told(log).find(log + ": is the log of a training run: name the job"),
            std::string::npos);
  const std::string job = " --scenario examples/logs/llama3-8b.yaml";
  EXPECT_NE(told(log + job + " --gpu h100").find("a log is a single row"), std::string::npos);
  EXPECT_NE(told("examples/logs/llama3-8b.yaml" + job).find("is no log of a training run"),
            std::string::npos);
}

TEST(CalibrateCommand, WritesAFileThatCanBeTheNextBase) {
  const std::string folder = scratch_folder("calibrate");
  const std::string rows = runs_file(folder), out = folder + "/mine.yaml";
  const std::string command = "calibrate --from " + rows + " --gpu a100-80 --out " + out;
  const ProgramResult first = run_program(command + " --json --page " + folder + "/page.html");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(read_text(folder + "/page.html").find("<h1>Calibration mine</h1>"), std::string::npos);
  const auto document = nlohmann::json::parse(first.out);
  EXPECT_EQ(document.at("rows"), 8);
  EXPECT_EQ(document.at("other_rows"), 1);
  EXPECT_EQ(document.at("base"), "a100-published");
  ASSERT_EQ(document.at("unusable").size(), 1u);
  EXPECT_LT(document.at("median_ape_after"), document.at("median_ape_before"));
  ASSERT_FALSE(document.at("parameters").empty());
  for (const auto& parameter : document.at("parameters")) {
    EXPECT_LE(parameter.at("fitted").at("low"), parameter.at("fitted").at("value"));
    EXPECT_GE(parameter.at("fitted").at("high"), parameter.at("fitted").at("value"));
  }
  const std::string again = "calibrate --from " + rows + " --gpu a100-80 --fit kernel.sustained" +
                            " --base " + out + " --out " + folder + "/second.yaml --json";
  const ProgramResult second = run_program(again);
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(nlohmann::json::parse(second.out).at("base"), "mine");
  EXPECT_EQ(nlohmann::json::parse(second.out).at("parameters").size(), 1u);
}

// In reports, numbers that are fitted on a user's rows have the origin "measured", and numbers that
// are fitted on rows of a paper have "published".
TEST(CalibrateCommand, FittedNumbersHaveTheOriginOfTheirRows) {
  const std::string folder = scratch_folder("calibrate-origin");
  const std::string rows = runs_file(folder), out = folder + "/mine.yaml";
  const auto shares_after = [&](const std::string& arguments) {
    const ProgramResult fit =
        run_program("calibrate --force --from " + rows +
                    " --gpu a100-80 --fit kernel.sustained --out " + out + arguments);
    EXPECT_EQ(fit.exit_code, 0) << fit.err;
    const ProgramResult run = run_program(
        "run scenarios/gpt3-175b-a100.yaml --json --allow-oom --set calibration=" + out);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return nlohmann::json::parse(run.out).at("origin");
  };
  EXPECT_GT(shares_after("").at("measured"), 0.1);
  EXPECT_EQ(shares_after(" --origin published").at("measured"), 0);
  EXPECT_NE(
      run_program("calibrate --from " + rows + " --out " + out + " --origin guessed").exit_code, 0);
}

TEST(CalibrateCommand, SameBytesForAnyNumberOfThreads) {
  const std::string folder = scratch_folder("calibrate-threads");
  const std::string rows = runs_file(folder);
  std::string texts[2];
  for (const int threads : {1, 7}) {
    const std::string out = folder + "/mine.yaml";
    const ProgramResult result =
        run_program("calibrate --force --from " + rows + " --gpu a100-80 --out " + out + " -j " +
                    std::to_string(threads));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    texts[threads == 7] = read_text(out);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

struct BadCall {
  const char* arguments;  // follow --from rows.csv
  const char* says;
};

TEST(CalibrateCommand, UsageErrorsSayWhatToDo) {
  const std::string folder = scratch_folder("calibrate-errors");
  const std::string rows = runs_file(folder);
  std::ofstream(folder + "/there.yaml") << "kept";
  const BadCall calls[] = {
      {"--out new.yaml", "2 kinds of GPUs: a100-80 (8), h100 (1)"},
      {"--gpu a100-8 --out new.yaml", "did you mean 'a100-80'"},
      {"--gpu b200 --out new.yaml", "no row of GPU kind b200; found: a100-80, h100"},
      {"--gpu a100-80 --fit kernel.sustaned --out new.yaml", "did you mean 'kernel.sustained'"},
      {"--gpu a100-80 --base a100-publishd --out new.yaml", "did you mean 'a100-published'"},
      {"--gpu a100-80 --base h100-published --out new.yaml", "is a calibration of h100"},
      {"--gpu a100-80 --where 'tpp==2' --out new.yaml", "tpp"},
      {"--gpu a100-80 --where 'tp==64' --out new.yaml", "no row is selected"},
      {"--gpu a100-80 --out there.yaml", "exists; --force"},
      {"--gpu a100-80 --out there.csv", "ends in .yaml"},
      {"--gpu a100-80 --out nowhere/new.yaml", "no folder"},
  };
  for (const BadCall& call : calls) {
    std::string arguments = call.arguments;
    const size_t out = arguments.find("--out ") + 6;
    arguments.insert(out, folder + "/");
    const ProgramResult result = run_program("calibrate --from " + rows + " " + arguments);
    EXPECT_EQ(result.exit_code, 2) << call.arguments;
    EXPECT_NE(result.err.find(call.says), std::string::npos) << call.arguments << result.err;
    EXPECT_EQ(result.out, "") << call.arguments;
  }
  EXPECT_FALSE(std::filesystem::exists(folder + "/new.yaml"));
  EXPECT_EQ(read_text(folder + "/there.yaml"), "kept");
}

}  // namespace
}  // namespace windtunnel
