#include "report/page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "models/base/error.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

TEST(PageDocument, SampleRecordHoldsAValidPlan) {
  EXPECT_NO_THROW(validate_plan(sample_record().plan));
}

TEST(PageDocument, RoundTripGivesTheSamePage) {
  const Json document = page_document(sample_record());
  const Json again = parse_page_document(json_text(document), "record.json");
  EXPECT_EQ(html_page(document), html_page(again));
}

TEST(PageDocument, HoldsEveryTaskOfEachClassOnce) {
  const Record record = sample_record();
  size_t spans = 0;
  const Json document = page_document(record);
  for (const Json& track : document["gantt"]["tracks"]) {
    spans += track["start_ns"].size();
    EXPECT_EQ(track["start_ns"].size(), track["duration_ns"].size());
    EXPECT_EQ(track["start_ns"].size(), track["category"].size());
    EXPECT_EQ(track["start_ns"].size(), track["name"].size());
  }
  size_t tasks = 0;
  for (const RankClass& rank_class : record.plan.classes) tasks += rank_class.tasks.size();
  EXPECT_EQ(spans, tasks);
  EXPECT_EQ(document["gantt"]["ranks_left_out"], 0);
}

TEST(PageDocument, LeavesOutRanksBeyondTheLimitAndSaysSo) {
  const Json document = page_document(sample_record(), {.max_spans = 70});
  EXPECT_EQ(document["gantt"]["ranks_left_out"], 3);
  EXPECT_EQ(document["gantt"]["tracks"].back()["rank"], "pp 0");
}

void expect_error(const std::string& text, const std::string& message) {
  try {
    parse_page_document(text, "out/record.json");
    ADD_FAILURE() << "accepted: " << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find("out/record.json: "), 0u) << error.what();
  }
}

TEST(PageDocument, RefusesWhatIsNoRecord) {
  expect_error("", "not a JSON object");
  expect_error("{\"format\": ", "not a JSON object");
  expect_error("[]", "not a JSON object");
  expect_error("{}", "not a record of this version");
  expect_error(R"({"format": "windtunnel-record-99"})", "not a record of this version");
  expect_error(R"({"format": "windtunnel-record-1"})", "damaged record");
  Json document = page_document(sample_record());
  document["summary"]["title"] = 5;
  expect_error(json_text(document), "damaged record");
  document = page_document(sample_record());
  document.erase("gantt");
  expect_error(json_text(document), "damaged record");
}

TEST(HtmlPage, EscapesHostileNames) {
  Record record = sample_record();
  record.scenario = "</script><script>alert(1)</script>{{data}}";
  record.plan.classes[0].tasks[0].name = "<!--<script>";
  const std::string html = html_page(page_document(record));
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("<!--<script>"), std::string::npos);
  EXPECT_NE(html.find("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{data}}"),
            std::string::npos);
}

TEST(HtmlPage, IsUsefulWithoutScripts) {
  const std::string html = html_page(page_document(sample_record()));
  EXPECT_NE(html.find("<dt>goodput</dt><dd>93.0 %</dd>"), std::string::npos);
  EXPECT_NE(html.find("<th>utilisation</th><td>MFU 41.7 %, HFU 43.0 %</td>"), std::string::npos);
}

TEST(HtmlPage, LoadsNothingFromOutside) {
  const std::string html = html_page(page_document(sample_record()));
  EXPECT_NE(html.find("content=\"default-src 'none'; script-src 'unsafe-inline'; "
                      "style-src 'unsafe-inline'; img-src data:\""),
            std::string::npos);
  for (const char* outside : {"<link", " src=\"http", "@import", "<iframe"}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
}

// Chromium's output for a page in a file of its own folder.
class Browser : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"/usr/bin/chromium", "/usr/bin/chromium-browser"}) {
      if (fs::exists(name)) program_ = name;
    }
    if (program_.empty()) GTEST_SKIP() << "chromium is not installed";
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / fmt::format("windtunnel-page-{}", test->name());
    fs::create_directories(folder_);
  }

  // Standard output and the log of the page's console.
  std::string dump_dom(const Record& record) {
    const fs::path file = folder_ / "report.html";
    std::ofstream(file) << html_page(page_document(record));
    const std::string command = fmt::format(
        "{} --headless=new --no-sandbox --disable-gpu --disable-background-networking "
        "--user-data-dir={} --window-size=1280,900 --virtual-time-budget=5000 "
        "--enable-logging=stderr --v=0 --dump-dom file://{} 2>&1",
        program_, (folder_ / "profile").string(), file.string());
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return "popen failed";
    std::string output;
    char buffer[65536];
    while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
    const int status = pclose(pipe);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << output.substr(0, 2000);
    return output;
  }

  fs::path folder_;
  std::string program_;
};

TEST_F(Browser, DrawsWithoutConsoleErrors) {
  const std::string output = dump_dom(sample_record());
  EXPECT_NE(output.find("data-ready=\"1\""), std::string::npos) << output.substr(0, 3000);
  EXPECT_EQ(output.find("CONSOLE"), std::string::npos)
      << output.substr(output.find("CONSOLE"), 2000);
  EXPECT_NE(output.find("<canvas"), std::string::npos);
}

TEST_F(Browser, DrawsAGanttChartOfThousandsOfTasks) {
  const std::string output = dump_dom(sample_record({.pp = 16, .microbatches = 300}));
  EXPECT_NE(output.find("data-ready=\"1\""), std::string::npos) << output.substr(0, 3000);
  EXPECT_EQ(output.find("CONSOLE"), std::string::npos);
}

TEST_F(Browser, DrawsARecordWithoutCampaignOrTimeline) {
  Record record = sample_record({.campaign = false});
  record.plan = {};
  record.timeline = {};
  const std::string output = dump_dom(record);
  EXPECT_NE(output.find("data-ready=\"1\""), std::string::npos) << output.substr(0, 3000);
  EXPECT_EQ(output.find("CONSOLE"), std::string::npos);
}

}  // namespace
}  // namespace windtunnel
