// No damaged file crashes a reader, keeps it busy for ten seconds, takes more than 2 GB, or is
// answered with anything but an Error.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <typeinfo>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "models/base/random.hpp"
#include "models/base/sanitizers.hpp"
#include "tests/fuzz/damage.hpp"
#include "tests/fuzz/readers.hpp"

namespace windtunnel {

// NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for
void PrintTo(const Reader& reader, std::ostream* out) {
  *out << reader.name;
}

namespace {

constexpr int kFew = 200;
constexpr int kMany = 5000;
constexpr int kMostFailures = 5;
constexpr unsigned kLongest_s = 10;
constexpr rlim_t kMostBytes = 2'000'000'000;

constexpr bool kReservesMemory = kAddressSanitizer || kThreadSanitizer;  // address space

// How far a child process has come: the file that it reads, and the reader's fault.
struct Progress {
  int index = 0;
  char fault[1000] = {};
};

// Progress in memory that is shared with child processes.
class SharedProgress {
 public:
  SharedProgress()
      : memory_(mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0)) {
    if (memory_ != MAP_FAILED) new (memory_) Progress;
  }
  ~SharedProgress() {
    if (memory_ != MAP_FAILED) munmap(memory_, sizeof(Progress));
  }
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;

  Progress* get() const {
    return memory_ == MAP_FAILED ? nullptr : static_cast<Progress*>(memory_);
  }

 private:
  void* memory_;
};

struct ReadResult {
  bool refused = false;  // with an Error
  std::string fault;     // of the reader: an answer that is none
};

ReadResult answer_to(const Reader& reader, const std::string& bytes) {
  try {
    reader.read(bytes);
  } catch (const Error& error) {
    const std::string words = error.what();
    if (words.empty() || error.text().empty()) return {true, "an error without words"};
    if (printable(words, "\n\t") != words) return {true, "bytes of the file: " + printable(words)};
    return {true, ""};
  } catch (const std::exception& error) {
    return {false, fmt::format("{}: {}", typeid(error).name(), error.what())};
  }
  return {};
}

template <class Choose>
std::vector<Reader> readers_with(Choose choose) {
  std::vector<Reader> chosen;
  std::ranges::copy_if(readers(), std::back_inserter(chosen), choose);
  return chosen;
}

std::vector<Reader> readers_with_found_files() {
  return readers_with([](const Reader& reader) { return !found_files(reader).empty(); });
}

std::vector<Reader> readers_of_whole_files() {
  return readers_with([](const Reader& reader) { return reader.whole; });
}

std::string test_name(const testing::TestParamInfo<Reader>& info) {
  std::string name(info.param.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

class DamagedFiles : public testing::TestWithParam<Reader> {
 protected:
  std::vector<std::string> files_;

  void SetUp() override {
    files_ = whole_files(GetParam());
    ASSERT_FALSE(files_.empty()) << GetParam().name;
  }

  std::string file(int index) const {
    RandomStream random(22, RandomPurpose::test, static_cast<std::uint64_t>(index));
    return damaged(files_, random);
  }

  void read_damaged(int count) {
    const SharedProgress shared;
    Progress* const progress = shared.get();
    ASSERT_NE(progress, nullptr);
    int failures = 0;
    while (progress->index < count && failures < kMostFailures) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) read_until_fault(count, *progress);
      int status = 0;
      waitpid(child, &status, 0);
      std::error_code ignored;
      std::filesystem::remove_all(scratch_folder(child), ignored);
      if (progress->index == count) break;
      ++failures;
      report(*progress, status);
      progress->fault[0] = 0;
      ++progress->index;
    }
  }

 private:
  // Reads in a child process, which a signal may end.
  [[noreturn]] void read_until_fault(int count, Progress& progress) const {
    if (!kReservesMemory) {
      const rlimit limit{kMostBytes, kMostBytes};
      setrlimit(RLIMIT_AS, &limit);
    }
    for (; progress.index < count; ++progress.index) {
      const std::string bytes = file(progress.index);
      alarm(kLongest_s);
      const std::string fault = answer_to(GetParam(), bytes).fault;
      if (fault.empty()) continue;
      std::strncpy(progress.fault, fault.c_str(), sizeof(progress.fault) - 1);
      break;
    }
    _exit(0);
  }

  void report(const Progress& progress, int status) const {
    const std::string path = testing::TempDir() + "damaged-" + std::string(GetParam().name) + "-" +
                             std::to_string(progress.index);
    std::ofstream(path, std::ios::binary) << file(progress.index);
    const std::string signal = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "";
    ADD_FAILURE() << path << ": " << signal << progress.fault;
  }
};

TEST_P(DamagedFiles, WholeOnesAreRead) {
  for (const std::string& bytes : files_) EXPECT_NO_THROW(GetParam().read(bytes));
}

TEST_P(DamagedFiles, AreRefusedInWords) {
  read_damaged(kFew);
}

TEST_P(DamagedFiles, ManyAreRefusedInWords) {
  read_damaged(kMany);
}

INSTANTIATE_TEST_SUITE_P(Readers, DamagedFiles, testing::ValuesIn(readers()), test_name);

class FoundFiles : public testing::TestWithParam<Reader> {};

TEST_P(FoundFiles, AreRefusedInWords) {
  const std::vector<std::string> files = found_files(GetParam());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const ReadResult answer = answer_to(GetParam(), files[i]);
    EXPECT_TRUE(answer.refused) << "file " << i;
    EXPECT_EQ(answer.fault, "") << "file " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, FoundFiles, testing::ValuesIn(readers_with_found_files()),
                         test_name);

class CutOffFiles : public testing::TestWithParam<Reader> {};

TEST_P(CutOffFiles, AreRefusedInWords) {
  for (const std::string& bytes : whole_files(GetParam())) {
    const std::size_t step = std::max<std::size_t>(1, bytes.size() / 50);
    for (std::size_t length = 0; length + 2 < bytes.size(); length += step) {
      const ReadResult answer = answer_to(GetParam(), bytes.substr(0, length));
      EXPECT_TRUE(answer.refused) << length;
      EXPECT_EQ(answer.fault, "") << length;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, CutOffFiles, testing::ValuesIn(readers_of_whole_files()),
                         test_name);

// Gives each reader something that is no regular file, or far too large, in the place of its file.
class HostileFiles : public testing::TestWithParam<Reader> {
 protected:
  // Reads in a child process, which a signal ends if it hangs or fills memory.
  static std::string fault_of(ScratchKind kind) {
    const SharedProgress shared;
    Progress* const progress = shared.get();
    if (progress == nullptr) return "no shared memory";
    const pid_t child = fork();
    if (child == 0) {
      const rlimit limit{kMostBytes, kMostBytes};
      if (!kReservesMemory) setrlimit(RLIMIT_AS, &limit);
      alarm(kLongest_s);
      make_scratch_files(kind);
      const auto made_before = scratch_files_made();  // inherited from the parent
      const ReadResult answer = answer_to(GetParam(), whole_files(GetParam()).front());
      const bool takes_path = scratch_files_made() > made_before;
      const std::string fault =
          takes_path && !answer.refused && answer.fault.empty() ? "was read" : answer.fault;
      std::strncpy(progress->fault, fault.c_str(), sizeof(progress->fault) - 1);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::error_code ignored;
    std::filesystem::remove_all(scratch_folder(child), ignored);
    if (WIFSIGNALED(status)) return strsignal(WTERMSIG(status));
    return progress->fault;
  }
};

TEST_P(HostileFiles, AreRefusedInWords) {
  using enum ScratchKind;
  for (const ScratchKind kind : {pipe, device, loop, folder, missing, huge}) {
    if (kind == missing && GetParam().name == "sweep-part") continue;  // creates the file
    EXPECT_EQ(fault_of(kind), "") << static_cast<int>(kind);
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, HostileFiles, testing::ValuesIn(readers()), test_name);

// The suites above are empty, and pass, if no files are found.
TEST(Readers, SomeHaveFoundFilesAndWholeOnes) {
  EXPECT_FALSE(readers_with_found_files().empty());
  EXPECT_FALSE(readers_of_whole_files().empty());
}

TEST(Readers, EveryFolderIsOfAReader) {
  for (const std::string& name : reader_folders()) EXPECT_NO_THROW(find_reader(name)) << name;
}

// libFuzzer is started by the list of tests/fuzz/CMakeLists.txt.
TEST(Readers, AreThoseOfTheBuild) {
  std::string names;
  for (const Reader& reader : readers()) {
    names += fmt::format("{}{}", names.empty() ? "" : ",", reader.name);
  }
  EXPECT_EQ(names, WINDTUNNEL_READERS);
}

}  // namespace
}  // namespace windtunnel
