#include "scenarios/language/case.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "policies/iteration.hpp"
#include "policies/lowering/job_schedule.hpp"
#include "scenarios/language/library/calibration_writer.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "scenarios/language/library/library.hpp"
#include "tests/scenarios/golden.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

Case example(const std::string& name, const Overrides& overrides = {}) {
  return load_case(source_path("scenarios/" + name), overrides);
}

const ResolvedValue& value_at(const Case& result, const std::string& key) {
  const auto found = std::find_if(result.values.begin(), result.values.end(),
                                  [&](const ResolvedValue& value) { return value.key == key; });
  EXPECT_NE(found, result.values.end()) << key;
  return *found;
}

TEST(Case, Llama3MachineAndLayout) {
  const Case result = example("llama3-405b.yaml");
  EXPECT_EQ(result.scenario, "llama3-405b-16k");
  const Job& job = result.job;
  EXPECT_EQ(job.cluster.gpus(), 16384);
  EXPECT_EQ(job.cluster.node.gpu.name, "h100");
  EXPECT_EQ(job.cluster.fabric.topology, Topology::rail_fat_tree);
  EXPECT_EQ(job.cluster.fabric.nodes_per_pod, 384);
  EXPECT_DOUBLE_EQ(job.cluster.fabric.pod_oversubscription, 7);
  EXPECT_DOUBLE_EQ(job.cluster.storage.write_Bps.value, 2e12);
  EXPECT_EQ(job.layout.ranks(), 16384);
  EXPECT_EQ(job.layout.first_stage_layers, -1);
  EXPECT_EQ(job.layout.sharding, Sharding::zero1);
  EXPECT_TRUE(job.layout.sequence_parallel);
  EXPECT_EQ(microbatches(job.layout, job.batch), 16);
  EXPECT_EQ(job.batch.sequence, 8192);
  EXPECT_EQ(job.precision, Precision::bf16);
  EXPECT_EQ(job.recompute, Recompute::selective);
  EXPECT_EQ(job.schedule.name, "interleaved-1f1b");
  EXPECT_EQ(job.communication.overlap, GradientOverlap::bucketed);
  EXPECT_DOUBLE_EQ(job.communication.bucket_bytes, 25e6);
  EXPECT_EQ(job.calibration.name, "h100-published");
  EXPECT_NEAR(job.model.parameters(), 405.8e9, 0.1e9);  // arXiv 2407.21783: 405B
}

// Schedules take default numbers where the scenario states none.
TEST(Case, SchedulesHaveUsualNumbers) {
  const auto with = [](const std::string& schedule) {
    return example("gpt3-175b-schedules.yaml", {{"schedule", schedule}}).job;
  };
  EXPECT_EQ(with("1f1b").schedule.slices, 1);
  EXPECT_EQ(with("seq1f1b").schedule.slices, 4);
  EXPECT_EQ(with("{name: seq1f1b, slices: 2}").schedule.slices, 2);
  EXPECT_EQ(with("zb-v").layout.vpp, 2);
  // zb-auto takes the memory that is left on the GPU, which is more than 1f1b's, and the job fits.
  const Job job = with("zb-auto");
  const PreparedIteration prepared = prepare_iteration(job);
  EXPECT_EQ(gpu_memory_excess(prepared.memory, job), "");
  const double room = activation_room_bytes(job, prepared.chunks);
  const double most = *std::ranges::max_element(prepared.peak_activation_bytes);
  EXPECT_LE(most, room);
  EXPECT_GT(most, 0.9 * room);
}

TEST(Case, Llama3FailuresAreThePublishedCounts) {
  const Job job = example("llama3-405b.yaml").job;
  const double node_s = 2048.0 * job.campaign.length_s;
  ASSERT_EQ(job.failures.size(), 3u);
  const double node = job.failures[0].rate_per_node_s * node_s;
  const double process = job.failures[1].rate_per_node_s * node_s;
  EXPECT_NEAR(node + process, 419, 0.5);
  EXPECT_NEAR(process, 61, 0.5);
  EXPECT_NEAR(job.failures[2].rate_per_node_s * node_s, 47, 0.5);
  EXPECT_EQ(job.failures[0].kind, FailureKind::node);
  EXPECT_EQ(job.failures[1].kind, FailureKind::process);
  EXPECT_EQ(job.failures[2].kind, FailureKind::planned);
  EXPECT_EQ(job.failures[0].arrivals, Arrivals::weibull);
  EXPECT_DOUBLE_EQ(job.failures[0].weibull_shape, 0.7);
  EXPECT_EQ(job.failures[0].repair.empirical_s.size(), 584u);
  EXPECT_DOUBLE_EQ(job.failures[1].detect_s, 30);
  EXPECT_LT(job.failures[0].detect_s, 0);  // not stated: recovery.detect
}

TEST(Case, Llama3Protection) {
  const Job job = example("llama3-405b.yaml").job;
  ASSERT_EQ(job.snapshots.size(), 2u);
  EXPECT_EQ(job.snapshots[0].place, SnapshotPlace::host_memory);
  EXPECT_EQ(job.snapshots[0].every_iterations, 10);
  EXPECT_DOUBLE_EQ(job.snapshots[0].every_s, 0);
  EXPECT_TRUE(job.snapshots[0].keeper_process);
  EXPECT_EQ(job.snapshots[1].mode, SnapshotMode::async);
  EXPECT_DOUBLE_EQ(job.snapshots[1].every_s, 3600);
  EXPECT_EQ(job.snapshots[1].every_iterations, 0);
  EXPECT_EQ(job.recovery.spares, 128);
  EXPECT_DOUBLE_EQ(job.recovery.restart_s, 180);
  EXPECT_EQ(job.recovery.when_no_spare, WhenNoSpare::shrink);
  EXPECT_DOUBLE_EQ(job.tokens, 15.6e12);
  EXPECT_DOUBLE_EQ(job.price_usd_per_gpu_s, 2 / 3600.0);
  EXPECT_EQ(job.campaign.trials, 100);
  EXPECT_EQ(job.failure_origin, Origin::assumed);  // that of the Weibull shape
}

TEST(Case, DefaultsFollowFromOtherValues) {
  const Case result = example("gpt3-175b-a100.yaml");
  EXPECT_EQ(result.job.layout.dp, 8);
  EXPECT_TRUE(value_at(result, "layout.dp").is_default);
  EXPECT_EQ(value_at(result, "layout.dp").value, "8");
  EXPECT_EQ(result.job.batch.sequence, 2048);
  EXPECT_EQ(result.job.batch.micro, 1);
  EXPECT_EQ(result.job.calibration.name, "a100-published");  // auto: it is fitted to this GPU
  EXPECT_EQ(result.job.failure_origin, Origin::published);
  EXPECT_EQ(result.job.recovery_origin, Origin::assumed);
  EXPECT_EQ(example("small.yaml", {{"cluster.node", "hl-325"}}).job.calibration.name, "generic");
}

TEST(Case, AMeasuredBusRestsOnTheWeakestOfItsNumbers) {
  const auto measured = [](const Overrides& overrides) {
    return example("small.yaml", overrides).job.cluster.fabric.measured;
  };
  EXPECT_EQ(measured({}).all_reduce_Bps, 0);
  const std::string key = "cluster.fabric.measured";
  const MeasuredBus stated = measured({{key, "{all_reduce: 160 GB/s, reduce_scatter: 1320 Gb/s}"},
                                       {"origins", "{" + key + ": 'published: a paper'}"}});
  EXPECT_DOUBLE_EQ(stated.all_reduce_Bps, 160e9);
  EXPECT_EQ(stated.all_gather_Bps, 0);
  EXPECT_DOUBLE_EQ(stated.reduce_scatter_Bps, 165e9);
  EXPECT_EQ(stated.origin, Origin::published);
  EXPECT_EQ(measured({{key + ".all_gather", "160 GB/s"}}).origin, Origin::assumed);
}

TEST(Case, APartOfAModelNeedsTheNumberThatSwitchesItOn) {
  const auto message = [](const Overrides& overrides) {
    return error_of([&] { example("small.yaml", overrides); });
  };
  EXPECT_EQ(message({{"model.moe.shared_ffn", "8"}}),
            "--set model.moe.shared_ffn=8: neither model.moe nor the model that it starts from has "
            "'experts'");
  EXPECT_EQ(message({{"model.latent.query_rank", "8"}}),
            "--set model.latent.query_rank=8: neither model.latent nor the model that it starts "
            "from has 'kv_rank'");
  EXPECT_EQ(message({{"model", "mixtral-8x7b"}, {"model.moe.experts", "0"}}), "no error");
}

// A study may find a fault after the scenario has been read, and the message still has a place.
TEST(Case, FaultsThatAreFoundLaterHaveAPlaceToo) {
  const auto message = [](const Case& of, auto... keys) {
    return error_of(
        [&] { of.places.placing([&]() { throw Error::about({keys...}, "does not do"); }); });
  };
  const std::string text =
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\n"
      "batch: {global: 64}\nlayout: {tp: 2}\n";
  const Case stated = parse_case(text, "a.yaml");
  EXPECT_EQ(message(stated, "layout.tp"), "a.yaml:5:14: does not do");
  EXPECT_EQ(message(stated, "layout.pp"), "a.yaml:5:1: does not do");
  EXPECT_EQ(message(stated, "campaign"), "a.yaml:1:1: does not do");
  EXPECT_EQ(message(stated, "layout.pp", "batch.global"), "a.yaml:4:17: does not do");
  const Case set = parse_case(text, "a.yaml", {{"batch.global", "32"}});
  EXPECT_EQ(message(set, "layout.tp", "batch.global"), "--set batch.global=32: does not do");
  EXPECT_EQ(message(Case{}, "layout.tp"), "does not do");
}

// Keys without a fixed default are explained by the value that the job took.
TEST(Case, KeysThatAreLeftOpenAreExplained) {
  const auto expect = [](const Overrides& overrides, const std::string& key,
                         const std::string& text) {
    const Case open = example("small.yaml", overrides);
    const ResolvedValue& value = value_at(open, key);
    EXPECT_EQ(value.value, text) << key;
    EXPECT_TRUE(value.is_default) << key;
  };
  expect({{"schedule", "seq1f1b"}}, "schedule.slices", "4");
  expect({{"schedule", "chimera"}}, "schedule.group", "1");
  expect({{"layout.sharding", "zero3"}}, "layout.weight_ranks", "4");
  expect({{"cluster.fabric.routing", "ecmp"}}, "cluster.fabric.routing_seed", "1");
  expect({{"batch.lengths", "{median: 2000}"}, {"layout.pp", "1"}}, "batch.lengths.sigma", "1");
  expect({}, "failures.0.detect", "1 min");
  const Case plain = example("small.yaml");
  // Keys that the job does not use are not explained.
  EXPECT_EQ(std::ranges::count(plain.values, "schedule.group", &ResolvedValue::key), 0);
  EXPECT_EQ(std::ranges::count(plain.values, "layout.weight_ranks", &ResolvedValue::key), 0);
  EXPECT_EQ(std::ranges::count(plain.values, "communication.compressor.rank", &ResolvedValue::key),
            0);
  EXPECT_EQ(std::ranges::count(plain.values, "failures.0.slowdown", &ResolvedValue::key), 0);
}

TEST(Case, InlineModel) {
  const Case result =
      example("small.yaml", {{"model", "{layers: 4, hidden: 512, heads: 8, vocabulary: 1000}"},
                             {"batch.sequence", "128"}});
  EXPECT_EQ(result.job.model.kv_heads, 8);
  EXPECT_EQ(result.job.model.ffn_hidden, 2048);
  EXPECT_EQ(result.job.batch.sequence, 128);
}

TEST(Case, ChunksAreTheSchedulesUsualWhereNothingIsSaid) {
  const auto chunks = [](const std::string& schedule, const std::string& pp) {
    return example("small.yaml", {{"schedule", schedule}, {"layout.pp", pp}}).job.layout.vpp;
  };
  EXPECT_EQ(chunks("1f1b", "2"), 1);
  EXPECT_EQ(chunks("zb-v", "2"), 2);
  EXPECT_EQ(chunks("1f1b", "1"), 1);
}

TEST(Case, AScheduleFromAFileIsReadBesideTheScenario) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / fmt::format("wt-case-{}", getpid())).string();
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name, std::ios::binary) << text;
  };
  // small.yaml is run with 2 pipeline ranks and 2 micro-batches.
  const Overrides two = {{"layout.pp", "2"},
                         {"batch", "{global: 2, micro: 1}"},
                         {"layout.dp", "1"},
                         {"layout.tp", "8"}};
  const std::string text = read_text_file(source_path("scenarios/small.yaml"));
  const auto load = [&](const std::string& schedule) {
    Overrides overrides = two;
    overrides.emplace_back("schedule", schedule);
    return parse_case(text, folder + "/small.yaml", overrides);
  };
  write("good.csv", "0F0,0F1,,0B0,,0B1\r\n,1F0,1B0,1F1,1B1\r\n");
  const Case good = load("{file: good.csv}");
  ASSERT_NE(good.job.schedule.imported, nullptr);
  EXPECT_EQ(good.job.schedule.name, "good");
  EXPECT_EQ(good.job.layout.vpp, 1);
  EXPECT_EQ(good.job.schedule.imported->actions[1].size(), 4u);
  EXPECT_EQ(value_at(good, "schedule.name").value, good.job.schedule.name);
  ASSERT_EQ(good.files.size(), 1u);
  EXPECT_EQ(good.files[0].name, "good.csv");
  write("good.csv", "0F0,0F1,,0B1,,0B0\r\n,1F0,1F1,1B1,1B0\r\n");
  EXPECT_NE(load("{file: good.csv}").key, good.key);  // the file has changed

  const auto message = [&](const std::string& schedule) {
    return error_of([&] { load(schedule); });
  };
  write("bad.csv", "0F0,0B0\r\n1F0,1X0\r\n");
  EXPECT_EQ(message("{file: bad.csv}"),
            fmt::format("--set schedule={{file: bad.csv}}: schedule.file: {}/bad.csv:2:2: '1X0': "
                        "unknown action 'X'; did you mean 'F'?",
                        folder));
  write("stuck.csv", "0F0,0B0,0F1,0B1\r\n1F1,1F0,1B0,1B1\r\n");
  EXPECT_EQ(message("{file: stuck.csv}"),
            fmt::format("--set schedule={{file: stuck.csv}}: schedule.file: {}/stuck.csv:1:2: "
                        "waits forever, because the ranks deadlock",
                        folder));
  write("three.csv", "0F0,0F1,0F2,0B0,0B1,0B2\r\n1F0,1F1,1F2,1B0,1B1,1B2\r\n");
  EXPECT_EQ(message("{file: three.csv}"),
            "--set schedule={file: three.csv}: schedule.file: three.csv has 3 micro-batches, but "
            "batch.global / (batch.micro x dp) is 2");
  EXPECT_EQ(message("{file: good.csv, name: zb-v}"),
            "--set schedule={file: good.csv, name: zb-v}: schedule.file: state either a file or a "
            "name of a schedule, not both");
  EXPECT_EQ(message("{file: good.csv, group: 2}"),
            "--set schedule={file: good.csv, group: 2}: schedule.group: a schedule from a file "
            "already contains this; leave it out");
  std::filesystem::remove_all(folder);
}

TEST(Case, AMemoryLimitReachesTheScheduleThatTakesIt) {
  const Case result = example(
      "small.yaml", {{"schedule", "{name: zb-auto, memory_limit: 70 GB}"}, {"layout.pp", "2"}});
  EXPECT_DOUBLE_EQ(result.job.schedule.memory_limit, 70e9);
  const std::string message = error_of([] {
    example("small.yaml", {{"schedule", "{name: zb-auto, memory_limit: 1 B}"}, {"layout.pp", "2"}});
  });
  EXPECT_TRUE(message.starts_with("--set schedule={name: zb-auto, memory_limit: 1 B}: "))
      << message;
}

TEST(Case, TheScenarioChoosesHowCollectivesRun) {
  const std::string key = "communication.collectives";
  EXPECT_TRUE(example("small.yaml").job.communication.collectives.empty());
  const Case result =
      example("small.yaml",
              {{key, "{all_reduce: tree, reduce_scatter: {protocol: ll}, all_gather: auto}"}});
  const std::vector<CollectiveRule>& rules = result.job.communication.collectives;
  ASSERT_EQ(rules.size(), 2u);  // auto adds no rule
  EXPECT_EQ(rules[0].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(rules[0].algorithm, CollectiveAlgorithm::tree);
  EXPECT_EQ(rules[0].protocol, Protocol::automatic);
  EXPECT_EQ(rules[1].kind, CollectiveKind::reduce_scatter);
  EXPECT_EQ(rules[1].algorithm, CollectiveAlgorithm::automatic);
  EXPECT_EQ(rules[1].protocol, Protocol::ll);
  EXPECT_EQ(value_at(result, key + ".all_reduce.algorithm").value, "tree");
  EXPECT_NE(result.key, example("small.yaml").key);
}

TEST(Case, TheScenarioChoosesHowCollectivesOfAnAxisRun) {
  const Case result = example(
      "small.yaml", {{"communication.collectives", "{dp: tree, tp: {protocol: ll}, ep: auto}"}});
  const std::vector<CollectiveRule>& rules = result.job.communication.collectives;
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].axis, Category::tp);
  EXPECT_EQ(rules[0].protocol, Protocol::ll);
  EXPECT_EQ(rules[1].axis, Category::dp);
  EXPECT_EQ(rules[1].algorithm, CollectiveAlgorithm::tree);
}

// An algorithm is refused if its kind lacks it, or if it cannot run on the job's groups.
TEST(Case, CollectivesThatCannotRunAreRefused) {
  const auto refused = [](const std::string& collectives) {
    return error_of([&] { example("small.yaml", {{"communication.collectives", collectives}}); });
  };
  EXPECT_EQ(refused("{all_to_all: tree}"),
            "--set communication.collectives={all_to_all: tree}: unknown algorithm 'tree'; known: "
            "auto, pairwise, direct, one-sided, hierarchical");
  EXPECT_EQ(refused("{all_gather: hierarchical}"),
            "--set communication.collectives={all_gather: hierarchical}: "
            "communication.collectives: all-gather by hierarchical needs several nodes; this group "
            "has 2 members on 1 node; possible algorithms: ring, halving-doubling, nvls");
}

TEST(Case, StagesAsAList) {
  const Case result = example("small.yaml", {{"layout.stages", "[15, 17]"}});
  EXPECT_EQ(result.job.layout.stage_layers, (std::vector<int>{15, 17}));
}

TEST(Case, EvidenceReachesNumbersAndValues) {
  const std::string text = read_text_file(source_path("tests/scenarios/every_key.yaml"));
  const Case result = parse_case(text, "every_key.yaml");
  EXPECT_EQ(result.job.cluster.node.nic_Bps.origin, Origin::spec);
  EXPECT_EQ(result.job.cluster.node.nic_Bps.source, "a data sheet");
  EXPECT_EQ(value_at(result, "cluster.node.nic").origin, Origin::spec);
  EXPECT_EQ(value_at(result, "failures.2.rate").origin, Origin::measured);
  EXPECT_EQ(value_at(result, "failures.2.rate").value, "0.4 per 1000 node-days");
  EXPECT_EQ(value_at(result, "cluster.storage.write").origin, Origin::assumed);
  EXPECT_EQ(result.job.failures[1].trace_s.size(), 584u);
  EXPECT_TRUE(
      std::is_sorted(result.job.failures[1].trace_s.begin(), result.job.failures[1].trace_s.end()));
}

TEST(Case, EveryValueIsExplainedOnce) {
  for (const char* name : {"llama3-405b.yaml", "gpt3-175b-a100.yaml", "small.yaml"}) {
    const Case result = example(name);
    std::set<std::string> keys;
    for (const ResolvedValue& value : result.values) {
      EXPECT_TRUE(keys.insert(value.key).second) << value.key;
      EXPECT_FALSE(value.value.empty()) << value.key;
      EXPECT_FALSE(value.source.empty()) << value.key;
    }
    for (const CalibrationField& field : calibration_fields()) {
      EXPECT_TRUE(keys.contains("calibration." + std::string(field.name)));
    }
  }
}

TEST(Case, KeyDependsOnValuesAlone) {
  const std::string text =
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\n"
      "batch: {global: 64}\ncampaign: {length: 1 d}\n";
  const std::string same =
      "# another comment, order, unit, quote, name, written default\nname: b\nprecision: bf16\n"
      "campaign: {seed: 1, length: 24 h}\nbatch:\n  micro: 1\n  global: '64'\n"
      "cluster: {node: {base: dgx-h100}, nodes: 1}\nmodel: llama3-8b\n";
  const std::string key = parse_case(text, "a.yaml").key;
  EXPECT_EQ(key.size(), 16u);
  EXPECT_EQ(key, parse_case(same, "b.yaml").key);
  for (const auto& [path, value] : Overrides{{"batch.global", "128"},
                                             {"campaign.length", "25 h"},
                                             {"cluster.node.nic", "1 GB/s"},
                                             {"fold", "none"},
                                             {"calibration", "generic"}}) {
    EXPECT_NE(key, parse_case(text, "a.yaml", {{path, value}}).key) << path;
  }
}

// Collectives follow NCCL's model of the machine, unless the scenario requests the calibration's
// five constants.
TEST(Case, CollectivesByNcclsLawUnlessConstantsAreAskedFor) {
  const Case result = example("small.yaml");
  const InterconnectLaw& law = result.job.calibration.network;
  EXPECT_TRUE(law.stated);
  EXPECT_EQ(
      law.net_share.value,
      specified_interconnect_law(result.job.cluster.node, Transport::infiniband).net_share.value);
  EXPECT_EQ(value_at(result, "calibration.network.net.share").source, law.net_share.source);
  EXPECT_EQ(value_at(result, "calibration.network.net.tree_chunk").value, "8.388608 MB");
  EXPECT_EQ(example("small.yaml", {{"communication.law", "nccl"}})
                .job.calibration.network.net_share.value,
            law.net_share.value);
  const Case constants = example("small.yaml", {{"communication.law", "constants"}});
  EXPECT_FALSE(constants.job.calibration.network.stated);
  EXPECT_NE(result.key, constants.key);
  const Case slingshot = example("small.yaml", {{"cluster.fabric.transport", "slingshot"}});
  EXPECT_NE(slingshot.job.calibration.network.net_share.value, law.net_share.value);
}

// Constants are kept if they were fitted on the machine, or if another library than NCCL runs; a
// note says so.
TEST(Case, ConstantsThatNcclsLawDoesNotReplace) {
  const auto note_of = [](const Case& read) {
    EXPECT_FALSE(read.job.calibration.network.stated);
    const auto note = std::ranges::find(read.notes, "communication.law", &Note::key);
    return note == read.notes.end() ? std::string() : note->text;
  };
  const std::string text = "name: a\nmodel: llama3-8b\nlayout: {dp: 16}\nbatch: {global: 64}\n";
  const auto on = [&](const std::string& cluster, const Overrides& set = {}) {
    return parse_case(text + "cluster: " + cluster + "\n", "a.yaml", set);
  };
  const std::string gaudi = "{nodes: 2, node: hl-325}";
  EXPECT_EQ(note_of(on(gaudi)),
            "the cost of collectives follows from the constants of the calibration: NCCL does not "
            "run on Gaudi, which has Intel's HCCL");
  EXPECT_EQ(note_of(on("{nodes: 2, node: dgx-h100}", {{"calibration", "h100-sweep"}})),
            "the cost of collectives follows from the constants of the calibration: the constants "
            "of the calibration h100-sweep were fitted on this network");
  EXPECT_EQ(note_of(on(gaudi, {{"communication.law", "constants"}})), "");
  EXPECT_NE(parse_message(text + "cluster: " + gaudi + "\ncommunication: {law: nccl}\n", "a.yaml")
                .find("communication.law: NCCL does not run on Gaudi"),
            std::string::npos);
}

// A calibration's own law is kept, and is part of the case's identity.
TEST(Case, ALawOfACalibrationIsUsed) {
  const std::string folder =
      fmt::format("{}case_test_law_{}", ::testing::TempDir(), static_cast<int>(getpid()));
  std::filesystem::create_directories(folder);
  Calibration own = find_calibration("generic");
  const std::string scenario =
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\n"
      "batch: {global: 64}\ncalibration: own.yaml\n";
  const auto read = [&](const std::string& more = "") {
    std::ofstream(folder + "/own.yaml") << calibration_text(own, "test");
    return parse_case(scenario + more, folder + "/a.yaml");
  };
  const std::string constants = read().key;
  own.network = specified_interconnect_law(find_node("dgx-h100"), Transport::efa);
  own.network.net_share.value = 0.7125;
  const Case law = read();
  EXPECT_EQ(law.job.calibration.network.net_share.value, 0.7125);
  EXPECT_EQ(read("communication: {law: nccl}\n").job.calibration.network.net_share.value, 0.7125);
  EXPECT_FALSE(read("communication: {law: constants}\n").job.calibration.network.stated);
  own.network.net_share.value = 0.7126;
  EXPECT_NE(law.key, constants);
  EXPECT_NE(law.key, read().key);
  std::filesystem::remove_all(folder);
}

// A calibration file beside the scenario is found, wherever the program is started.
TEST(Case, CalibrationOfAFileBesideTheScenario) {
  const std::string folder = std::string(::testing::TempDir()) + "case_test_calibration";
  std::filesystem::create_directories(folder + "/fits");
  const std::string good =
      read_text_file(source_path("scenarios/library/calibrations/generic.yaml"));
  const std::string file = folder + "/fits/own.yaml";
  std::string text = good;
  text.replace(text.find("name: generic"), 13, "name: own-fit");
  std::ofstream(file) << text;
  const std::string scenario =
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\n"
      "batch: {global: 64}\ncalibration: fits/own.yaml\n";
  const auto key = [&] { return parse_case(scenario, folder + "/a.yaml").key; };
  EXPECT_EQ(parse_case(scenario, folder + "/a.yaml").job.calibration.name, "own-fit");
  const std::string before = key();
  text.replace(text.find("value: "), 9, "value: 0.7 #");
  std::ofstream(file) << text;
  EXPECT_NE(key(), before) << "the constants belong to the case";
  std::ofstream(file) << "name: own-fit\ngpu: [h100\n";
  const std::string message = parse_message(scenario, folder + "/a.yaml");
  EXPECT_TRUE(message.starts_with(folder + "/a.yaml:5:14: calibration: " + file + ":")) << message;
}

TEST(Case, NewPartsOfAModelAndTheSoftware) {
  const std::string text =
      "name: a\nmodel: {base: mixtral-8x7b, head_width: 64, moe: {per_token: 3, imbalance: 1.5}}\n"
      "cluster: {nodes: 1, node: dgx-h100}\nbatch: {global: 64}\n"
      "layout: {ep: 8, sharding: zero3, shard_ranks: 4}\n"
      "software: {fusion: none, gradients: bf16, cuda_graphs: true}\n";
  const Case result = parse_case(text, "a.yaml");
  EXPECT_EQ(result.job.model.moe.experts, 8);  // from the base
  EXPECT_EQ(result.job.model.moe.per_token, 3);
  EXPECT_DOUBLE_EQ(result.job.model.moe.imbalance, 1.5);
  EXPECT_EQ(result.job.model.head_dim(), 64);
  EXPECT_EQ(result.job.layout.ep, 8);
  EXPECT_EQ(result.job.layout.sharding, Sharding::zero3);
  EXPECT_EQ(result.job.layout.shard_ranks, 4);
  EXPECT_EQ(result.job.software.fusion, Fusion::none);
  EXPECT_DOUBLE_EQ(result.job.software.gradient_bytes, 2);
  EXPECT_DOUBLE_EQ(result.job.software.reduce_bytes, 4);
  EXPECT_TRUE(result.job.software.cuda_graphs);
  EXPECT_FALSE(result.job.software.fused_loss);
  EXPECT_EQ(value_at(result, "model.moe.experts").origin, Origin::published);
  EXPECT_EQ(value_at(result, "software.reductions").value, "fp32");
  EXPECT_EQ(parse_message(text, "a.yaml", {{"layout.ep", "3"}}),
            "--set layout.ep=3: layout.ep 3 does not divide tp x cp x dp = 8");
  EXPECT_EQ(parse_message(text, "a.yaml", {{"layout.shard_ranks", "3"}}),
            "--set layout.shard_ranks=3: layout.shard_ranks 3 does not divide dp x cp = 8");
  EXPECT_EQ(parse_message(text, "a.yaml", {{"model.moe.per_token", "9"}}),
            "--set model.moe.per_token=9: model.moe.per_token 9 must be from 1 to the number of "
            "experts, 8");
}

TEST(Case, PrecisionsOfBlockScaledFormatsNeedTheHardware) {
  const std::string text =
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\n"
      "batch: {global: 64}\nprecision: nvfp4\n";
  EXPECT_TRUE(parse_message(text, "a.yaml")
                  .starts_with("a.yaml:5:12: precision: h100 does not have nvfp4"));
  EXPECT_EQ(parse_case(text, "a.yaml", {{"cluster.node", "gb300-nvl72"}, {"batch.global", "72"}})
                .job.precision,
            Precision::nvfp4);
}

TEST(Case, SameTextSameResult) {
  const Case a = example("llama3-405b.yaml");
  const Case b = example("llama3-405b.yaml");
  EXPECT_EQ(a.key, b.key);
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t i = 0; i < a.values.size(); ++i) EXPECT_EQ(a.values[i].value, b.values[i].value);
}

}  // namespace
}  // namespace windtunnel
