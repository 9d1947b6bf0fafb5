#include <fmt/format.h>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "models/base/random.hpp"
#include "tests/sim/engine/plan_maker.hpp"
#include "tests/sim/engine/random_plan.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/test_names.hpp"
#include "traces/chakra/chakra.hpp"
#include "traces/chakra/chakra_fields.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns an empty folder for this test.
std::string scratch(const std::string& name) {
  const std::string folder =
      fmt::format("{}windtunnel-chakra-{}-{}", ::testing::TempDir(), getpid(), name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

std::string write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::vector<std::string> export_plan(const Plan& plan, ChakraRanks ranks,
                                     const std::string& folder) {
  std::vector<std::string> files;
  const ChakraExport traces(plan, ranks);
  for (int i = 0; i < traces.files(); ++i) {
    files.push_back(
        write(folder + "/job." + std::to_string(traces.rank(i)) + ".et", traces.content(i)));
  }
  return files;
}

std::string reading_error(const std::vector<std::string>& files) {
  return error_of([&] { read_chakra(files); });
}

// The Plan has one class of two ranks with a collective, a message that goes around, and every
// field different from its default.
Plan rich_plan() {
  Plan plan;
  plan.ranks = 2;
  plan.iterations = 2;
  plan.groups = {{Category::tp, {1, 0}}};
  RankClass owner;
  owner.name = "both \"ranks\"";
  owner.members = {1, 0};
  owner.streams = streams(2, 1);
  owner.streams.push_back({"queue", StreamOrder::by_priority});
  owner.groups = {{0, 0}};
  owner.peers = {{0, 1}};
  Task step = compute("F0.0", 0, 0);
  step.action = ActionKind::backward_weight;
  step.paired = true;
  step.stage = 3;
  step.microbatch = 7;
  step.not_before_s = 1e-9;
  step.cost = {{Category::forward, Origin::measured, 0.1}, {Category::ep, Origin::spec, 1.0 / 3}};
  step.category = Category::recompute;
  step.origin = Origin::published;
  step.allocate_bytes = 1e10 + 0.5;
  step.free_bytes = 3;
  Task move = with_flow(compute("copy", 3, 0), 1e9 / 3, {{Resource::pcie_in, 1}});
  move.kind = TaskKind::copy;
  move.priority = -5;
  move.flows.push_back({2.5, 0.75, {{Resource::host_memory, 2}, {Resource::cpu, 3}}});
  Task encode = plain(TaskKind::encode, "xor", 3, 0.25, {1, 0});
  encode.join_first = 1;
  encode.iteration = 1;
  Task store = plain(TaskKind::store, "store", 3, 0, {2});
  store.bytes = 12.5;
  Task there = send("send", 1, 0, -(std::int64_t{1} << 40), 1e6 / 3, {0});
  there.synchronous = true;
  there.cost = {{Category::pp, Origin::spec, 0}};
  Task back = recv("recv", 2, 0, -(std::int64_t{1} << 40), 0);
  Task reduce = collective("gather", 0, 0, 4, 5e-6, {5, 5});
  reduce.collective = CollectiveKind::all_gather;
  reduce.algorithm = CollectiveAlgorithm::tree;
  reduce.bytes = 7;
  Task flows = collective("exchange", 0, 0, 5, 0);
  flows.collective = CollectiveKind::all_to_all;
  flows.as_flows = true;
  flows.bytes = 8;
  flows.exchange = 1;
  flows.returns = true;
  plan.exchanges = {{{}, 0.25}, {{0.5, 1.5}, std::nullopt}};
  owner.tasks = {step, move, encode, store, there, back, reduce, flows};
  plan.classes = {owner};
  return plan;
}

class RoundTrip : public ::testing::TestWithParam<ChakraRanks> {};
INSTANTIATE_TEST_SUITE_P(Chakra, RoundTrip,
                         ::testing::Values(ChakraRanks::all, ChakraRanks::one_per_class),
                         named([](ChakraRanks ranks) {
                           return ranks == ChakraRanks::all ? "all" : "one_per_class";
                         }));

TEST_P(RoundTrip, EveryFieldComesBack) {
  const Plan plan = rich_plan();
  const auto files = export_plan(plan, GetParam(), scratch("rich"));
  EXPECT_EQ(files.size(), GetParam() == ChakraRanks::all ? 2u : 1u);
  const RankPlan import = read_chakra(files);
  EXPECT_FALSE(import.foreign);
  EXPECT_TRUE(import.plan == plan);
}

TEST_P(RoundTrip, RandomPlansComeBackInAnyOrderOfFiles) {
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    const Plan plan = RandomCaseMaker(seed).make().plan;
    const std::string folder = scratch("random");
    std::vector<std::string> files = export_plan(plan, GetParam(), folder);
    std::reverse(files.begin(), files.end());
    EXPECT_TRUE(read_chakra(files).plan == plan) << "seed " << seed;
    EXPECT_TRUE(read_chakra(chakra_files(folder)).plan == plan) << "seed " << seed;
  }
}

TEST(Chakra, AChangedRankGetsAClassOfItsOwn) {
  const Plan plan = rich_plan();
  const std::string folder = scratch("changed");
  const auto files = export_plan(plan, ChakraRanks::all, folder);
  Plan slower = plan;
  for (Task& task : slower.classes[0].tasks) {
    for (CostPart& part : task.cost) part.seconds *= 2;
  }
  write(files.front(), ChakraExport(slower, ChakraRanks::all).content(0));
  const Plan mixed = read_chakra(files).plan;
  ASSERT_EQ(mixed.classes.size(), 2u);
  EXPECT_TRUE(mixed.classes[0].tasks == slower.classes[0].tasks);
  EXPECT_EQ(mixed.classes[0].members, std::vector<RankId>{0});
  EXPECT_TRUE(mixed.classes[1].tasks == plan.classes[0].tasks);
}

// Returns the value of an attribute as text, or "" if the node does not have it.
std::string attribute(const chakra::Node& node, const std::string& name) {
  for (const chakra::AttributeProto& known : node.attr()) {
    if (known.name() != name) continue;
    if (known.has_bool_val()) return known.bool_val() ? "true" : "false";
    return known.has_string_val() ? known.string_val() : std::to_string(integer_of(known));
  }
  return "";
}

// A reader that knows only the standard finds these nodes.
TEST(Chakra, ExportIsAPlainTraceForOthers) {
  const Plan plan = rich_plan();
  const auto files = export_plan(plan, ChakraRanks::all, scratch("plain"));
  ChakraFile file(files.front());  // rank 0, the second member
  EXPECT_EQ(file.metadata().version(), "0.0.4");
  std::vector<chakra::Node> nodes(9);
  for (chakra::Node& node : nodes) ASSERT_TRUE(file.next(node));
  EXPECT_EQ(nodes[0].type(), chakra::METADATA_NODE);
  EXPECT_EQ(nodes[0].inputs().values(),
            R"(['[{"pg_name":"1","pg_desc":"tp","ranks":[1,0],"group_size":2}]'])");
  EXPECT_EQ(nodes[1].type(), chakra::COMP_NODE);
  EXPECT_EQ(nodes[1].duration_micros(), 433333u);
  EXPECT_EQ(nodes[2].type(), chakra::MEM_LOAD_NODE);
  EXPECT_EQ(nodes[4].type(), chakra::MEM_STORE_NODE);
  EXPECT_THAT(nodes[3].data_deps(), ElementsAre(2, 1));
  EXPECT_EQ(nodes[5].type(), chakra::COMM_SEND_NODE);
  EXPECT_EQ(attribute(nodes[5], "comm_src"), "0");
  EXPECT_EQ(attribute(nodes[5], "comm_dst"), "1");
  EXPECT_EQ(attribute(nodes[6], "comm_src"), "1");
  EXPECT_EQ(attribute(nodes[6], "comm_size"), "333333");
  EXPECT_EQ(attribute(nodes[6], "comm_tag"), "-1099511627776");
  EXPECT_EQ(attribute(nodes[5], "comm_tag"), "-1099511627776");
  EXPECT_EQ(nodes[7].type(), chakra::COMM_COLL_NODE);
  EXPECT_EQ(attribute(nodes[7], "pg_name"), "1");
  EXPECT_EQ(attribute(nodes[7], "comm_type"), "2");
  EXPECT_EQ(attribute(nodes[7], "comm_size"), "4");   // 7 bytes over two ranks
  EXPECT_THAT(nodes[8].ctrl_deps(), ElementsAre(7));  // the stream's order
  for (const chakra::Node& node : nodes) {
    EXPECT_EQ(attribute(node, "is_cpu_op"), node.id() > 0 ? "false" : "");
  }
}

template <class Value>
void add(chakra::Node& node, const std::string& name, const Value& value) {
  add_attribute(*node.mutable_attr(), name, value);
}

chakra::Node node_of(std::uint64_t id, chakra::NodeType type, const std::string& name,
                     const std::vector<std::uint64_t>& deps = {}) {
  chakra::Node node;
  node.set_id(id);
  node.set_type(type);
  node.set_name(name);
  node.mutable_data_deps()->Add(deps.begin(), deps.end());
  add(node, "is_cpu_op", false);
  return node;
}

chakra::Node reduce_of(std::uint64_t id, std::int64_t type, std::uint64_t bytes,
                       const std::vector<std::uint64_t>& deps = {}) {
  chakra::Node node = node_of(id, chakra::COMM_COLL_NODE, "coll", deps);
  add(node, "comm_type", type);
  add(node, "comm_size", bytes);
  return node;
}

chakra::Node message_of(std::uint64_t id, chakra::NodeType type, std::int32_t peer) {
  chakra::Node node = node_of(id, type, "message");
  add(node, type == chakra::COMM_SEND_NODE ? "comm_dst" : "comm_src", peer);
  add(node, "comm_size", std::uint64_t{100});
  return node;
}

std::string trace_of(const std::vector<chakra::Node>& nodes) {
  chakra::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  std::string bytes = encode(metadata);
  for (const chakra::Node& node : nodes) bytes += encode(node);
  return bytes;
}

std::vector<std::string> write_ranks(const std::string& name,
                                     const std::vector<std::vector<chakra::Node>>& ranks) {
  const std::string folder = scratch(name);
  std::vector<std::string> files;
  for (size_t r = 0; r < ranks.size(); ++r) {
    files.push_back(write(folder + "/job." + std::to_string(r) + ".et", trace_of(ranks[r])));
  }
  return files;
}

TEST(ChakraForeign, TimesComeFromDurationsAndOrderFromDependencies) {
  chakra::Node late = node_of(9, chakra::COMP_NODE, "late", {30});
  late.set_duration_micros(2);
  late.add_ctrl_deps(30);
  late.add_ctrl_deps(7);
  chakra::Node early = node_of(30, chakra::COMP_NODE, "early");
  early.set_duration_micros(1);
  chakra::Node cpu = node_of(7, chakra::COMP_NODE, "cpu");
  cpu.clear_attr();
  add(cpu, "is_cpu_op", true);
  chakra::Node load = node_of(8, chakra::MEM_LOAD_NODE, "load");
  add(load, "tensor_size", std::uint64_t{1024});
  const RankPlan import = read_chakra(write_ranks("durations", {{late, early, cpu, load}}));
  EXPECT_TRUE(import.foreign);
  const RankClass& owner = import.plan.classes.at(0);
  ASSERT_EQ(owner.tasks.size(), 4u);
  EXPECT_EQ(owner.tasks[0].name, "early");
  EXPECT_EQ(total_seconds(owner.tasks[0].cost), 1e-6);
  EXPECT_EQ(owner.tasks[1].name, "cpu");
  EXPECT_EQ(owner.streams[owner.tasks[1].stream].name, "cpu");
  EXPECT_EQ(owner.tasks[2].name, "late");
  EXPECT_EQ(owner.tasks[2].after, (std::vector<TaskIndex>{1, 0}));
  ASSERT_EQ(owner.tasks[3].flows.size(), 1u);
  EXPECT_EQ(owner.tasks[3].flows[0].amount, 1024);
  EXPECT_EQ(owner.tasks[3].flows[0].demands[0].resource, Resource::pcie_in);
}

TEST(ChakraForeign, RanksThatAreAlikeFoldToAClass) {
  const std::vector<chakra::Node> rank = {reduce_of(0, 0, 65536), reduce_of(1, 2, 100, {0})};
  const Plan plan = read_chakra(write_ranks("alike", {rank, rank, rank})).plan;
  ASSERT_EQ(plan.classes.size(), 1u);
  EXPECT_EQ(plan.classes[0].members, (std::vector<RankId>{0, 1, 2}));
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].members, (std::vector<RankId>{0, 1, 2}));
  const Task& reduce = plan.classes[0].tasks[0];
  EXPECT_EQ(reduce.bytes, 65536);
  EXPECT_TRUE(reduce.as_flows);
  EXPECT_EQ(plan.classes[0].tasks[1].collective, CollectiveKind::all_gather);
  EXPECT_EQ(plan.classes[0].tasks[1].bytes, 300);  // three shares
  EXPECT_EQ(plan.classes[0].tasks[1].sequence, 1);
}

TEST(ChakraForeign, GroupsByNameAsPyTorchDeclaresThem) {
  chakra::Node header = node_of(5, chakra::METADATA_NODE, "## process_group:init ##");
  header.mutable_inputs()->set_values(
      R"(['[{"pg_name": "0", "ranks": []}, {"pg_name": "7", "ranks": [1, 0]},)"
      R"( {"pg_name": "8", "ranks": [2, 3]}]'])");
  std::vector<std::vector<chakra::Node>> ranks;
  for (int r = 0; r < 4; ++r) {
    chakra::Node pair = reduce_of(1, 7, 10);
    add(pair, "pg_name", r < 2 ? "7" : "8");
    chakra::Node all = reduce_of(2, 6, 20);
    add(all, "pg_name", "0");
    ranks.push_back({header, pair, all});
  }
  const Plan plan = read_chakra(write_ranks("groups", ranks)).plan;
  ASSERT_EQ(plan.groups.size(), 3u);
  EXPECT_EQ(plan.groups[0].members, (std::vector<RankId>{1, 0}));
  EXPECT_EQ(plan.groups[1].members, (std::vector<RankId>{0, 1, 2, 3}));
  EXPECT_EQ(plan.groups[2].members, (std::vector<RankId>{2, 3}));
}

TEST(ChakraForeign, MessagesMatchByRankAndTag) {
  const Plan plan =
      read_chakra(write_ranks("messages", {{message_of(0, chakra::COMM_SEND_NODE, 1)},
                                           {message_of(0, chakra::COMM_RECV_NODE, 0)}}))
          .plan;
  ASSERT_EQ(plan.classes.size(), 2u);
  EXPECT_EQ(match_messages(plan)[0][0].rank_class, 1);
  EXPECT_EQ(plan.classes[0].tasks[0].bytes, 100);
}

// Traces from which nodes were cut out, and upstream's own tests, have dependencies on nodes that
// do not exist.
TEST(ChakraForeign, ADependencyOnNoNodeHoldsNothingUp) {
  chakra::Node node = node_of(4, chakra::COMP_NODE, "a", {3});
  node.add_ctrl_deps(8);
  node.set_duration_micros(5);
  const RankPlan import =
      read_chakra(write_ranks("absent", {{node, node_of(8, chakra::COMP_NODE, "later")}}));
  EXPECT_EQ(import.absent_deps, 1);
  EXPECT_EQ(import.untimed, 1);  // the node "later"
  const RankClass& owner = import.plan.classes.at(0);
  ASSERT_EQ(owner.tasks.size(), 2u);
  EXPECT_EQ(owner.tasks[0].name, "later");
  EXPECT_EQ(owner.tasks[1].after, std::vector<TaskIndex>{0});
}

// There is one file for a job of eight ranks; it lists two groups, and one group has all ranks.
TEST(ChakraForeign, RanksWithoutAFileRunAsTheFirst) {
  chakra::Node header = node_of(5, chakra::METADATA_NODE, "## process_group:init ##");
  header.mutable_inputs()->set_values(
      R"(['[{"pg_name": "0", "ranks": []}, {"pg_name": "1", "ranks": [0, 1]},)"
      R"( {"pg_name": "2", "ranks": [0, 2, 4, 6]}]'])");
  std::vector<chakra::Node> nodes = {header};
  for (const char* group : {"0", "1", "2"}) {
    nodes.push_back(reduce_of(nodes.size(), 0, 100));
    add(nodes.back(), "pg_name", group);
  }
  const RankPlan import = read_chakra(write_ranks("missing", {nodes}));
  EXPECT_EQ(import.plan.ranks, 7 + 1);
  EXPECT_EQ(import.captured, 1);
  std::vector<std::vector<RankId>> groups;
  for (const Group& group : import.plan.groups) groups.push_back(group.members);
  EXPECT_THAT(groups,
              testing::UnorderedElementsAre(
                  std::vector<RankId>{0, 1, 2, 3, 4, 5, 6, 7}, std::vector<RankId>{0, 1},
                  std::vector<RankId>{2, 3}, std::vector<RankId>{4, 5}, std::vector<RankId>{6, 7},
                  std::vector<RankId>{0, 2, 4, 6}, std::vector<RankId>{1, 3, 5, 7}));
}

TEST(ChakraErrors, SayWhatIsWrongAndWhere) {
  const auto send = message_of(0, chakra::COMM_SEND_NODE, 1);
  const auto receive = message_of(0, chakra::COMM_RECV_NODE, 0);
  const auto nowhere = node_of(0, chakra::COMM_SEND_NODE, "s");
  chakra::Node text = reduce_of(0, 0, 1);
  add(text, "comm_size", "big");
  const auto other_kind = reduce_of(0, 2, 1);
  const std::pair<std::vector<std::vector<chakra::Node>>, const char*> cases[] = {
      {{{node_of(1, chakra::COMP_NODE, "a", {1})}}, "byte 8: node 1 waits for itself"},
      {{{node_of(1, chakra::COMP_NODE, "a"), node_of(1, chakra::COMP_NODE, "b")}},
       "node 1 is in the file twice"},
      {{{nowhere}}, "COMM_SEND_NODE without comm_dst"},
      {{{reduce_of(0, 4, 1)}}, "comm_type 4 is not simulated"},
      {{{text}}, "attribute 'comm_size' is not an integer"},
      // The message says what is wrong without naming our source code.
      {{{send}, {}}, "the traces cannot be simulated: class"},
      {{{send}, {}}, "no receive matches tag 0"},
      {{{reduce_of(0, 0, 1)}, {reduce_of(0, 0, 2)}}, "does not match 'coll'"},
      {{{reduce_of(0, 0, 1)}, {other_kind}}, "all-gather"},
      {{{reduce_of(0, 0, 1), reduce_of(1, 0, 1)}, {reduce_of(0, 0, 1)}}, "deadlock"},
  };
  for (const auto& [ranks, message] : cases) {
    const std::string error = reading_error(write_ranks("errors", ranks));
    EXPECT_THAT(error, HasSubstr(message));
    EXPECT_EQ(error.find(".cpp"), std::string::npos) << error;
  }
  const auto files = write_ranks("ranks", {{send}, {receive}, {}});
  EXPECT_THAT(reading_error({files[0], files[2]}), HasSubstr("rank 1 of 3 is in no file"));
  EXPECT_THAT(reading_error({files[0], files[1], files[1]}), HasSubstr(", as does"));
  EXPECT_THAT(reading_error({scratch("none") + "/job.0.et"}), HasSubstr("No such file"));
  const std::string unnamed = write(scratch("unnamed") + "/job.et", trace_of({}));
  EXPECT_THAT(reading_error({unnamed}), HasSubstr("NAME.RANK.et"));
  const std::string packed = write(scratch("packed") + "/job.0.et", "\x1f\x8b\x08 and so on");
  EXPECT_THAT(reading_error({packed}), HasSubstr("gunzip"));
}

// The Plan has one rank with one task.
Plan small_plan() {
  Plan plan;
  plan.ranks = 1;
  plan.classes.resize(1);
  plan.classes[0].members = {0};
  plan.classes[0].streams = streams(1);
  plan.classes[0].tasks = {compute("a", 0, 0)};
  return plan;
}

TEST(ChakraErrors, OurAttributesAreChecked) {
  const auto with = [](const std::string& name, const auto& value) {
    std::string bytes = ChakraExport(small_plan(), ChakraRanks::all).content(0);
    chakra::Node node = node_of(1, chakra::COMP_NODE, "a");
    bytes.resize(bytes.size() - encode(node).size());
    add(node, "windtunnel." + name, value);
    return reading_error({write(scratch("own") + "/job.0.et", bytes + encode(node))});
  };
  EXPECT_EQ(with("stage", 3), "no error");
  const std::pair<std::string, const char*> cases[] = {
      {with("stag", 3), "did you mean 'windtunnel.stage'"},
      {with("stage", 3.5), "is not an integer"},
      {with("stream", std::int64_t{1} << 20), "not in range"},
      {with("stream", 2), "no stream 2"},
      {with("bytes", -1.0), "at least 0"},
      {with("category", "forwards"), "did you mean 'forward'"},
      {with("cost_s", std::vector<double>{1}), "differ in length"},
  };
  for (const auto& [error, message] : cases) EXPECT_THAT(error, HasSubstr(message));
}

TEST(ChakraErrors, AGroupHasOneName) {
  Plan plan = small_plan();
  plan.groups.assign(10, {Category::dp, {0}});
  std::string bytes = ChakraExport(plan, ChakraRanks::all).content(0);
  const size_t last = bytes.find("\"10\"");
  ASSERT_NE(last, std::string::npos);
  bytes.replace(last, 4, "\"01\"");  // then no group is named "10"
  EXPECT_THAT(reading_error({write(scratch("names") + "/job.0.et", bytes)}),
              HasSubstr("process group '01' must be a number from 1 to 10 without leading zeros"));
}

TEST(ChakraErrors, MembersStandInTheirJob) {
  const auto files = export_plan(rich_plan(), ChakraRanks::one_per_class, scratch("members"));
  const std::string whole = read_file(files[0]);
  ChakraFile file(files[0]);
  chakra::GlobalMetadata metadata = file.metadata();
  const std::string nodes = whole.substr(encode(metadata).size());
  add_attribute(*metadata.mutable_attr(), "windtunnel.first_member",
                std::numeric_limits<std::int32_t>::max());
  write(files[0], encode(metadata) + nodes);
  EXPECT_THAT(reading_error(files), HasSubstr("but the job has 2 ranks"));
}

TEST(ChakraErrors, CutAnywhereIsAnErrorWithItsByte) {
  const auto files = export_plan(rich_plan(), ChakraRanks::one_per_class, scratch("cut"));
  for (auto size = fs::file_size(files[0]); size-- > 0;) {
    fs::resize_file(files[0], size);
    EXPECT_THAT(reading_error(files), HasSubstr(files[0] + ": byte ")) << size;
  }
}

TEST(ChakraErrors, FlippedBytesAreReadOrRefused) {
  const std::string folder = scratch("flip");
  const auto files = export_plan(rich_plan(), ChakraRanks::one_per_class, folder);
  const std::string whole = read_file(files[0]);
  RandomStream random(7, RandomPurpose::test, 0);
  // Changes the file in place, because writing a new file takes longer than reading it.
  const auto put = [&](size_t at, char byte) {
    std::fstream file(files[0], std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at)).put(byte);
  };
  int refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x80, 1 + static_cast<int>(random.below(255))}) {
      put(at, static_cast<char>(whole[at] ^ flip));
      refused += reading_error(files) != "no error";
    }
    put(at, whole[at]);
  }
  EXPECT_GT(refused, static_cast<int>(whole.size()));
}

TEST(ChakraErrors, HugeLengthsAllocateNothing) {
  const std::string path = scratch("huge") + "/job.0.et";
  const std::string lengths[] = {"\xff\xff\xff\xff\x7f", "\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                                 "\x07\x0a\xff\xff\xff\xff\x07"};
  for (const std::string& bytes : lengths) {
    EXPECT_THAT(reading_error({write(path, bytes + "abc")}), HasSubstr(path + ": byte "));
  }
}

}  // namespace
}  // namespace windtunnel
