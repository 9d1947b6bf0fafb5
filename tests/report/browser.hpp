// Headless Chromium on a page in a file of its own folder. Tests are skipped where it is not
// installed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace windtunnel {

struct Screenshot {
  int width = 0;
  int height = 0;
  size_t bytes = 0;  // of the PNG file: an empty page compresses to almost nothing
};

// Its path. Empty where it is not installed, which fails the test where CI is set: `./dev test`
// installs it, and where nobody looks at what was skipped it must not be missing.
std::string chromium_program();

class Browser : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Standard output and the log of the page's console. `probe` is a script that runs behind the
  // page's own.
  std::string dump_dom(const std::string& html, const std::string& probe = "");
  // The same of a page that draws all that it has, without an error.
  std::string ready_dom(const std::string& html, const std::string& probe = "");
  // Draws the page 1440, 1024 and 420 pixels wide, light and dark, and on paper at once, and
  // expects of each: no error on the console, all charts drawn and told in words, and none of the
  // faults that page_faults.js finds.
  void expect_fits(const std::string& html);
  Screenshot screenshot(const std::string& html, int width, int height);

 private:
  // What Chromium prints.
  std::string run(const std::string& html, const std::string& options, int width, int height);

  std::filesystem::path folder_;
  std::string program_;
};

}  // namespace windtunnel
