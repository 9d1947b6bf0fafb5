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
#include <fstream>
#include <ostream>
#include <typeinfo>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "tests/fuzz/damage.hpp"
#include "tests/fuzz/readers.hpp"

namespace windtunnel {

void PrintTo(const Reader& reader, std::ostream* out) {
  *out << reader.name;
}

namespace {

constexpr int kFew = 200;
constexpr int kMany = 5000;
constexpr int kMostFailures = 5;
constexpr unsigned kLongest_s = 10;
constexpr rlim_t kMostBytes = 2'000'000'000;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kReservesMemory = true;  // far more than it uses
#else
constexpr bool kReservesMemory = false;
#endif

// What a child process tells of the file that it reads.
struct Progress {
  int index = 0;
  char fault[1000] = {};
};

// Empty: it was read, or refused with words that tell what is wrong.
std::string fault_of(const Reader& reader, const std::string& bytes) {
  try {
    reader.read(bytes);
  } catch (const Error& error) {
    return error.what()[0] == 0 ? "an error without words" : "";
  } catch (const std::exception& error) {
    return fmt::format("{}: {}", typeid(error).name(), error.what());
  }
  return "";
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
    void* const shared =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    auto* const progress = new (shared) Progress;
    int failures = 0;
    while (progress->index < count && failures < kMostFailures) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) read_until_fault(count, *progress);
      int status = 0;
      waitpid(child, &status, 0);
      if (progress->index == count) break;
      ++failures;
      report(*progress, status);
      progress->fault[0] = 0;
      ++progress->index;
    }
    munmap(shared, sizeof(Progress));
  }

 private:
  // In a child, which a signal may end.
  [[noreturn]] void read_until_fault(int count, Progress& progress) const {
    if (!kReservesMemory) {
      const rlimit limit{kMostBytes, kMostBytes};
      setrlimit(RLIMIT_AS, &limit);
    }
    for (; progress.index < count; ++progress.index) {
      const std::string bytes = file(progress.index);
      alarm(kLongest_s);
      const std::string fault = fault_of(GetParam(), bytes);
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

TEST_P(DamagedFiles, FoundOnesAreRefusedInWords) {
  for (const std::string& bytes : found_files(GetParam())) {
    EXPECT_EQ(fault_of(GetParam(), bytes), "");
  }
}

TEST_P(DamagedFiles, AreRefusedInWords) {
  read_damaged(kFew);
}

TEST_P(DamagedFiles, ManyAreRefusedInWords) {
  read_damaged(kMany);
}

TEST_P(DamagedFiles, CutOffOnesAreNotTaken) {
  if (!GetParam().whole) return;
  for (const std::string& bytes : files_) {
    const size_t step = std::max<size_t>(1, bytes.size() / 50);
    for (size_t length = 0; length + 2 < bytes.size(); length += step) {
      EXPECT_THROW(GetParam().read(bytes.substr(0, length)), Error) << length;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, DamagedFiles, testing::ValuesIn(readers()), [](const auto& info) {
  std::string name(info.param.name);
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace windtunnel
