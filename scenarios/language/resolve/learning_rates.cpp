#include "models/base/error.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {

std::vector<LearningRate> parse_learning_rates(const std::string& text, const std::string& file) {
  const CsvTable table = CsvTable::parse(text, file);
  const std::size_t step = table.column("step");
  const std::size_t rate = table.column("rate");
  std::vector<LearningRate> rates;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto fail = [&](std::size_t column, const char* what) {
      throw Error(Location{file, table.line(row), static_cast<int>(column) + 1}, what);
    };
    const LearningRate own = {table.number(row, step), table.number(row, rate)};
    if (own.rate < 0) fail(rate, "rate: must not be negative");
    if (own.step < 0) fail(step, "step: must not be negative");
    if (!rates.empty() && own.step <= rates.back().step) {
      fail(step, "step: must be above that of the row before; list the rows in order");
    }
    rates.push_back(own);
  }
  if (rates.size() < 2) throw Error(Location{file}, "needs at least two rows");
  return rates;
}

}  // namespace windtunnel
