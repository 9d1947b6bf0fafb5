#include "tests/report/browser.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

namespace windtunnel {

namespace fs = std::filesystem;

namespace {

// A frame evaluates media queries by its own width, and has the colour scheme of its style.
struct Frame {
  int width;
  const char* mode;  // light, dark, or paper
};
constexpr Frame kFrames[] = {{1440, "light"}, {1440, "dark"}, {1024, "light"}, {1024, "dark"},
                             {420, "light"},  {420, "dark"},  {700, "paper"}};

// A browser that hangs is killed with its children, so that its test fails instead of waiting.
constexpr int kPatience_s = 300;

constexpr const char* kFramesProbe = R"js(
  for (const frame of document.querySelectorAll("iframe")) {
    frame.addEventListener("load", () => {
      const printed = frame.className === "paper";
      const faults = faultsOf(frame.contentWindow, Number(frame.width), printed);
      frame.dataset.faults = faults.slice(0, 8).join("; ") || "none";
    });
  }
)js";

std::string quoted_attribute(const std::string& html) {
  std::string quoted;
  for (const char c : html) {
    quoted += c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return quoted;
}

}  // namespace

std::string chromium_program() {
  // The headless shell starts with a third of the CPU time of the full browser.
  const char* program = "/usr/bin/chromium-headless-shell";
  if (fs::exists(program)) return program;
  EXPECT_EQ(std::getenv("CI"), nullptr) << "chromium-headless-shell is not installed";
  return "";
}

void Browser::SetUp() {
  program_ = chromium_program();
  if (program_.empty()) GTEST_SKIP() << "chromium-headless-shell is not installed";
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  folder_ =
      fs::path(::testing::TempDir()) / fmt::format("windtunnel-page-{}-{}", test->name(), getpid());
  fs::create_directories(folder_);
}

void Browser::TearDown() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

std::string Browser::run(const std::string& html, const std::string& options, int width,
                         int height) {
  const fs::path file = folder_ / "report.html";
  std::ofstream(file) << html;
  const std::string command = fmt::format(
      "timeout --signal=KILL {} {} --no-sandbox --disable-gpu --hide-scrollbars "
      "--disable-background-networking --user-data-dir={} --window-size={},{} "
      "--virtual-time-budget=5000 --enable-logging=stderr --v=0 {} file://{} 2>&1",
      kPatience_s, program_, (folder_ / "profile").string(), width, height, options, file.string());
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::string output;
  char buffer[65536];
  while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
  const int status = pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << output.substr(0, 2000);
  return output;
}

std::string Browser::dump_dom(const std::string& html, const std::string& probe) {
  std::string page = html;
  if (!probe.empty()) {
    page.insert(page.rfind("</body>"), fmt::format("<script>{}</script>", probe));
  }
  return run(page, "--dump-dom", 1280, 900);
}

std::string Browser::ready_dom(const std::string& html, const std::string& probe) {
  const std::string output = dump_dom(html, probe);
  EXPECT_NE(output.find("data-ready=\"1\""), std::string::npos) << output.substr(0, 3000);
  const std::size_t console = std::min(output.find("CONSOLE"), output.size());
  EXPECT_EQ(output.substr(console, 2000), "");
  return output;
}

void Browser::expect_fits(const std::string& html) {
  const std::string quoted = quoted_attribute(html);
  std::string frames;
  for (const auto& [width, mode] : kFrames) {
    const std::string_view scheme = std::string_view(mode) == "paper" ? "dark" : mode;
    frames += fmt::format(
        "<iframe class=\"{}\" width=\"{}\" height=\"900\" style=\"border: 0; color-scheme: {}\" "
        "srcdoc=\"{}\"></iframe>",
        mode, width, scheme, quoted);
  }
  std::ifstream probe(WINDTUNNEL_SOURCE_DIR "/tests/report/page_faults.js");
  const std::string faults{std::istreambuf_iterator<char>(probe), {}};
  const std::string output =
      dump_dom("<!DOCTYPE html><html><body>" + frames + "</body></html>", faults + kFramesProbe);
  for (const auto& [width, mode] : kFrames) {
    const std::string name = fmt::format("class=\"{}\" width=\"{}\"", mode, width);
    const std::size_t frame = output.find(name);
    const std::string_view mark = "data-faults=\"";
    const std::size_t at = output.find(mark, frame);
    if (frame == std::string::npos || at == std::string::npos) {
      ADD_FAILURE() << width << ": " << output.substr(0, 3000);
      continue;
    }
    const std::size_t from = at + mark.size();
    EXPECT_EQ(output.substr(from, output.find('"', from) - from), "none") << width << " " << mode;
  }
  const std::size_t console = std::min(output.find("CONSOLE"), output.size());
  EXPECT_EQ(output.substr(console, 2000), "");
}

Screenshot Browser::screenshot(const std::string& html, int width, int height) {
  const fs::path file = folder_ / "screenshot.png";
  fs::remove(file);
  const std::string output =
      run(html, fmt::format("--screenshot={}", file.string()), width, height);
  std::ifstream in(file, std::ios::binary);
  const std::string png{std::istreambuf_iterator<char>(in), {}};
  // A PNG file has its signature, then the chunk IHDR, which begins with width and height,
  // big-endian.
  if (png.size() < 24 || !png.starts_with("\x89PNG\r\n") || png.substr(12, 4) != "IHDR") {
    ADD_FAILURE() << "no PNG file: " << output.substr(0, 2000);
    return {};
  }
  const auto number = [&](size_t at) {
    int value = 0;
    for (size_t i = 0; i < 4; ++i) value = value * 256 + static_cast<unsigned char>(png[at + i]);
    return value;
  };
  return {number(16), number(20), png.size()};
}

}  // namespace windtunnel
