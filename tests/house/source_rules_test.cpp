#include "tests/house/source_rules.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <utility>

namespace windtunnel {
namespace {

const std::vector<SourceFile>& project() {
  static const std::vector<SourceFile> files = read_sources(WINDTUNNEL_SOURCE_DIR);
  return files;
}

std::vector<std::string> paths_of(const std::vector<SourceFile>& files) {
  std::vector<std::string> paths;
  for (const SourceFile& file : files) paths.push_back(file.path);
  return paths;
}

std::vector<std::string> texts(const std::vector<Breach>& breaches) {
  std::vector<std::string> lines;
  for (const Breach& breach : breaches) lines.push_back(to_string(breach));
  return lines;
}

using Lines = std::vector<std::string>;

// Returns one message that lists every breach on a line of its own.
std::string list(const std::vector<Breach>& breaches) {
  return breaches.empty() ? "" : fmt::format("\n{}", fmt::join(texts(breaches), "\n"));
}

// Returns the breaches of one rule in the whole project.
template <typename Rule>
std::string scan(Rule rule) {
  std::vector<Breach> all;
  for (const SourceFile& file : project()) {
    for (Breach& breach : rule(file)) all.push_back(std::move(breach));
  }
  return list(all);
}

TEST(House, SourcesAreFound) {
  const std::vector<std::string> paths = paths_of(project());
  for (const char* path : {"models/base/error.hpp", "sim/engine/engine.hpp",
                           "kernels/code/xor_code.cu", "tests/house/source_rules_test.cpp"}) {
    EXPECT_TRUE(std::binary_search(paths.begin(), paths.end(), path)) << path;
  }
}

TEST(House, IncludesObeyTheFloors) {
  const std::vector<std::string> paths = paths_of(project());
  EXPECT_EQ(scan([&](const SourceFile& file) { return include_breaches(file, paths); }), "");
}

TEST(House, FilesHaveTheForm) {
  EXPECT_EQ(scan(form_breaches), "");
}

TEST(House, RoomsIncludeThoseBelow) {
  EXPECT_EQ(scan(room_breaches), "");
}

TEST(House, FunctionsAreShort) {
  EXPECT_EQ(scan(long_functions), "");
}

TEST(House, FilesAreOpenedInOnePlace) {
  EXPECT_EQ(scan(opened_files), "");
}

TEST(House, PlacesOfSnapshotsAreRows) {
  EXPECT_EQ(scan(branches_on_places), "");
}

TEST(House, NoHeaderNameStandsTwice) {
  EXPECT_EQ(list(repeated_headers(project())), "");
}

TEST(House, NoTypeIsDefinedTwice) {
  EXPECT_EQ(list(repeated_types(project())), "");
}

TEST(House, EverySourceIsBuilt) {
  EXPECT_EQ(list(unlisted_sources(WINDTUNNEL_SOURCE_DIR, project())), "");
}

TEST(House, EverySourceHasATest) {
  const SourceFile table = read_file(WINDTUNNEL_SOURCE_DIR, "tests/house/tested_by.csv");
  ASSERT_FALSE(table.lines.empty());
  EXPECT_EQ(list(untested_sources(project(), table)), "");
}

TEST(House, NoRoomIsSmall) {
  const SourceFile table = read_file(WINDTUNNEL_SOURCE_DIR, "tests/house/small_rooms.csv");
  EXPECT_EQ(list(small_rooms(project(), table)), "");
}

TEST(House, NoHeaderHasOneUser) {
  const SourceFile table = read_file(WINDTUNNEL_SOURCE_DIR, "tests/house/headers_of_one.csv");
  EXPECT_EQ(list(headers_of_one(project(), table)), "");
}

TEST(House, CommentsAreSentences) {
  std::vector<SourceFile> files = project();
  for (SourceFile& file : read_sources(WINDTUNNEL_SOURCE_DIR, kScripts)) {
    files.push_back(std::move(file));
  }
  std::vector<Breach> breaches;
  for (const SourceFile& file : files) {
    for (Breach& breach : decoded_comments(file)) breaches.push_back(std::move(breach));
  }
  EXPECT_EQ(list(breaches), "");
}

// The page that newcomers read first has rows "| `Noun` | sentence | `header` |".
TEST(House, TheFortyNounsStandInTheirHeaders) {
  const std::regex row(R"(^\| `(\w+)` \| .+\. \| `(\S+)` \|$)");
  int nouns = 0;
  for (const std::string& line : read_file(WINDTUNNEL_SOURCE_DIR, "ARCHITECTURE.md").lines) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    ++nouns;
    const std::regex type("^(struct|class) " + found[1].str() + R"(( : .*)?( final)? ?(\{|$))");
    const SourceFile header = read_file(WINDTUNNEL_SOURCE_DIR, found[2]);
    EXPECT_TRUE(std::ranges::any_of(
        header.lines, [&](const std::string& text) { return std::regex_search(text, type); }))
        << header.path << " defines no " << found[1];
  }
  EXPECT_EQ(nouns, 40);
}

TEST(House, ReasonsForLargeFilesNameFiles) {
  const SourceFile table = read_file(WINDTUNNEL_SOURCE_DIR, "tests/house/large.csv");
  ASSERT_FALSE(table.lines.empty());
  EXPECT_EQ(table.lines.front(), "path,reason");
  for (std::size_t i = 1; i < table.lines.size(); ++i) {
    const std::size_t comma = table.lines[i].find(',');
    ASSERT_NE(comma, std::string::npos) << table.lines[i];
    const std::string path = table.lines[i].substr(0, comma);
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(WINDTUNNEL_SOURCE_DIR) / path))
        << path;
    EXPECT_GT(table.lines[i].size(), comma + 10) << path << " has no reason";
  }
}

TEST(House, ParametrisedTestsHaveNames) {
  EXPECT_EQ(scan(unnamed_tests), "");
}

TEST(House, DataNamesNoMachine) {
  const std::vector<SourceFile> files = read_data(WINDTUNNEL_SOURCE_DIR);
  const std::vector<std::string> paths = paths_of(files);
  for (const char* path : {"tests/data/collectives.csv", "tests/fuzz/corpus/record/run.json"}) {
    EXPECT_TRUE(std::binary_search(paths.begin(), paths.end(), path)) << path;
  }
  std::vector<Breach> all;
  for (const SourceFile& file : files) {
    for (Breach& breach : machine_paths(file)) all.push_back(std::move(breach));
  }
  EXPECT_EQ(list(all), "");
}

TEST(House, LinksOfPagesLeadSomewhere) {
  std::vector<Breach> all;
  const std::vector<SourceFile> pages = read_pages(WINDTUNNEL_SOURCE_DIR);
  EXPECT_GT(pages.size(), 50U);
  for (const SourceFile& page : pages) {
    for (Breach& breach : broken_links(WINDTUNNEL_SOURCE_DIR, page)) {
      all.push_back(std::move(breach));
    }
  }
  EXPECT_EQ(list(all), "");
}

TEST(House, PagesOfPhysicsHaveOneForm) {
  std::vector<Breach> all;
  int pages = 0;
  for (const SourceFile& page : read_pages(WINDTUNNEL_SOURCE_DIR)) {
    if (!page.path.starts_with("docs/physics/")) continue;
    ++pages;
    for (Breach& breach : wrong_sections(page)) all.push_back(std::move(breach));
  }
  EXPECT_GE(pages, 18);
  EXPECT_EQ(list(all), "");
}

TEST(House, PagesThatFilesNameAreThere) {
  std::vector<SourceFile> files = read_pages(WINDTUNNEL_SOURCE_DIR);
  for (SourceFile& file : read_sources(WINDTUNNEL_SOURCE_DIR, {".md", ".yaml", ".txt", ".form"})) {
    files.push_back(std::move(file));
  }
  files.push_back(read_file(WINDTUNNEL_SOURCE_DIR, "dev"));
  std::vector<Breach> all;
  const auto add = [&](const SourceFile& file) {
    for (Breach& breach : missing_pages(WINDTUNNEL_SOURCE_DIR, file)) {
      all.push_back(std::move(breach));
    }
  };
  std::ranges::for_each(project(), add);
  std::ranges::for_each(files, add);
  EXPECT_EQ(list(all), "");
}

// docs/README.md has a line for each page, so that a reader finds each of them.
TEST(House, EveryPageIsListed) {
  std::string index;
  for (const std::string& line : read_file(WINDTUNNEL_SOURCE_DIR, "docs/README.md").lines) {
    index += line + "\n";
  }
  for (const SourceFile& page : read_pages(WINDTUNNEL_SOURCE_DIR)) {
    if (!page.path.starts_with("docs/") || page.path == "docs/README.md") continue;
    const std::string link = "](" + page.path.substr(std::string_view("docs/").size()) + ")";
    EXPECT_NE(index.find(link), std::string::npos) << page.path;
  }
}

// These tests run the rules on made-up files.

TEST(Rules, LinksNeedAFileAndAHeading) {
  const SourceFile page = {
      "docs/README.md",
      {"# A page: its `links`", "[a](../README.md) [b](#a-page-its-links)",
       "[c](nowhere.md) [d](https://e.f/g.md#h)", "[i](#j)", "```", "[k](l)", "```"}};
  EXPECT_EQ(texts(broken_links(WINDTUNNEL_SOURCE_DIR, page)),
            (Lines{"docs/README.md:3: 'nowhere.md' leads to no file",
                   "docs/README.md:4: '#j' leads to no heading"}));
}

TEST(Rules, APageOfPhysicsHasItsSectionsInOrder) {
  const std::string path =
      fmt::format("{}/a.md", "docs/physics");  // in parts: no page of that name
  const SourceFile page = {
      path, {"# A", "## Formula", "### Any", "## Constants", "## Source", "## Limits"}};
  EXPECT_EQ(texts(wrong_sections(page)), (Lines{path + ":4: '## Constants' is no section here",
                                                path + ":6: '## Limits' is no section here",
                                                path + ":6: '## Constants' is missing"}));
}

TEST(Rules, NamedPagesHaveToBeThere) {
  const std::string guide = "docs/guide";  // in parts, because this file is scanned, too
  const SourceFile file = {
      "models/a.cpp",
      {fmt::format("// {0}/tour.md and {0}/no.md", guide), fmt::format("// x/{}/y.md", guide),
       fmt::format("// {}.md, {}.md and github.com/a/b, {}.md", "docs/tour", "docs/README",
                   "docs/nobody")}};
  EXPECT_EQ(
      texts(missing_pages(WINDTUNNEL_SOURCE_DIR, file)),
      (Lines{fmt::format("models/a.cpp:1: there is no page '{}/no.md'", guide),
             fmt::format("models/a.cpp:3: the page '{}.md' is {}/tour.md", "docs/tour", guide)}));
}

const std::vector<std::string> kPaths = {"kernels/copy.hpp", "models/base/error.hpp",
                                         "models/cost/op/op.hpp", "report/text/table.hpp",
                                         "sim/engine/engine.hpp"};

TEST(SourceRules, IncludesWithinTheFloorsPass) {
  const SourceFile file = {"sim/engine/engine.cpp",
                           {"#include \"sim/engine/engine.hpp\"", "#include <simgrid/s4u.hpp>",
                            "#include <vector>", "#include \"models/cost/op/op.hpp\""}};
  EXPECT_EQ(texts(include_breaches(file, kPaths)), Lines{});
}

TEST(SourceRules, HigherFloorIsABreach) {
  const SourceFile file = {"models/cost/op/op.hpp",
                           {"#pragma once", "#include \"models/base/error.hpp\"",
                            "  #  include <report/text/table.hpp>"}};
  EXPECT_EQ(texts(include_breaches(file, kPaths)),
            Lines{"models/cost/op/op.hpp:3: models/ may not include 'report/text/table.hpp'"});
}

TEST(SourceRules, SameFloorIsABreach) {
  const SourceFile file = {
      "kernels/copy.hpp",
      {"#include \"models/base/error.hpp\"", "#include \"models/cost/op/op.hpp\""}};
  EXPECT_EQ(texts(include_breaches(file, kPaths)),
            Lines{"kernels/copy.hpp:2: kernels/ may not include 'models/cost/op/op.hpp'"});
}

TEST(SourceRules, BaseKnowsNothingAboveIt) {
  const SourceFile file = {"models/base/error.hpp", {"#include \"models/cost/op/op.hpp\""}};
  EXPECT_EQ(texts(include_breaches(file, kPaths)),
            Lines{"models/base/error.hpp:1: models/base/ may not include 'models/cost/op/op.hpp'"});
}

TEST(SourceRules, IncludesStartAtTheRoot) {
  const SourceFile file = {"models/cost/op/op.cpp", {"#include \"op.hpp\""}};
  EXPECT_EQ(texts(include_breaches(file, kPaths)),
            Lines{"models/cost/op/op.cpp:1: 'op.hpp' is no file of the project; includes start at "
                  "its root"});
}

TEST(SourceRules, LibrariesStayInTheirFolders) {
  const SourceFile header = {
      "models/cost/op/op.hpp",
      {"#include <boost/graph/graph.hpp>", "#include <simgrid/s4u.hpp>", "#include <CLI/CLI.hpp>"}};
  EXPECT_EQ(texts(include_breaches(header, kPaths)),
            (Lines{"models/cost/op/op.hpp:1: boost/ belongs in .cpp files",
                   "models/cost/op/op.hpp:2: SimGrid is included in sim/engine only",
                   "models/cost/op/op.hpp:3: CLI/ belongs in .cpp files"}));
  const SourceFile source = {"models/cost/op/op.cpp",
                             {"#include <boost/graph/graph.hpp>", "#include <fstream>"}};
  EXPECT_EQ(texts(include_breaches(source, kPaths)),
            Lines{"models/cost/op/op.cpp:2: models/ has no clock, files or threads: <fstream>"});
}

TEST(SourceRules, PublicHeadersShowNoLibrary) {
  const SourceFile file = {"include/windtunnel/case.hpp",
                           {"#include <string>", "#include <windtunnel/error.hpp>",
                            "#include <fmt/format.h>", "#include \"models/cost/op/op.hpp\""}};
  const std::string rule = "what is public includes <windtunnel/...> and the standard library only";
  EXPECT_EQ(
      texts(include_breaches(file, kPaths)),
      (Lines{"include/windtunnel/case.hpp:3: " + rule,
             "include/windtunnel/case.hpp:4: include/ may not include 'models/cost/op/op.hpp'"}));
}

TEST(SourceRules, FormOfAHeader) {
  const std::string umlauts = "ü";  // one character, two bytes
  std::string wide = "// ";
  for (int i = 0; i < 97; ++i) wide += umlauts;
  const SourceFile file = {"models/cost/op/op.hpp",
                           {wide, wide + "x", "\tint i;", "using namespace std;", "// using"}};
  EXPECT_EQ(texts(form_breaches(file)),
            (Lines{"models/cost/op/op.hpp:2: line over 100 characters",
                   "models/cost/op/op.hpp:3: tab", "models/cost/op/op.hpp:4: using namespace",
                   "models/cost/op/op.hpp:1: header without #pragma once"}));
}

TEST(SourceRules, HigherRoomIsABreach) {
  const SourceFile file = {
      "models/plan/plan.cpp",
      {"#include \"models/base/error.hpp\"", "#include \"models/plan/job.hpp\"",
       "#include \"models/results/record.hpp\""}};
  EXPECT_EQ(texts(room_breaches(file)),
            Lines{"models/plan/plan.cpp:3: models/plan/ stands below models/results/ and may not "
                  "include it"});
  EXPECT_EQ(texts(room_breaches({"models/attic/plan.cpp", {}})),
            Lines{"models/attic/plan.cpp:1: its folder is not in the list of rooms"});
}

TEST(SourceRules, HeaderNameOfTwoIsABreach) {
  const std::vector<SourceFile> files = {{"include/windtunnel/sweep.hpp", {}},
                                         {"models/plan/plan.hpp", {}},
                                         {"sim/study/plan.hpp", {}},
                                         {"sim/study/sweep.hpp", {}}};
  EXPECT_EQ(texts(repeated_headers(files)),
            Lines{"sim/study/plan.hpp:1: models/plan/plan.hpp has this name too"});
}

TEST(SourceRules, LongFunctionIsABreach) {
  SourceFile file = {"models/plan/plan.cpp", Lines(70, "  step();")};
  file.lines.front() = "void run(int steps) {";
  file.lines.emplace_back("}");
  EXPECT_EQ(texts(long_functions(file)), Lines{"models/plan/plan.cpp:1: function of 71 lines"});
  file.lines[1] = "  static const std::vector<int> table = {";
  EXPECT_EQ(texts(long_functions(file)), Lines{});
}

TEST(SourceRules, SmallRoomIsABreach) {
  const std::vector<SourceFile> files = {{"cli/run.cpp", {}},       {"models/plan/a.cpp", {}},
                                         {"models/plan/b.cpp", {}}, {"models/plan/c.cpp", {}},
                                         {"models/plan/d.hpp", {}}, {"tests/cli/run_test.cpp", {}}};
  EXPECT_EQ(texts(small_rooms(files, {"small.csv", {"room", "models/plan"}})),
            (Lines{"small.csv:2: models/plan obeys the rule now: drop the row",
                   "cli:1: a room of 1 sources: put them with those that use them"}));
  EXPECT_EQ(texts(small_rooms(files, {"small.csv", {"room", "cli"}})), Lines{});
}

// b.hpp has two users, c.hpp has a test, and nothing but its own source includes d.hpp.
TEST(SourceRules, HeaderOfOneIsABreach) {
  const std::vector<SourceFile> files = {
      {"include/windtunnel/e.hpp", {}},
      {"models/a.cpp", {"#include \"models/a.hpp\"", "#include \"models/b.hpp\""}},
      {"models/a.hpp", {}},
      {"models/b.hpp", {}},
      {"models/c.hpp", {}},
      {"models/d.cpp", {"#include \"models/d.hpp\""}},
      {"models/d.hpp", {}},
      {"policies/f.cpp", {"#include \"models/a.hpp\"", "#include \"models/b.hpp\""}},
      {"tests/c_test.cpp", {"#include \"models/c.hpp\""}}};
  EXPECT_EQ(texts(headers_of_one(files, {"one.csv", {"header", "models/c.hpp"}})),
            (Lines{"one.csv:2: models/c.hpp obeys the rule now: drop the row",
                   "models/a.hpp:1: only policies/f.cpp includes this header: fold it in",
                   "models/d.hpp:1: nothing includes this header"}));
}

TEST(SourceRules, CommentsToDecodeAreBreaches) {
  const SourceFile file = {
      "models/cost/op.cpp",
      {"// Of the training state, over the mean.", "",
       "// Bytes of one rank. Likewise those of all.", "", "// Times are in seconds. They",
       "// grow with the rank.", "", "// from there on, with all the ranks of the same group", "",
       "int a;  // of a flag nothing", "int b;  // Whose end it is", "// NOLINTNEXTLINE(all of it)",
       "// the message's size"}};
  EXPECT_EQ(texts(decoded_comments(file)),
            (Lines{"models/cost/op.cpp:1: a sentence begins with 'Of'",
                   "models/cost/op.cpp:3: a sentence begins with 'Likewise'",
                   "models/cost/op.cpp:8: no finite verb",
                   "models/cost/op.cpp:11: a sentence begins with 'Whose'"}));
  const SourceFile script = {"report/web/src/a.py", {"x = 1  # Of all", "# Who is it"}};
  EXPECT_EQ(texts(decoded_comments(script)),
            (Lines{"report/web/src/a.py:1: a sentence begins with 'Of'"}));
  // Prettier leaves one blank before a comment behind code.
  const SourceFile page = {"report/web/src/a.js",
                           {"const x = 1; // Of all", "const y = \"http://a\";"}};
  EXPECT_EQ(texts(decoded_comments(page)),
            (Lines{"report/web/src/a.js:1: a sentence begins with 'Of'"}));
}

TEST(SourceRules, UnnamedTestsAreABreach) {
  const Lines lines = {
      "INSTANTIATE_TEST_SUITE_P(Fabrics, Every,",
      "    testing::Combine(testing::Values(1, 2), testing::Values(\"a,b\", \"c\")));",
      "INSTANTIATE_TEST_SUITE_P(Blocks, Every, testing::Range(0, 4));",
      "INSTANTIATE_TEST_SUITE_P(Words, Every, testing::Values(1, 2), named(word));"};
  EXPECT_EQ(texts(unnamed_tests({"tests/a_test.cpp", lines})),
            Lines{"tests/a_test.cpp:1: name its tests: tests/support/test_names.hpp"});
}

TEST(SourceRules, AnotherOpeningIsABreach) {
  const SourceFile file{"cli/a.cpp", {"std::ifstream file(path);", "std::ofstream out(path);"}};
  EXPECT_EQ(texts(opened_files(file)),
            (Lines{"cli/a.cpp:1: files are opened by InputFile (traces/text/input_file.hpp)"}));
}

TEST(SourceRules, ANamedPlaceIsABreach) {
  const Lines branches = {
      "if (tier.place == SnapshotPlace::storage) return 0;", "    case SnapshotPlace::peers:",
      "std::ranges::count(tiers, SnapshotPlace::replicas, &SnapshotTier::place);",
      "constexpr std::array kFar = {SnapshotPlace::storage, SnapshotPlace::peers};",
      "using enum SnapshotPlace;"};
  const Lines setting = {"tier.place = SnapshotPlace::storage;",
                         "tier.place = near ? SnapshotPlace::peers : SnapshotPlace::storage;"};
  const std::string rule = "places differ in their rows (models/reliability/snapshot_place.hpp)";
  for (const std::string path : {"sim/a.cpp", "validate/accuracy/faults/fault_campaign.cpp"}) {
    EXPECT_EQ(texts(branches_on_places({path, branches})),
              (Lines{path + ":1: " + rule, path + ":2: " + rule, path + ":3: " + rule,
                     path + ":4: " + rule, path + ":5: " + rule}));
  }
  EXPECT_EQ(texts(branches_on_places({"sim/a.cpp", setting})),
            (Lines{"sim/a.cpp:1: " + rule, "sim/a.cpp:2: " + rule}));
  EXPECT_EQ(texts(branches_on_places({"validate/accuracy/faults/fault_campaign.cpp", setting})),
            Lines{});
  EXPECT_EQ(texts(branches_on_places({"models/reliability/snapshot_place.hpp", branches})),
            Lines{});
}

TEST(SourceRules, TypeOfTwoHeadersIsABreach) {
  const std::vector<SourceFile> files = {
      {"models/cost/op/op.cpp", {"struct Op {"}},
      {"models/cost/op/op.hpp", {"struct Op {", "class Cost;"}},
      {"models/plan/plan.hpp", {"  struct Op {", "enum class Op {"}},
      {"sim/op.hpp", {"struct Cost : Op {", "class Op final {"}}};
  EXPECT_EQ(texts(repeated_types(files)),
            (Lines{"models/plan/plan.hpp:2: 'Op' is defined in models/cost/op/op.hpp too",
                   "sim/op.hpp:2: 'Op' is defined in models/cost/op/op.hpp too"}));
}

TEST(SourceRules, UnlistedSourceIsABreach) {
  const std::filesystem::path root = std::filesystem::path(::testing::TempDir()) / "unlisted";
  std::filesystem::create_directories(root / "models" / "base");
  std::ofstream(root / "models" / "CMakeLists.txt")
      << "add_library(x base/error.cpp\n  cost/op/op.cpp)\n# plan/plan.cpp\n";
  const std::vector<SourceFile> files = {
      {"models/base/error.cpp", {}}, {"models/cost/op/op.cpp", {}}, {"models/plan/plan.cpp", {}}};
  EXPECT_EQ(texts(unlisted_sources(root.string(), files)),
            Lines{"models/plan/plan.cpp:1: no CMakeLists.txt lists this source"});
  std::filesystem::remove_all(root);
}

TEST(SourceRules, PathOfAMachineIsABreach) {
  const SourceFile file = {"tests/data/rows.csv",
                           {"{\"file\":\"/home/me/small.yaml\"}", "/tmp/x", "scenarios/small.yaml",
                            "https://a.org/home/me", "a/tmp/b", std::string("\0\x05/srv/a/b", 10)}};
  const std::string rule = "is a path of one machine; write it relative";
  EXPECT_EQ(texts(machine_paths(file)), (Lines{"tests/data/rows.csv:1: '/home/me' " + rule,
                                               "tests/data/rows.csv:2: '/tmp/x' " + rule,
                                               "tests/data/rows.csv:6: '/srv/a' " + rule}));
}

// op.cpp has a test, plan.cu a row; the others have neither, or a row that does not hold.
TEST(SourceRules, UntestedSourceIsABreach) {
  const std::vector<SourceFile> files = {
      {"cli/main.cpp", {}},         {"models/cost/op.cpp", {}},
      {"models/cost/op.hpp", {}},   {"models/plan/job.cpp", {}},
      {"models/plan/plan.cu", {}},  {"tests/models/cost/op_test.cpp", {}},
      {"tests/support/job.hpp", {}}};
  const SourceFile table = {
      "rows.csv",
      {"source,test,reason", "models/cost/op.cpp,tests/models/cost/op_test.cpp,its costs",
       "models/plan/job.cpp,tests/support/job.hpp,its plan",
       "models/plan/plan.cu,tests/models/cost/op_test.cpp,steps, and their order",
       "models/plan/gone.cpp,tests/models/cost/op_test.cpp,its order", "models/plan/late.cpp"}};
  EXPECT_EQ(
      texts(untested_sources(files, table)),
      (Lines{"rows.csv:2: tests/models/cost/op_test.cpp tests it: drop the row",
             "rows.csv:3: no test tests/support/job.hpp: name the one that tests "
             "models/plan/job.cpp, or write tests/models/plan/job_test.cpp",
             "rows.csv:5: rows are sorted by source and stand once",
             "rows.csv:6: a row is source,test,reason",
             "cli/main.cpp:1: write tests/cli/main_test.cpp, or say in rows.csv what tests it"}));
}

}  // namespace
}  // namespace windtunnel
