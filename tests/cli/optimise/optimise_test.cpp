#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

using Json = nlohmann::json;

Json json_of(const std::string& arguments) {
  const ProgramResult result = run_program(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out);
}

const std::string kSmall = "optimise scenarios/small.yaml ";

TEST(OptimiseCommand, RanksWhatFitsAndSaysHowToRunIt) {
  const Json result =
      json_of(kSmall + "--over layout batch.micro recompute --top 5 --simulate 2 --json");
  const Json& best = result.at("best");
  ASSERT_GE(best.size(), 2U);
  EXPECT_TRUE(best[0].contains("simulated_s"));
  EXPECT_TRUE(best[1].contains("simulated_s"));
  EXPECT_LE(best[0].at("simulated_s"), best[1].at("simulated_s"));
  // `run` predicts the same time for the same values.
  std::string run = "run scenarios/small.yaml --json";
  for (const auto& [key, value] : best[0].at("set").items()) {
    run += " --set " + key + "=" + value.get<std::string>();
  }
  const Json ran = json_of(run);
  EXPECT_EQ(ran.at("iteration").at("time_s"), best[0].at("simulated_s"));
  EXPECT_EQ(ran.at("version"), result.at("version"));
  EXPECT_EQ(ran.at("iteration").at("mfu"), best[0].at("result").at("iteration").at("mfu"));
}

// Each of the three searches has a page.
TEST(OptimiseCommand, WritesItsPage) {
  const std::string page = scratch_folder("optimise_page") + "/page.html";
  for (const std::string& search :
       {kSmall + "--over recompute --simulate 1",
        kSmall + "--over 'snapshots.*.every' --for goodput --set campaign.replicas=4",
        std::string("optimise scenarios/reinforcement.yaml --over rollout --simulate 0")}) {
    const ProgramResult result = run_program(search + " --page " + page);
    ASSERT_EQ(result.exit_code, 0) << search << result.err;
    EXPECT_NE(read_text(page).find("data-chart=\"0\""), std::string::npos) << search;
  }
}

// If hardly anything fails, snapshot intervals hardly change goodput: a gain within the noise of
// trials is not recommended.
TEST(OptimiseCommand, IntervalsWithoutAGainAreNotRecommended) {
  const ProgramResult result = run_program(kSmall +
                                           "--over snapshots.0.every --for goodput --set "
                                           "campaign.replicas=4 --set snapshots.0.mode=async "
                                           "--set 'failures.0.rate=0.0001 per 1000 node-days'");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("No trial restored from storage (snapshots.0.every)"),
            std::string::npos)
      << result.out;
  EXPECT_EQ(result.out.find("--set 'snapshots.0.every"), std::string::npos) << result.out;
}

// No failure is assumed, so that no trial needs this tier: the text, the keys to set and the best
// result must still agree.
TEST(OptimiseCommand, ATierThatNoTrialNeedsStaysAsGiven) {
  const std::string search = kSmall +
                             "--over snapshots.0.every --for goodput --set campaign.replicas=4 "
                             "--set failures=[] ";
  const ProgramResult result = run_program(search);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("No trial restored from storage"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("the best ones gain"), std::string::npos) << result.out;
  const Json document = json_of(search + "--json");
  EXPECT_TRUE(document.at("set").empty());
  EXPECT_EQ(document.at("best").at("goodput"), document.at("given").at("goodput"));
  EXPECT_EQ(document.at("intervals")[0].at("is_needed"), false);
}

// Saves may use only a small share of a slow storage, so that they must be less frequent than would
// be best.
TEST(OptimiseCommand, IntervalsKeepToTheStoragesShare) {
  for (const char* share : {"0.0028", "0.0030", "0.0037"}) {
    const Json document =
        json_of(kSmall +
                "--over snapshots.0.every --for goodput --set campaign.replicas=4 --set "
                "'failures.0.rate=500 per 1000 node-days' --set 'failures.0.repair=10 min' --set "
                "recovery.spares=2 --set cluster.storage.share=" +
                share + " --json");
    const Json& tier = document.at("intervals")[0];
    EXPECT_EQ(tier.at("storage_allows_given"), false);
    EXPECT_EQ(tier.at("as_given"), false);
    EXPECT_GE(tier.at("every_s").get<double>(), tier.at("storage_s").get<double>()) << share;
  }
}

TEST(OptimiseCommand, BeatsTheScenarioItself) {
  const Json own = json_of(kSmall + "--over recompute --top 1 --json");
  const Json all = json_of(kSmall + "--over layout schedule batch.micro recompute --top 1 --json");
  EXPECT_LE(all.at("best")[0].at("estimated_s"), own.at("best")[0].at("estimated_s"));
  EXPECT_GT(all.at("estimated"), own.at("estimated"));
}

// The search passes over only candidates that are not in the ranking: a longer ranking starts with
// the shorter one.
TEST(OptimiseCommand, PassesOverNothingGood) {
  const std::string over = "--over layout schedule batch.micro recompute --simulate 0 --json ";
  const Json one = json_of(kSmall + over + "--top 1");
  const Json many = json_of(kSmall + over + "--top 10000");
  EXPECT_EQ(many.at("passed_over"), 0);
  EXPECT_GE(many.at("estimated"), one.at("estimated"));
  EXPECT_EQ(one.at("best")[0], many.at("best")[0]);
  for (size_t i = 1; i < many.at("best").size(); ++i) {
    EXPECT_LE(many.at("best")[i - 1].at("estimated_s"), many.at("best")[i].at("estimated_s"));
  }
}

// The memory frontier does not depend on the length of the ranking. With offload the search passes
// over single schedules only.
TEST(OptimiseCommand, SkipsNothingOfTheFrontier) {
  const std::string over = "--over schedule batch.micro offload --simulate 0 --json ";
  const Json one = json_of(kSmall + over + "--top 1");
  const Json many = json_of(kSmall + over + "--top 10000");
  EXPECT_GT(one.at("passed_over"), 0);
  EXPECT_EQ(one.at("frontier"), many.at("frontier"));
}

TEST(OptimiseCommand, SameOnAnyThreads) {
  const std::string over =
      kSmall + "--over layout schedule batch.micro --top 4 --simulate 0 --json -j ";
  EXPECT_EQ(json_of(over + "1"), json_of(over + "3"));
}

TEST(OptimiseCommand, MemoryAndListsOfValues) {
  const Json memory =
      json_of(kSmall + "--over layout recompute --for memory --top 3 --simulate 0 --json");
  const Json time = json_of(kSmall + "--over layout recompute --top 3 --simulate 0 --json");
  EXPECT_LE(memory.at("best")[0].at("memory_bytes"), time.at("best")[0].at("memory_bytes"));
  const Json lists =
      json_of(kSmall + "--over recompute=none,full layout --top 9 --simulate 0 --json");
  for (const Json& row : lists.at("best")) {
    const std::string recompute = row.at("set").at("recompute");
    EXPECT_TRUE(recompute == "none" || recompute == "full") << recompute;
  }
}

const std::string kCost =
    " --for cost --set 'job={tokens: 1 T, price: 2 USD per gpu-hour}' --set campaign.length='10 d'";

// Two nodes are faster but cost more than one: the cheapest configuration is not among the fastest.
TEST(OptimiseCommand, CostRanksByCost) {
  const std::string over =
      kSmall + "--over cluster.nodes=1,2 layout --set recovery.spares=0 --top 3 --json";
  const Json cost = json_of(over + kCost);
  const Json time = json_of(over);
  EXPECT_EQ(cost.at("best")[0].at("set").at("cluster.nodes"), "1");
  EXPECT_EQ(time.at("best")[0].at("set").at("cluster.nodes"), "2");
  EXPECT_TRUE(time.at("best")[0].at("estimated_usd").is_null());
  for (const Json& row : cost.at("best")) {
    EXPECT_GT(row.at("estimated_usd"), 0);
    EXPECT_GT(row.at("job_cost_usd"), row.at("estimated_usd"));
  }
  const ProgramResult shown = run_program(kSmall + "--over recompute" + kCost);
  EXPECT_NE(shown.out.find("undisturbed cost"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find(" USD "), std::string::npos) << shown.out;
}

TEST(OptimiseCommand, TheScenariosOwnLayoutMayBeImpossible) {
  const std::string arguments = kSmall + "--top 3 --simulate 1 --json --over ";
  const auto times_of = [&](const std::string& over) {
    std::vector<double> times;
    const Json document = json_of(arguments + over);
    for (const Json& row : document.at("best")) {
      times.push_back(row.at("estimated_s"));
    }
    return times;
  };
  const std::vector<double> possible = times_of("layout");
  // A tp of 3 does not divide 16 GPUs, and a dp of 32 exceeds them: the search replaces both.
  EXPECT_EQ(times_of("layout --set layout.tp=3"), possible);
  EXPECT_EQ(times_of("layout --set layout.dp=32"), possible);
  // A value that no layout can mend is an error, and so is a bad layout that is not searched.
  const ProgramResult other = run_program(arguments + "layout --set precision=nvfp4");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("precision"), std::string::npos) << other.err;
  EXPECT_EQ(run_program(arguments + "recompute --set layout.tp=3").exit_code, 2);
}

// Without a pipeline schedules do not differ, so that only one of them is listed.
TEST(OptimiseCommand, EqualConfigurationsStandOnce) {
  const Json result =
      json_of(kSmall + "--over schedule=1f1b,gpipe layout --top 100 --simulate 0 --json");
  std::set<Json> seen;
  for (const Json& row : result.at("best")) {
    EXPECT_TRUE(seen.insert(row.at("set")).second) << row.at("set");
  }
  EXPECT_EQ(result.at("estimated"), seen.size());
}

// Each layout is listed with its best interval, and `run` confirms the figures of the line.
TEST(OptimiseCommand, SearchesIntervalsOfEachLayout) {
  const Json result =
      json_of(kSmall + "--over layout snapshots.0.every --for goodput --top 2 --json");
  for (const Json& row : result.at("best")) {
    ASSERT_TRUE(row.at("set").contains("snapshots.0.every")) << row;
    ASSERT_TRUE(row.at("set").contains("layout.tp")) << row;
    std::string run = "run scenarios/small.yaml --json";
    for (const auto& [key, value] : row.at("set").items()) {
      run += " --set '" + key + "=" + value.get<std::string>() + "'";
    }
    const Json ran = json_of(run);
    EXPECT_EQ(ran.at("campaign").at("goodput").at("mean"), row.at("goodput"));
    const Json given = json_of(run + " --set snapshots.0.every='30 min'");
    EXPECT_GT(row.at("goodput"), given.at("campaign").at("goodput").at("mean"));
  }
}

// Settings are repeated in the order in which they were given, because later ones override.
TEST(OptimiseCommand, ItsLineRepeatsWhatWasSetAsAShellReadsIt) {
  const ProgramResult result =
      run_program(kSmall + "--over recompute=none --set batch.global=64 --set 'name=a \"b\"'");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("  windtunnel run scenarios/small.yaml --set batch.global=64 --set "
                            "'name=a \"b\"' --set recompute=none "),
            std::string::npos)
      << result.out;
}

TEST(OptimiseCommand, RefusesWhatItCannotDo) {
  const auto expect_fault = [](const std::string& arguments, const std::string& words) {
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  };
  expect_fault(kSmall + "--over layuot", "layout");
  expect_fault(kSmall + "--over layout layout.tp=1,2", "varied as a whole");
  expect_fault(kSmall + "--over layout 'layout={tp: 2}'", "varied as a whole");
  expect_fault(kSmall + "--over batch.micro=", "--over 'batch.micro='");
  expect_fault(kSmall + "--over batch.nothing=1,2", "--over batch.nothing=1: ");
  expect_fault(kSmall + "--over layout --for godput", "did you mean 'goodput'?");
  const std::string bare = scratch_folder("bare") + "/bare.yaml";
  std::ofstream(bare) << "name: bare\nmodel: llama3-8b\ncluster: {nodes: 2, node: dgx-h100}\n"
                         "batch: {global: 64}\n";
  expect_fault("optimise " + bare + " --over layout --for goodput",
               bare + ":1:1: goodput and cost need a campaign");
  expect_fault(kSmall + "--over redundancy.scheme=drop-slowest,backup-workers",
               "redundancy.scheme is not part of the closed form that ranks configurations");
  expect_fault("optimise scenarios/diloco.yaml --over sync.1.wait_for=all,all-but-1",
               "sync.1.wait_for is not part of the closed form");
  expect_fault(kSmall + "--over layot", "did you mean 'layout'? snapshots.N.every");
  expect_fault(kSmall, "--over");
}

TEST(ScheduleSearchCommand, FindsBoundsAndExports) {
  const std::string file = ::testing::TempDir() + "search_" + std::to_string(getpid()) + ".csv";
  const std::string numbers =
      "schedule search --ranks 4 --microbatches 8 --chunks 1 --times 1,1.2,0.7 --message 0.05 "
      "--memory-limit 5 --effort 0.5 ";
  const Json result = json_of(numbers + "--json --out " + file);
  EXPECT_GE(result.at("gap"), 0);
  const double longest_stage_s = result.at("best").at("longest_stage_s");
  EXPECT_LE(result.at("bound_s").get<double>(), longest_stage_s * (1 + 1e-9));
  for (const Json& peak : result.at("best").at("peak_activation")) EXPECT_LE(peak, 5 + 1e-9);
  bool some_do_not_fit = false;
  for (const Json& row : result.at("candidates")) {
    some_do_not_fit = some_do_not_fit || !row.at("fits");
    if (row.at("fits")) {
      EXPECT_GE(row.at("longest_stage_s"), result.at("best").at("longest_stage_s"));
    }
  }
  EXPECT_TRUE(some_do_not_fit);  // zb-h2 needs more memory
  // The file holds the schedule that was found.
  const Json again = json_of("schedule show " + file + " --times 1,1.2,0.7 --message 0.05 --json");
  EXPECT_NE(again.dump().find(result.at("best").at("makespan_s").dump()), std::string::npos);
  const ProgramResult text = run_program(numbers);
  EXPECT_NE(text.out.find("longest stage, lower bound"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("gap"), std::string::npos);
}

TEST(ScheduleSearchCommand, RefusesWhatItCannotDo) {
  const auto expect_fault = [](const std::string& arguments, const std::string& words) {
    const ProgramResult result = run_program("schedule search " + arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  };
  expect_fault("--ranks 4 --memory-limit 0.5", "memory limit of 0.5");
  expect_fault("--ranks 0", "at least 1 rank");
  expect_fault("--ranks -3", "at least 1 rank");
  expect_fault("--ranks 2000000000", "too large");
  expect_fault("--effort nan", "not in range");
  expect_fault("--dialect old", "unknown option");
  expect_fault("--ranks 4 --slices 2", "--slices");
  expect_fault("--ranks 4 --times 1,2", "three times");
  expect_fault("--objective speed", "speed");
  expect_fault("zb-v", "one argument too many");
}

TEST(OptimiseCommand, SplitsNodesBetweenLearnerAndEngines) {
  const std::string scenario =
      "scenarios/reinforcement.yaml --set rollout.iterations=2 --set rollout.mode=one-step-off ";
  const Json result =
      json_of("optimise " + scenario + "--over rollout --top 3 --simulate 2 --json");
  const Json& best = result.at("best").at(0);
  const Json& even = result.at("even");
  EXPECT_GE(best.at("result").at("rollout").at("samples_per_s"),
            even.at("result").at("rollout").at("samples_per_s"));
  std::string run = "run " + scenario + "--json";
  for (const auto& [key, value] : best.at("set").items()) {
    run += " --set " + key + "=" + value.get<std::string>();
  }
  EXPECT_EQ(json_of(run).at("rollout").at("period_s"),
            best.at("result").at("rollout").at("period_s"));
  const ProgramResult text = run_program("optimise " + scenario + "--over rollout --simulate 0");
  EXPECT_NE(text.out.find("samples/s of the even split"), std::string::npos) << text.out;
  const ProgramResult mixed = run_program("optimise " + scenario + "--over rollout layout");
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_NE(mixed.err.find("--over rollout cannot be combined"), std::string::npos) << mixed.err;
}

}  // namespace
}  // namespace windtunnel
