// Files that are none are refused at once and in words.
#include "traces/text/input_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

class InputFiles : public testing::Test {
 protected:
  InputFiles() : folder_(fs::path(testing::TempDir()) / fmt::format("input-files-{}", getpid())) {
    fs::create_directories(folder_);
  }
  ~InputFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string refusal(const std::string& path) {
    return error_of([&] { InputFile(path, 1000).whole(); });
  }

  fs::path folder_;
};

TEST_F(InputFiles, AreReadWhole) {
  std::ofstream(path("a")) << "text\n";
  InputFile file(path("a"), 5);
  EXPECT_EQ(file.size(), 5u);
  EXPECT_EQ(file.whole(), "text\n");
  EXPECT_EQ(beginning_of(path("a"), 2), "te");
  EXPECT_EQ(beginning_of(path("none"), 2), "");
}

TEST_F(InputFiles, OfAnotherKindAreRefused) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("loop", path("loop"));
  std::ofstream(path("large")) << std::string(1001, 'x');
  EXPECT_EQ(refusal(path("pipe")), path("pipe") + ": is a named pipe; a file is due");
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: is a device; a file is due");
  EXPECT_EQ(refusal(path("")), path("") + ": is a folder; a file is due");
  EXPECT_EQ(refusal(path("loop")),
            path("loop") + ": cannot be read: Too many levels of symbolic links");
  EXPECT_EQ(refusal(path("none")), path("none") + ": cannot be read: No such file or directory");
  EXPECT_EQ(refusal(path("large")),
            path("large") + ": is of 1.00 kB or more; a file of its kind has at most 1.00 kB");
}

TEST_F(InputFiles, LinesTellWhetherTheLastOneEnds) {
  std::ofstream(path("lines")) << std::string(100'000, 'x') << "\n\nend";
  InputLines lines(path("lines"));
  std::string line;
  ASSERT_TRUE(lines.next(line) && lines.ended());
  EXPECT_EQ(line, std::string(100'000, 'x'));
  ASSERT_TRUE(lines.next(line) && lines.ended());
  EXPECT_EQ(line, "");
  ASSERT_TRUE(lines.next(line));
  EXPECT_FALSE(lines.ended());
  EXPECT_EQ(line, "end");
  EXPECT_FALSE(lines.next(line));
}

TEST_F(InputFiles, EndlessLineIsRefusedWithItsPlace) {
  std::ofstream(path("long")) << "first\n";
  fs::resize_file(path("long"), kLongestLine_bytes + 100'000);
  InputLines lines(path("long"));
  std::string line;
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(error_of([&] { lines.next(line); }),
            path("long") + ":2:1: a line of more than 67.1 MB");
}

}  // namespace
}  // namespace windtunnel
