#include "tests/sim/study/run_or_refused.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <exception>

#include "models/base/error.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {

void expect_run_or_refused(const RandomJobs& random, int block) {
  const int in_block = random.jobs / random.blocks;
  const std::uint64_t first = std::uint64_t(block) * 100 * in_block;
  int ran = 0;
  for (std::uint64_t number = first; ran < in_block; ++number) {
    ASSERT_LT(number, first + 100 * in_block) << "the reader refuses nearly all jobs";
    const std::string text = random.text(number);
    const std::string file = fmt::format("{}-{}.yaml", random.name, number);
    try {
      const Record record = simulate(parse_case(text, file), {.threads = 1, .allow_oom = true});
      ++ran;
      random.check(record, text);
    } catch (const Error& error) {
      const std::string why = error.what();
      EXPECT_TRUE(why.starts_with(file + ":")) << why << "\n" << text;
    } catch (const std::exception& fault) {
      ADD_FAILURE() << fault.what() << "\n" << text;
    }
  }
}

std::function<void(const Record& record, const std::string& text)> within_bounds(
    const std::vector<RecordBound>& more) {
  return [&more](const Record& record, const std::string& text) {
    for (const std::vector<RecordBound>* bounds : {&record_bounds(), &more}) {
      for (const RecordBound& bound : *bounds) {
        EXPECT_TRUE(bound.holds(record)) << "not so: " << bound.name << "\n" << text;
      }
    }
  };
}

}  // namespace windtunnel
