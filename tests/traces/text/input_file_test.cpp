// Paths that lead to no file are refused at once and in words.
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
  EXPECT_EQ(refusal(path("pipe")), path("pipe") + ": is a named pipe; expected a file");
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: is a device; expected a file");
  EXPECT_EQ(refusal(path("")), path("") + ": is a folder; expected a file");
  EXPECT_EQ(refusal(path("loop")),
            path("loop") + ": cannot be read: Too many levels of symbolic links");
  EXPECT_EQ(refusal(path("none")), path("none") + ": cannot be read: No such file or directory");
  EXPECT_EQ(refusal(path("larg")), path("larg") +
                                       ": cannot be read: No such file or directory; did you mean "
                                       "'" +
                                       path("large") + "'?");
  EXPECT_EQ(refusal(path("large")),
            path("large") +
                ": has 1.00 kB or more; a file of this kind may have at most 1.00 kB; the "
                "environment variable WINDTUNNEL_MAX_FILE_SIZE=1GiB raises that");
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
            path("long") +
                ":2:1: a line has more than 67.1 MB; the environment variable "
                "WINDTUNNEL_MAX_FILE_SIZE=1GiB raises that");
}

// Sets the environment variable as a refusal advises, until the object is destroyed.
class RaisedLimit {
 public:
  explicit RaisedLimit(const std::string& refusal) {
    const std::string name = std::string(kFileLimitVariable) + "=";
    const std::size_t begin = refusal.find(name);
    EXPECT_NE(begin, std::string::npos) << refusal;
    if (begin == std::string::npos) return;
    const std::size_t value = begin + name.size();
    setenv(kFileLimitVariable, refusal.substr(value, refusal.find(' ', value) - value).c_str(), 1);
  }
  ~RaisedLimit() { unsetenv(kFileLimitVariable); }
};

TEST_F(InputFiles, AreReadWithTheVariableAsTheRefusalSaysIt) {
  for (const std::uint64_t bytes : {std::uint64_t{2000}, std::uint64_t{3} << 20U}) {
    std::ofstream(path("large")) << std::string(bytes, 'x');
    const RaisedLimit raised(refusal(path("large")));
    EXPECT_EQ(InputFile(path("large"), 1000).whole().size(), bytes);
  }
  fs::resize_file(path("large"), kLargestWhole_bytes + 1);
  EXPECT_NE(error_of([&] { InputFile(path("large"), kLargestWhole_bytes); }), "no error");
  const RaisedLimit raised(error_of([&] { InputFile(path("large"), kLargestWhole_bytes); }));
  EXPECT_EQ(InputFile(path("large"), kLargestWhole_bytes).size(), kLargestWhole_bytes + 1);
}

TEST_F(InputFiles, LongLinesAreReadWithTheVariableAsTheRefusalSaysIt) {
  std::ofstream(path("long")) << "first\n";
  fs::resize_file(path("long"), kLongestLine_bytes + 100'000);
  std::string line;
  const RaisedLimit raised(error_of([&] {
    InputLines lines(path("long"));
    while (lines.next(line)) {
    }
  }));
  InputLines lines(path("long"));
  ASSERT_TRUE(lines.next(line) && lines.next(line));
  EXPECT_GT(line.size(), kLongestLine_bytes);
}

TEST_F(InputFiles, TheVariableIsASizeAndLowersTooButNotWhatIsStreamed) {
  std::ofstream(path("a")) << std::string(2000, 'x');
  setenv(kFileLimitVariable, "1 kB", 1);
  EXPECT_NE(error_of([&] { InputFile(path("a"), kLargestWhole_bytes); }), "no error");
  EXPECT_EQ(InputFile(path("a")).size(), 2000u);
  for (const char* wrong : {"lots", "-1 GB", "4", "0 B", "3 s", "1e30 GB"}) {
    setenv(kFileLimitVariable, wrong, 1);
    EXPECT_NE(error_of([] { read_limit(1); }).find(kFileLimitVariable), std::string::npos) << wrong;
  }
  setenv(kFileLimitVariable, "", 1);
  EXPECT_EQ(read_limit(7), 7u);
  unsetenv(kFileLimitVariable);
}

}  // namespace
}  // namespace windtunnel
