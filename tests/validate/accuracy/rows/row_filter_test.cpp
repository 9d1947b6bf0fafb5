#include "validate/accuracy/rows/row_filter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

const CsvTable& table() {
  static const CsvTable rows = CsvTable::parse(
      "source,gpus,tp,pp,note,mem_gib\n"
      "vTrain single,4,4,1,,12.5\n"
      "BLOOM,384,8,12,02-25; ZeRO-1,\n"
      "sweep,64,8,4,after_pp_fix=True,60\n",
      "runs.csv");
  return rows;
}

// Returns the numbers of the rows that match, such as "013".
std::string matching(const std::string& expression) {
  const RowFilter filter = RowFilter::parse(expression);
  filter.check(table());
  std::string rows;
  for (size_t row = 0; row < table().rows(); ++row) {
    if (filter.matches(table(), row)) rows += std::to_string(row);
  }
  return rows;
}

TEST(RowFilter, ComparesNumbersAndTexts) {
  EXPECT_EQ(matching("gpus==4"), "0");
  EXPECT_EQ(matching("gpus == 4.0"), "0");
  EXPECT_EQ(matching("gpus!=4"), "12");
  EXPECT_EQ(matching("gpus<64"), "0");
  EXPECT_EQ(matching("gpus<=64"), "02");
  EXPECT_EQ(matching("gpus>64"), "1");
  EXPECT_EQ(matching("gpus>=6.4e1"), "12");
  EXPECT_EQ(matching("gpus>-1"), "012");
  EXPECT_EQ(matching("gpus>-1e-5"), "012");
  EXPECT_EQ(matching("gpus>.64e+2"), "1");
  EXPECT_EQ(matching("64<gpus"), "1");
  EXPECT_EQ(matching("tp>pp"), "02");
  EXPECT_EQ(matching("gpus==tp"), "0");
  EXPECT_EQ(matching("source==\"BLOOM\""), "1");
  EXPECT_EQ(matching("source=='bloom'"), "");
  EXPECT_EQ(matching("source~\"vtrain\""), "0");
  EXPECT_EQ(matching("source!~'e'"), "1");
  EXPECT_EQ(matching("source<5"), "");
  EXPECT_EQ(matching("source~''"), "012");
}

TEST(RowFilter, AComparisonWithAnEmptyCellDoesNotHold) {
  EXPECT_EQ(matching("mem_gib>0"), "02");
  EXPECT_EQ(matching("mem_gib!=7"), "02");
  EXPECT_EQ(matching("!(mem_gib>0)"), "1");
  EXPECT_EQ(matching("note!~'q'"), "12");
}

TEST(RowFilter, AndBindsTighterThanOr) {
  EXPECT_EQ(matching("tp<=8 && (pp==1 || note~\"after_pp_fix=True\")"), "02");
  EXPECT_EQ(matching("gpus==4 || gpus==64 && pp==1"), "0");
  EXPECT_EQ(matching("(gpus==4 || gpus==64) && pp==1"), "0");
  EXPECT_EQ(matching("gpus==64&&tp==8||gpus==4"), "02");
  EXPECT_EQ(matching("!gpus==4 && !!(pp==4)"), "2");
}

std::string error_in(const std::string& expression) {
  return error_of([&] { matching(expression); });
}

TEST(RowFilter, ErrorsPointAtThePlace) {
  EXPECT_EQ(error_in("tp<=8 && gpu==4"),
            "expression:1:10: unknown column 'gpu'; did you mean 'gpus'?\n"
            "  tp<=8 && gpu==4\n"
            "           ^");
  EXPECT_EQ(error_in("source==BLOOM"),
            "expression:1:9: unknown column 'BLOOM'; known: source, gpus, tp, pp, note, mem_gib; "
            "text must be in quotes\n  source==BLOOM\n          ^");
  EXPECT_EQ(error_in("tp=8"), "expression:1:3: a single '='; did you mean '=='?\n  tp=8\n    ^");
  const auto begins = [](const std::string& expression, const std::string& start) {
    EXPECT_EQ(error_in(expression).substr(0, start.size()), start);
  };
  begins("", "expression:1:1: expected a column, a number or a text\n");
  begins("tp", "expression:1:3: expected an operator: == != < <= > >= ~ !~\n");
  begins("tp==", "expression:1:5: expected a column, a number or a text\n");
  begins("tp==8 & pp==1", "expression:1:7: a single '&'; did you mean '&&'?\n");
  begins("tp==8 | pp==1", "expression:1:7: a single '|'; did you mean '||'?\n");
  begins("(tp==8", "expression:1:1: this '(' is not closed\n");
  begins("tp==8)", "expression:1:6: expected '&&', '||' or the end, not ')'\n");
  begins("tp==8 pp==1", "expression:1:7: expected '&&', '||' or the end, not 'p'\n");
  begins("source~\"x", "expression:1:8: this quote is not closed\n");
  begins("tp<\"wide\"",
         "expression:1:4: 'wide' is not a number, but '<' and '>' compare numbers\n");
  begins("tp==8x", "expression:1:5: '8x' is not a number\n");
  begins("tp==$", "expression:1:5: expected a column, a number or a text, not '$'\n");
  begins(std::string(100000, '('), "expression:1:102: nested too deep\n");
  begins(std::string(100000, '!') + "tp==1", "expression:1:102: nested too deep\n");
  EXPECT_NE(error_in("tp=").find("'=='"), std::string::npos);
}

TEST(RowFilter, TheOptionsNameStandsInTheMessage) {
  EXPECT_TRUE(error_of([] { RowFilter::parse("tp", "--where"); }).starts_with("--where:1:3:"));
}

// Holds a random expression over `gpus`, with its expected result for each row.
struct Truth {
  std::string text;
  std::vector<bool> holds;
};

Truth random_truth(RandomStream& random, int depth) {
  const auto kind = depth == 0 ? 0 : random.below(4);
  if (kind == 0) {
    static const std::vector<std::string> operators = {"==", "!=", "<", "<=", ">", ">="};
    const auto compare = random.below(operators.size());
    const double bound = std::vector<double>{4, 64, 100, 384}[random.below(4)];
    Truth truth{"gpus" + operators[compare] + std::to_string(static_cast<int>(bound)), {}};
    for (const double gpus : {4.0, 384.0, 64.0}) {
      truth.holds.push_back(std::vector<bool>{gpus == bound, gpus != bound,
                                              gpus<bound, gpus <= bound, gpus> bound,
                                              gpus >= bound}[compare]);
    }
    return truth;
  }
  Truth left = random_truth(random, depth - 1);
  if (kind == 1) {
    left.holds.flip();
    return {"!(" + left.text + ")", left.holds};
  }
  const Truth right = random_truth(random, depth - 1);
  for (size_t row = 0; row < left.holds.size(); ++row) {
    left.holds[row] =
        kind == 2 ? left.holds[row] && right.holds[row] : left.holds[row] || right.holds[row];
  }
  return {"(" + left.text + (kind == 2 ? " && " : "||") + right.text + ")", left.holds};
}

TEST(RowFilter, RandomExpressionsSayWhatTheyMean) {
  for (int index = 0; index < 500; ++index) {
    RandomStream random(3, RandomPurpose::test, index);
    const Truth truth = random_truth(random, 4);
    std::string rows;
    for (size_t row = 0; row < truth.holds.size(); ++row) {
      if (truth.holds[row]) rows += std::to_string(row);
    }
    EXPECT_EQ(matching(truth.text), rows) << truth.text;
  }
}

// Any text is parsed as a filter or causes an Error.
TEST(RowFilter, HostileText) {
  constexpr std::string_view kAlphabet = "tp=!<>~&|()\"' 1.e-_x";
  for (int index = 0; index < 20000; ++index) {
    RandomStream random(5, RandomPurpose::test, index);
    std::string text;
    for (auto length = random.below(24); length > 0; --length) {
      text += kAlphabet[random.below(kAlphabet.size())];
    }
    try {
      matching(text);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace windtunnel
