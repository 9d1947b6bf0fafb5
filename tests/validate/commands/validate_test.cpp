#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

using nlohmann::json;

// 1F1B with 2 ranks, 2 micro-batches and unit times takes (m + p - 1) (F + B) = 9. The last row
// claims twice that; the row before names an unknown schedule.
std::string rows_file() {
  std::string path = scratch_folder("validate") + "/rows.csv";
  std::ofstream(path) << "schedule,p,m,v,T_F,T_I,T_W,T_comm,makespan,max_stage_span,"
                         "makespan_minus_max_busy,peak_act_max,peak_act_per_rank\n"
                         "1f1b,2,2,1,1,1,1,0,9,9,3,2,2 1\n"
                         "no-such-schedule,2,2,1,1,1,1,0,9,9,3,2,2 1\n"
                         "1f1b,2,2,1,1,1,1,0,18,9,3,2,2 1\n";
  return path;
}

TEST(ValidateCommand, DocumentHasTheContractsKeys) {
  const ProgramResult result = run_program("validate schedules " + rows_file() + " --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto document = nlohmann::ordered_json::parse(result.out);
  ASSERT_GE(document.at("families").size(), 1u);
  for (const char* key : {"name", "metric", "rows", "baselines", "oom", "mape", "median_ape",
                          "p90_ape", "worst", "kendall_tau", "coverage90"}) {
    EXPECT_TRUE(document.at("families")[0].contains(key)) << key;
  }
  for (const char* key : {"id", "metric", "measured", "predicted", "low", "high", "origin"}) {
    EXPECT_TRUE(document.at("rows")[0].contains(key)) << key;
  }
  ASSERT_EQ(document.at("skipped").size(), 1u);
  EXPECT_NE(document.at("skipped")[0].at("reason"), "");
}

TEST(ValidateCommand, FailsAboveTheBound) {
  const std::string command = "validate schedules " + rows_file() + " --fail-above ";
  EXPECT_EQ(run_program(command + "10").exit_code, 0);
  const ProgramResult result = run_program(command + "0.01");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("is above 0.01"), std::string::npos) << result.err;
}

// Two rows state layouts of a GPT on A100s (vTrain's single-node rows), and one contradicts itself.
std::string training_rows(const std::string& folder) {
  std::string path = folder + "/runs.csv";
  std::ofstream(path)
      << "source,model,layers,hidden,heads,ffn_hidden,seq,vocab,global_batch,micro_batch,gpus,"
         "gpu_type,tp,pp,dp,recompute,schedule,precision,iter_time_s,note\n"
         "test rows,GPT 1.3B,24,2048,16,8192,1024,50257,32,4,8,A100,4,2,1,full,1F1B,fp16,1.5,\n"
         "test rows,GPT 1.3B,24,2048,16,8192,1024,50257,32,2,8,A100,2,2,2,full,1F1B,fp16,1.4,\n"
         "test rows,GPT 1.3B,24,2048,16,8192,1024,50257,32,4,9,A100,4,2,1,full,1F1B,fp16,1.5,\n";
  return path;
}

// Files are read in the order of their names; other files in the folder are ignored.
TEST(ValidateCommand, AFolderStandsForItsRows) {
  const std::string folder = scratch_folder("validate_folder");
  const ProgramResult empty = run_program("validate runs " + folder);
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_EQ(empty.err,
            "windtunnel: " + folder + ": cannot be read: this folder holds no .csv file\n");
  std::filesystem::copy(training_rows(folder), folder + "/again.csv");
  std::ofstream(folder + "/README.md") << "rows of tests\n";
  const ProgramResult given = run_program("validate runs " + folder + " --json");
  ASSERT_EQ(given.exit_code, 0) << given.err;
  const ProgramResult named =
      run_program("validate runs " + folder + "/again.csv " + folder + "/runs.csv --json");
  EXPECT_EQ(given.out, named.out);
}

TEST(ValidateCommand, AFilterThatMatchesNothingIsRefused) {
  const ProgramResult result = run_program(
      "validate runs " + training_rows(scratch_folder("none")) + " --where 'source~\"nobody\"'");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "windtunnel: --where: no row of these files matches: source~\"nobody\"\n");
}

// Each kind that has a page, and `all`, must write it.
TEST(ValidateCommand, WritesItsPage) {
  const std::string folder = scratch_folder("validate_page");
  const std::string page = folder + "/page.html";
  for (const std::string& rows :
       {"schedules " + rows_file(), std::string("checkpoints tests/data/checkpoint_times.csv"),
        std::string("faults tests/data/fault_reference_points.csv"),
        std::string("compression tests/data/quantised_all_reduce.csv"),
        std::string("collectives tests/data/collectives.csv"), "all " + training_rows(folder)}) {
    const ProgramResult result = run_program("validate " + rows + " --page " + page);
    ASSERT_EQ(result.exit_code, 0) << rows << result.err;
    EXPECT_NE(read_text(page).find("<h1>Predicted against "), std::string::npos) << rows;
    // The command in the page can be pasted: it has the folders of its files.
    EXPECT_NE(read_text(page).find("windtunnel validate " + rows + " --page " + page),
              std::string::npos)
        << rows;
  }
  run_program(
      "validate samples tests/data/kernel_samples.csv --calibration "
      "tests/fuzz/corpus/kernel-laws/cpu.yaml --page " +
      page);
  EXPECT_NE(read_text(page).find("<h1>Measured kernels and their laws</h1>"), std::string::npos);
}

TEST(ValidateCommand, PredictsTrainingRuns) {
  const std::string folder = scratch_folder("validate_runs");
  const std::string rows = training_rows(folder);
  const std::string page = folder + "/page.md";
  const ProgramResult result =
      run_program("validate runs " + rows + " --json --worst 1 --markdown " + page);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  ASSERT_EQ(document.at("families").size(), 1u);
  const json& family = document.at("families")[0];
  EXPECT_EQ(family.at("name"), "test rows / A100");
  EXPECT_EQ(family.at("metric"), "step_s");
  EXPECT_EQ(family.at("rows"), 2);
  EXPECT_EQ(family.at("groups"), 1);
  EXPECT_EQ(family.at("baselines").size(), 1u);
  EXPECT_EQ(document.at("rows")[0].at("id"), rows + ":2");
  EXPECT_GT(document.at("rows")[0].at("predicted"), 0.0);
  ASSERT_EQ(document.at("skipped").size(), 1u);
  EXPECT_EQ(document.at("skipped")[0].at("id"), rows + ":4:11");
  EXPECT_NE(result.err.find("worst rows"), std::string::npos);
  const std::string text = read_text(page);
  EXPECT_NE(text.find("runs.csv:4"), std::string::npos) << text;
  EXPECT_EQ(text.find(folder), std::string::npos) << text;

  // A run with one thread must print the same bytes.
  EXPECT_EQ(run_program("validate runs " + rows + " --json -j 1").out, result.out);
}

TEST(ValidateCommand, WritesARowAsAScenario) {
  const std::string folder = scratch_folder("validate_row");
  const std::string rows = training_rows(folder);
  const std::string command = "validate runs " + rows + " --scenario ";
  const ProgramResult judged = run_program("validate runs " + rows + " --json");
  const double predicted = json::parse(judged.out).at("rows")[0].at("predicted");
  const std::string scenario = folder + "/row.yaml";
  ASSERT_EQ(run_program(command + rows + ":2 --out " + scenario).exit_code, 0);
  EXPECT_EQ(run_program(command + "2").out, read_text(scenario));
  const ProgramResult run = run_program("run " + scenario + " --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NEAR(json::parse(run.out).at("iteration").at("time_s").get<double>() / predicted, 1, 0.02);
  // Nothing is judged here, so options for judging and its output would be ignored and are refused.
  for (const char* option :
       {"--where 'gpus>1'", "--fit-where tp==2", "--calibrate-on x.csv", "--calibration generic",
        "--one-point", "--worst 3", "-j 1", "--json", "--fail-above 0.1", "--markdown p.md",
        "--measured m.yaml", "--page p.html"}) {
    const ProgramResult beside = run_program(command + "2 " + option);
    EXPECT_EQ(beside.exit_code, 2) << option;
    EXPECT_NE(beside.err.find("--scenario"), std::string::npos) << option << beside.err;
  }
  const ProgramResult none = run_program(command + "9");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("there is no row '9'"), std::string::npos) << none.err;
}

TEST(ValidateCommand, FiltersFitsAndFailsTrainingRuns) {
  const std::string rows = training_rows(scratch_folder("validate_runs"));
  const std::string command = "validate runs " + rows + " ";
  const ProgramResult unknown = run_program(command + "--where 'hiden==1'");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("--where:1:1: unknown column 'hiden'; did you mean 'hidden'?"),
            std::string::npos)
      << unknown.err;
  EXPECT_EQ(run_program(command + "--fail-above 1e-9").exit_code, 1);
  EXPECT_EQ(run_program(command + "--fail-above 1000").exit_code, 0);
  EXPECT_EQ(run_program(command + "--where 'tp==3' --fail-above 1000").exit_code, 1);
  EXPECT_EQ(run_program(command + "--calibration no-such").exit_code, 2);
  EXPECT_EQ(run_program(command + "--one-point --fit-where tp==2").exit_code, 2);
  EXPECT_EQ(run_program("validate runs no/such.csv").exit_code, 2);

  const ProgramResult one = run_program(command + "--one-point --json");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  const json document = json::parse(one.out);
  ASSERT_EQ(document.at("fitted").size(), 1u);
  EXPECT_EQ(document.at("fitted")[0].at("id"), rows + ":3");
  EXPECT_EQ(document.at("rows").size(), 1u);
}

// Writes a job with stated restart and interval whose goodput was measured, and a row with an
// unknown metric.
std::string fault_rows(const std::string& folder) {
  std::string path = folder + "/points.csv";
  std::ofstream(path)
      << "id,system,gpus,nodes,days,interruptions,mtti_h,checkpoint_bytes,storage_bw_Bps,"
         "interval_s,block_s,restart_s,other_inputs,metric,measured,unpublished_inputs,evidence,"
         "source\n"
         "good,job,16000,2000,,r_f=6.5e-3 per node-day,,,,300,~0,300,,expected ETTR,0.93,,,\n"
         "high,job,16000,2000,,r_f=6.5e-3 per node-day,,,,300,~0,,,expected ETTR,0.99,,,\n"
         "odd,job,,,,,,,,,,,,colour,1,,,\n";
  return path;
}

TEST(ValidateCommand, PredictsFaultPointsAsRanges) {
  const std::string folder = scratch_folder("validate_faults");
  const std::string rows = fault_rows(folder);
  const std::string page = folder + "/page.md";
  const ProgramResult result =
      run_program("validate faults " + rows + " --json --markdown " + page);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  ASSERT_EQ(document.at("rows").size(), 2u);
  for (const char* key : {"id", "metric", "measured", "predicted", "low", "high", "origin", "name",
                          "inside", "formula", "baseline", "unit", "tolerance"}) {
    EXPECT_TRUE(document.at("rows")[0].contains(key)) << key;
  }
  EXPECT_EQ(document.at("rows")[0].at("id"), rows + ":2");
  EXPECT_EQ(document.at("rows")[0].at("inside"), true);
  EXPECT_EQ(document.at("rows")[1].at("inside"), false);
  ASSERT_EQ(document.at("unpublished").size(), 1u);
  EXPECT_EQ(document.at("unpublished")[0].at("input"), "restart time");
  EXPECT_EQ(document.at("unpublished")[0].at("moves_most"), true);
  ASSERT_EQ(document.at("skipped").size(), 1u);
  EXPECT_EQ(document.at("skipped")[0].at("id"), rows + ":4");
  EXPECT_NE(result.err.find("OUTSIDE"), std::string::npos) << result.err;
  const std::string text = read_text(page);
  EXPECT_NE(text.find("restart time"), std::string::npos) << text;
  EXPECT_EQ(text.find(folder), std::string::npos) << text;

  EXPECT_EQ(run_program("validate faults " + rows + " --json -j 1").out, result.out);
}

TEST(ValidateCommand, FaultPointsOutsideFailWhereAsked) {
  const std::string rows = fault_rows(scratch_folder("validate_faults"));
  const std::string command = "validate faults " + rows + " --fail-above 0 ";
  const ProgramResult result = run_program(command);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("0.5 of the values are outside of their ranges (high), above 0"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(run_program(command + "--where 'id==\"good\"'").exit_code, 0);
  EXPECT_EQ(run_program(command + "--where 'id==\"odd\"'").exit_code, 1);
  EXPECT_EQ(run_program(command + "--where 'idd==1'").exit_code, 2);
  EXPECT_EQ(run_program("validate faults no/such.csv").exit_code, 2);
}

TEST(ValidateCommand, SamplesOfSeveralFilesOfOneDevice) {
  const std::string source = WINDTUNNEL_SOURCE_DIR;
  const std::string data = source + "/tests/data/kernel_samples";
  const std::string other = testing::TempDir() + "other_device.csv";
  std::ofstream(other) << std::regex_replace(read_text(data + ".csv"), std::regex("Xeon"), "Core");
  const std::string laws =
      " --calibration " + source + "/tests/fuzz/corpus/kernel-laws/cpu.yaml --json";
  const auto judged = [&](const std::string& files) {
    const json document = json::parse(run_program("validate samples " + files + laws).out);
    return document["rows"].size() + document["skipped"].size();
  };
  EXPECT_GT(judged(data + ".csv"), 0U);
  EXPECT_EQ(judged(data + ".csv " + data + "_again.csv"),
            judged(data + ".csv") + judged(data + "_again.csv"));
  // Another run of the same machine may have another driver, so each file is checked by itself.
  const std::string later = testing::TempDir() + "later_driver.csv";
  std::ofstream(later) << std::regex_replace(read_text(data + "_again.csv"),
                                             std::regex(",6\\.18[^,]*,"), ",7.0,");
  const auto faults = [&](const std::string& files) {
    const ProgramResult result = run_program("validate samples " + files + laws);
    EXPECT_NE(result.exit_code, 2) << result.err;
    return json::parse(result.out)["faults"].size();
  };
  EXPECT_EQ(faults(data + ".csv " + later), faults(data + ".csv") + faults(later));
  const ProgramResult refused = run_program("validate samples " + data + ".csv " + other + laws);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("a calibration is for one device"), std::string::npos) << refused.err;
}

// Writes rows of 8 GB, and then a row with unknown storage.
std::string checkpoint_file(const std::string& folder) {
  std::string path = folder + "/times.csv";
  std::ofstream(path) << "source,system,gpus,gpu_type,model,checkpoint_bytes,storage,"
                         "storage_bw_Bps,method,event,seconds\n"
                         "s,node,1,A100,m,8e9,NVMe,4e9,torch.save,save,12.5\n"
                         "s,node,8,A100,m,8e9,NVMe,4e9,torch.save by rank 0,save,25\n"
                         "s,node,8,A100,m,8e9,somewhere,,torch.save,save,25\n";
  return path;
}

// Returns the header of one of the project's tables, behind its comments. The header identifies the
// kind of the rows.
std::string header_line(const std::string& path) {
  std::istringstream lines(read_text(WINDTUNNEL_SOURCE_DIR "/" + path));
  std::string line;
  do {
    std::getline(lines, line);
  } while (lines && line.starts_with('#'));
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

TEST(ValidateCommand, ASuspectRowDecidesNoVerdict) {
  const ProgramResult all =
      run_program("validate dispatch tests/data/moe_dispatch_2026.csv --fail-above 0.001");
  EXPECT_EQ(all.exit_code, 1);
  EXPECT_NE(all.out.find("suspect"), std::string::npos);
  EXPECT_NE(all.err.find("dispatch_s: MAPE"), std::string::npos) << all.err;
  EXPECT_EQ(all.err.find("suspect"), std::string::npos) << all.err;
}

TEST(ValidateCommand, TellsWhichKindAFileIs) {
  const std::pair<const char*, const char*> kinds[] = {{"memory_runs", "runs"},
                                                       {"zero_bubble_runs", "runs"},
                                                       {"collectives", "collectives"},
                                                       {"exchange_runs", "compression"},
                                                       {"quantised_all_reduce", "compression"},
                                                       {"schedule_oracle", "schedules"},
                                                       {"zero_bubble_rates", "schedules"},
                                                       {"fault_reference_points", "faults"},
                                                       {"checkpoint_times", "checkpoints"},
                                                       {"moe_dispatch_2026", "dispatch"},
                                                       {"rl_steps_2026", "rollouts"},
                                                       {"power_2026", "power"},
                                                       {"failures_2026", "failures"}};
  for (const auto& [file, kind] : kinds) {
    const bool is_runs = std::string(kind) == "runs";
    const ProgramResult other = run_program(
        fmt::format("validate {} tests/data/{}.csv", is_runs ? "faults" : "runs", file));
    EXPECT_EQ(other.exit_code, 2) << file;
    const std::string told_by = fmt::format(
        "tests/data/{}.csv: contains rows for 'windtunnel validate {}', as its columns ", file,
        kind);
    const size_t at = other.err.find(told_by);
    ASSERT_NE(at, std::string::npos) << other.err;
    // The file has all columns that the message names.
    const size_t begin = at + told_by.size();
    std::istringstream columns(other.err.substr(begin, other.err.find(" show; '", begin) - begin));
    const std::string header = "," + header_line(fmt::format("tests/data/{}.csv", file)) + ",";
    for (std::string column; std::getline(columns >> std::ws, column, ',');) {
      EXPECT_NE(header.find("," + column + ","), std::string::npos) << file << ": " << column;
    }
  }
  for (const char* file : {"infinitehbd_faults", "kernel_samples"}) {
    const ProgramResult none = run_program(fmt::format("validate tests/data/{}.csv", file));
    EXPECT_EQ(none.exit_code, 2) << file;
    for (const auto& [table, kind] : kinds) {
      EXPECT_NE(none.err.find(std::string(kind) + " ("), std::string::npos) << none.err;
    }
  }
}

TEST(ValidateCommand, StepSaysWhatTakesItsPlace) {
  const ProgramResult result =
      run_program("validate step scenarios/mlp-cpu.yaml --calibration cpu.yaml --json");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(
      result.err.find(
          "'validate step' was removed: 'windtunnel validate execution SCENARIO --kernels cpu'"),
      std::string::npos)
      << result.err;
}

TEST(ValidateCommand, PredictsTimesOfCheckpoints) {
  const std::string folder = scratch_folder("validate_checkpoints");
  const std::string rows = checkpoint_file(folder);
  const ProgramResult result =
      run_program("validate checkpoints " + rows + " --json --fail-above 0.1 --markdown " + folder +
                  "/page.md");
  EXPECT_EQ(result.exit_code, 1);  // the second row is off by half
  const json document = json::parse(result.out);
  ASSERT_EQ(document.at("rows").size(), 2u);
  EXPECT_EQ(document.at("families")[0].at("name"), "s, drives");
  EXPECT_EQ(document.at("skipped")[0].at("id"), rows + ":4");
  EXPECT_NE(result.err.find("off by more than 20 %"), std::string::npos) << result.err;
  const std::string page = read_text(folder + "/page.md");
  EXPECT_NE(page.find("the bandwidth of 'somewhere' is not stated"), std::string::npos) << page;
  EXPECT_NE(page.find("-49%"), std::string::npos) << page;
}

TEST(ValidateCommand, TakesFilesOfAllKindsAtOnce) {
  const std::string folder = scratch_folder("validate_all");
  const std::string times = checkpoint_file(folder);
  const std::string runs = training_rows(folder);
  const std::string schedules = rows_file();
  std::ofstream(folder + "/prices.csv") << "what,usd\nnode,1\n";
  std::ofstream(folder + "/notes.txt") << "no table\n";

  const ProgramResult result = run_program("validate all " + folder + " " + schedules + " --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  ASSERT_EQ(document.at("kinds").size(), 3u);
  EXPECT_EQ(document.at("kinds").at("checkpoints").at("rows").size(), 2u);
  EXPECT_EQ(document.at("kinds").at("runs").at("files")[0], runs);
  EXPECT_EQ(document.at("kinds").at("schedules").at("files")[0], schedules);
  ASSERT_EQ(document.at("not_read").size(), 1u);
  EXPECT_EQ(document.at("not_read")[0].at("file"), folder + "/prices.csv");
  for (const char* part : {"checkpoints  s, drives", "runs", "1f1b", "prices.csv: not read"}) {
    EXPECT_NE(result.err.find(part), std::string::npos) << part << "\n" << result.err;
  }
  // `all` must print the same as the command for that kind.
  const json alone = json::parse(run_program("validate checkpoints " + times + " --json").out);
  EXPECT_EQ(document.at("kinds").at("checkpoints").at("families"), alone.at("families"));

  EXPECT_EQ(run_program("validate all " + folder + " --fail-above 1e-9").exit_code, 1);
  const ProgramResult unknown = run_program("validate all " + times + " " + folder + "/prices.csv");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(
      unknown.err.find("prices.csv: these columns belong to no kind of rows; the kinds are: "),
      std::string::npos)
      << unknown.err;
  EXPECT_NE(unknown.err.find("checkpoints (checkpoint_bytes, method, event, seconds)"),
            std::string::npos);
  EXPECT_EQ(run_program("validate all no/such.csv").exit_code, 2);
}

// Without the name of a kind, the header decides, with the same output.
TEST(ValidateCommand, HeadersSayWhichCommandJudges) {
  const std::string folder = scratch_folder("validate_files");
  const std::string times = checkpoint_file(folder);
  const std::string page = folder + "/page.md";
  const ProgramResult alone =
      run_program("validate " + times + " --json --where 'gpus==1' --markdown " + page);
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const std::string text = read_text(page);
  const ProgramResult named =
      run_program("validate checkpoints " + times + " --json --where 'gpus==1' --markdown " + page);
  EXPECT_EQ(alone.out, named.out);
  EXPECT_EQ(text, read_text(page));
  EXPECT_NE(text.find("windtunnel validate checkpoints times.csv"), std::string::npos) << text;

  const std::string both = times + " " + rows_file();
  EXPECT_EQ(run_program("validate " + both + " --json").out,
            run_program("validate all " + both + " --json").out);
  EXPECT_EQ(run_program("validate " + both + " --fail-above 1e-9").exit_code, 1);

  const auto refused = [](const std::string& arguments, const char* why) {
    const ProgramResult result = run_program("validate " + arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_NE(result.err.find(why), std::string::npos) << arguments << "\n" << result.err;
  };
  refused(both + " --where 'gpus>8'", "--where: these files contain rows of several kinds");
  refused(times + " --worst 2", "--worst: 'windtunnel validate checkpoints' has no such option");
  refused("schedules " + rows_file() + " --markdown " + page, "unknown option '--markdown'");
  // A command reads only the words that follow it.
  refused("--fail-above 0.1 all " + both,
          "'--fail-above' is before the command 'all', but options must be after it");
  refused(times + " all " + folder, "times.csv' is before the command 'all'");
  refused(times + " runs " + times, "times.csv' is before the command 'runs'");
  refused("--where 'gpus>8' schedules " + rows_file(),
          "'--where' is before the command 'schedules'");
  EXPECT_EQ(run_program("validate -q checkpoints " + times).exit_code, 0);
  refused(fault_rows(folder) + " --fail-above 2",
          "--fail-above: for faults this is the share of values outside of their range");
  refused("rnus " + times, "unknown command 'rnus'; did you mean 'runs'?");
  refused("no/such.csv", "no/such.csv: ");
  refused("", "expected a FILE of measured rows, or a command: runs, ");
}

}  // namespace
}  // namespace windtunnel
