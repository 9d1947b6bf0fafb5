#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "models/base/error.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "validate/accuracy/rows/row_filter.hpp"

namespace windtunnel {
namespace {

std::vector<CsvTable> training_rows() {
  std::vector<CsvTable> tables;
  const std::filesystem::path source = WINDTUNNEL_SOURCE_DIR;
  for (const auto& entry :
       std::filesystem::directory_iterator(source / "tests/data/training_runs")) {
    tables.push_back(CsvTable::read(entry.path().string()));
  }
  return tables;
}

// Returns the rows of each fit in the library, by the first words of its source.
std::map<std::string, std::set<std::string>> rows_of_fits() {
  const std::vector<CsvTable> tables = training_rows();
  std::map<std::string, std::set<std::string>> rows;
  for (const Calibration& calibration : library_calibrations()) {
    for (const FittedNumber& each : fitted_numbers(calibration)) {
      std::set<std::string>& of_fit = rows[each.number->source.substr(0, 45)];
      for (const CsvTable& table : tables) {
        for (std::size_t row = 0; row < table.rows(); ++row) {
          if (is_among(each.number->fitted_on, table, row)) of_fit.insert(table.id(row));
        }
      }
    }
  }
  return rows;
}

// Returns whether a source says that its number was fitted. Other sources say what a number was not
// fitted on, or give errors at rows that fits left out.
bool says_fitted(std::string text) {
  for (const char* other : {"not fitted", "none of them fitted", "left out one after the other"}) {
    if (text.find(other) != std::string::npos) return false;
  }
  return text.find("fitted") != std::string::npos;
}

// Finds the numbers at and below `node` whose source says that they were fitted.
void fits_in(const DocumentNode& node, std::vector<const DocumentNode*>& fits) {
  const DocumentNode* source = node.value_of("source");
  if (source != nullptr && says_fitted(source->text)) fits.push_back(&node);
  for (const DocumentNode& item : node.items) fits_in(item, fits);
  for (const DocumentEntry& entry : node.entries) fits_in(entry.value, fits);
}

// All files of the library are read: a fitted number must not count as blind on its rows.
TEST(FittedRows, EachFitOfTheLibraryStatesItsRows) {
  int count = 0;
  for (const LibraryFile& file : library_files()) {
    if (!file.path.ends_with(".yaml")) continue;
    const DocumentNode document = library_document(file.path);
    std::vector<const DocumentNode*> fits;
    fits_in(document, fits);
    for (const DocumentNode* fit : fits) {
      SCOPED_TRACE(std::string(file.path) + ":" + std::to_string(fit->where.line));
      const DocumentNode* rows = fit->value_of("fitted_on");
      EXPECT_TRUE(rows != nullptr && !read_fitted_on(*rows).empty());
      ++count;
    }
  }
  EXPECT_GT(count, 100);
}

// With a misspelt column, fitted rows would count as blind.
TEST(FittedRows, ExpressionsNameColumnsOfTables) {
  std::vector<CsvTable> tables = training_rows();
  for (const char* more : {"exchange_runs.csv", "moe_dispatch_2026.csv", "rl_steps_2026.csv"}) {
    tables.push_back(CsvTable::read(WINDTUNNEL_SOURCE_DIR "/tests/data/" + std::string(more)));
  }
  const auto knows = [&](const FittedOn& rows) {
    if (rows.where.empty()) {  // all rows of the file
      return std::filesystem::exists(WINDTUNNEL_SOURCE_DIR "/tests/data/" + rows.file);
    }
    const RowFilter filter = RowFilter::parse(rows.where, "fitted_on");
    return std::ranges::any_of(tables,
                               [&](const CsvTable& table) { return has_columns(filter, table); });
  };
  for (const Calibration& calibration : library_calibrations()) {
    for (const FittedNumber& each : fitted_numbers(calibration)) {
      for (const FittedOn& rows : each.number->fitted_on) EXPECT_TRUE(knows(rows)) << rows.where;
    }
  }
}

// Choices of software state their rows, too; their entries are based on each other.
TEST(FittedRows, SoftwareStatesItsRowsToo) {
  int fitted = 0;
  for (const Framework& software : frameworks()) {
    for (const SoftwareChoice& choice : software.choices) {
      EXPECT_EQ(says_fitted(choice.source), !choice.fitted_on.empty()) << software.name;
      for (const FittedOn& rows : choice.fitted_on) RowFilter::parse(rows.where, "fitted_on");
      if (!choice.fitted_on.empty()) ++fitted;
    }
  }
  EXPECT_GT(fitted, 0);
}

TEST(FittedRows, AreAsManyAsTheirSourceSays) {
  const auto rows = rows_of_fits();
  const auto count = [&](const std::string& start) {
    for (const auto& [source, ids] : rows) {
      if (source.starts_with(start)) return static_cast<int>(ids.size());
    }
    return -1;
  };
  EXPECT_EQ(count("fitted on 916 rows"), 916);
  EXPECT_EQ(count("fitted, alone, on 23 rows"), 23);
  EXPECT_EQ(count("fitted, alone, on 3 rows in bf16"), 3);
  EXPECT_EQ(count("fitted, alone, on 3 rows in fp8"), 3);
  // The tables contain a few more functional tests than were used; which ones was not written down.
  EXPECT_EQ(count("fitted on 33 rows"), 34);
  EXPECT_EQ(count("fitted on 91 rows"), 95);
  EXPECT_EQ(count("fitted on 30 rows"), 39);
  EXPECT_EQ(count("fitted on 205 rows"), 0);  // its table is not in the repository
}

TEST(FittedRows, FileAndExpressionBothHold) {
  const CsvTable table = CsvTable::parse("source,gpus\na,8\na,16\n", "folder/runs.csv");
  const auto fitted = [&](const FittedOn& rows, std::size_t row) {
    return is_among({rows}, table, row);
  };
  EXPECT_TRUE(fitted({"runs.csv", ""}, 1));
  EXPECT_TRUE(fitted({"runs.csv", "gpus==8"}, 0));
  EXPECT_FALSE(fitted({"runs.csv", "gpus==8"}, 1));
  EXPECT_FALSE(fitted({"others.csv", "gpus==8"}, 0));
  EXPECT_FALSE(fitted({"", "nodes==1"}, 0));
  EXPECT_THROW(fitted({"", "gpus=="}, 0), Error);
}

}  // namespace
}  // namespace windtunnel
