// Opens a page in headless Chromium, as a file in a folder of its own. Tests are skipped if
// Chromium is not installed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace windtunnel {

struct Screenshot {
  int width = 0;
  int height = 0;
  size_t bytes = 0;  // size of the PNG file; an empty page compresses to almost nothing
};

// Returns the path of Chromium; empty if it is not installed. If CI is set, a missing Chromium
// fails the test, because `./dev test` installs it and nobody looks at skipped tests in CI.
std::string chromium_program();

class Browser : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Returns the page's DOM, and the log of its console. `probe` is a script that runs after the
  // page's own.
  std::string dump_dom(const std::string& html, const std::string& probe = "");
  // Returns the same, and expects that the page draws everything without an error.
  std::string ready_dom(const std::string& html, const std::string& probe = "");
  // Draws the page 1440, 1024 and 420 pixels wide, light and dark, and on paper, all at once.
  // Expects no error on the console, that all charts are drawn and described in words, and none of
  // the faults that page_faults.js finds.
  void expect_fits(const std::string& html);
  Screenshot screenshot(const std::string& html, int width, int height);

 private:
  // Runs Chromium and returns its output.
  std::string run(const std::string& html, const std::string& options, int width, int height);

  std::filesystem::path folder_;
  std::string program_;
};

}  // namespace windtunnel
