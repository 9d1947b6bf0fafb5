#include "scenarios/language/library/layer_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "models/compression/compressors.hpp"
#include "models/compression/layer_choice.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {
namespace {

enum Column { kLayer, kRows, kColumns, kNumber, kError };
constexpr std::array<std::string_view, 5> kColumnNames = {"layer", "rows", "columns", "number",
                                                          "error"};

// The parameter of the base compressor that L-GreCo chooses for each layer: rank, density or bits.
const CompressorNumber& number_of(const CompressorChoice& base) {
  const auto numbers = compressor_numbers();
  const auto own = std::ranges::find_if(
      numbers, [&](const CompressorNumber& number) { return base.*number.member > 0; });
  CHECK(own != numbers.end(), "base {} has no number", base.name);
  return *own;
}

class Reader {
 public:
  Reader(CsvTable table, const std::string& base)
      : table_(std::move(table)), base_(with_usual({.name = base})), number_(number_of(base_)) {
    for (const std::string& column : table_.header()) {
      if (std::ranges::find(kColumnNames, column) != kColumnNames.end()) continue;
      throw Error({table_.file(), 1, 1},
                  unknown_name("column", column, {kColumnNames.begin(), kColumnNames.end()}));
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i] = table_.column(kColumnNames[i]);
    for (std::size_t row = 0; row < table_.rows(); ++row) add(row);
    if (layers_.empty()) throw Error({table_.file()}, "has no layers");
  }

  std::vector<LayerErrors> layers() && {
    const double usual = base_.*number_.member;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      auto& known = layers_[i].by_number;
      std::ranges::sort(known);
      if (std::ranges::find(known, usual, &std::pair<double, double>::first) != known.end()) {
        continue;
      }
      fail(first_rows_[i], kLayer,
           fmt::format("'{}' has no line with number {:g}, the default {} of {}", layers_[i].layer,
                       usual, number_.name, base_.name));
    }
    return std::move(layers_);
  }

 private:
  [[noreturn]] void fail(std::size_t row, Column column, std::string_view what) const {
    throw Error({table_.file(), table_.line(row), static_cast<int>(columns_[column]) + 1},
                fmt::format("{}: {}", kColumnNames[column], what));
  }

  double whole(std::size_t row, Column column) const {
    const double value = table_.number(row, columns_[column]);
    if (!(value >= 1 && value <= 1e9) || value != std::floor(value)) {
      fail(row, column, "expected a whole number from 1 to 1e9");
    }
    return value;
  }

  double number(std::size_t row) const {
    const bool share = number_.high == 1;
    if (!share) {
      const double value = whole(row, kNumber);
      if (value <= number_.high) return value;
    } else {
      const double value = table_.number(row, columns_[kNumber]);
      if (value > 0 && value <= 1) return value;
    }
    fail(row, kNumber,
         fmt::format("a {} of {} is {} {:g}", number_.name, base_.name,
                     share ? "above 0 and at most" : "at most", number_.high));
  }

  void add(std::size_t row) {
    const std::string& name = table_.text(row, columns_[kLayer]);
    if (name.empty()) fail(row, kLayer, "expected a name");
    const double rows = whole(row, kRows);
    const double columns = whole(row, kColumns);
    const double error = table_.number(row, columns_[kError]);
    if (!(error >= 0 && error <= 1e6)) fail(row, kError, "must be from 0 to 1e6");
    auto layer = std::ranges::find(layers_, name, &LayerErrors::layer);
    if (layer == layers_.end()) {
      layer = layers_.insert(layers_.end(), {name, rows, columns, {}});
      first_rows_.push_back(row);
    }
    if (layer->rows != rows || layer->columns != columns) {
      fail(row, layer->rows != rows ? kRows : kColumns,
           fmt::format("'{}' is {:g} x {:g} on line {}", name, layer->rows, layer->columns,
                       table_.line(first_rows_[layer - layers_.begin()])));
    }
    const double value = number(row);
    for (const auto& [known, unused] : layer->by_number) {
      if (known == value)
        fail(row, kNumber, fmt::format("'{}' has this number on another line, too", name));
    }
    layer->by_number.emplace_back(value, error);
  }

  CsvTable table_;
  CompressorChoice base_;
  const CompressorNumber& number_;
  std::array<std::size_t, kColumnNames.size()> columns_{};
  std::vector<LayerErrors> layers_;
  std::vector<std::size_t> first_rows_;  // [layer] its first row in the file
};

}  // namespace

std::shared_ptr<const std::vector<LayerErrors>> layer_errors_of(CsvTable table,
                                                                const std::string& base) {
  return std::make_shared<const std::vector<LayerErrors>>(Reader(std::move(table), base).layers());
}

void check_layer_errors(const std::vector<LayerErrors>& errors,
                        const std::vector<TensorShape>& tensors) {
  for (const LayerErrors& layer : errors) {
    const bool known = std::ranges::any_of(tensors, [&](const TensorShape& tensor) {
      return tensor.matrix() && is_of_shape(layer, tensor);
    });
    if (known) continue;
    throw Error(fmt::format("layer '{}' is {:g} x {:g}, but no gradient on a GPU has this shape",
                            layer.layer, layer.rows, layer.columns));
  }
}

}  // namespace windtunnel
