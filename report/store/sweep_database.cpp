#include "report/store/sweep_database.hpp"

#include <fmt/format.h>

#include <utility>

#include "report/store/sweep_figures.hpp"
#include "report/store/sweep_ranking.hpp"

namespace windtunnel {
namespace {

constexpr size_t kRowsAtOnce = 1000;

const char* unit_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return "bytes";
    case Dimension::bytes_per_s:
      return "bytes/s";
    case Dimension::flops_per_s:
      return "FLOP/s";
    case Dimension::seconds:
      return "s";
    case Dimension::per_node_s:
      return "per node-s";
    case Dimension::usd_per_gpu_s:
      return "USD per gpu-s";
    case Dimension::per_s:
      return "per s";
    case Dimension::iterations:
      return "iterations";
    case Dimension::number:
    case Dimension::count:
      return "";
  }
  return "";
}

// This is a row of the table `figures`.
std::vector<SqlValue> description_of(const StoredColumn& column) {
  const Figure& described = figure(column.key);
  return {column.name,
          column.key,
          column.part,
          described.title,
          std::string(unit_form(described.unit).base),
          std::string(to_string(described.better)),
          described.help,
          std::string(described.origin)};
}

}  // namespace

SweepDatabase::SweepDatabase(const std::string& path, const Sweep& sweep)
    : file_(path), sweep_(sweep) {
  std::string columns = "point INTEGER PRIMARY KEY, \"key\" TEXT, reason TEXT";
  marks_ = "?, ?, ?";
  for (const VariedKey& key : sweep.vary) {
    numbers_.push_back(numbers_of(key));
    columns += fmt::format(", {} {}", sql_name(key.key), numbers_.back() ? "REAL" : "TEXT");
    marks_ += ", ?";
  }
  for (const StoredColumn& column : stored_columns()) {
    columns += fmt::format(", {} REAL", sql_name(column.name));
    marks_ += ", ?";
  }
  file_.execute(fmt::format("CREATE TABLE points ({})", columns));
  file_.execute("CREATE TABLE varied (\"key\" TEXT, unit TEXT)");
  file_.execute(
      "CREATE TABLE figures (\"column\" TEXT, \"key\" TEXT, part TEXT, title TEXT, unit TEXT, "
      "better TEXT, help TEXT, origin TEXT)");
}

void SweepDatabase::add(const Json& point) {
  const auto index = point.at("index").get<std::int64_t>();
  std::vector<SqlValue> row = {
      index, point.at("key").get<std::string>(),
      has_result(point) ? SqlValue() : SqlValue(point.at("reason").get<std::string>())};
  const std::vector<size_t> places = places_of(sweep_, static_cast<size_t>(index));
  for (size_t i = 0; i < places.size(); ++i) {
    row.push_back(numbers_[i] ? SqlValue(numbers_[i]->values[places[i]])
                              : SqlValue(sweep_.vary[i].values[places[i]]));
  }
  for (const StoredColumn& column : stored_columns()) {
    const std::optional<double> number = number_at(point, column.key, column.part);
    row.emplace_back();
    if (number) row.back() = *number;
  }
  rows_.push_back(std::move(row));
  if (rows_.size() >= kRowsAtOnce) write_rows();
}

void SweepDatabase::write_rows() {
  file_.insert(fmt::format("INSERT INTO points VALUES ({})", marks_), rows_);
  rows_.clear();
}

void SweepDatabase::close() {
  write_rows();
  std::vector<std::vector<SqlValue>> varied, described;
  for (size_t i = 0; i < sweep_.vary.size(); ++i) {
    varied.push_back(
        {sweep_.vary[i].key,
         numbers_[i] ? SqlValue(std::string(unit_of(numbers_[i]->dimension))) : SqlValue()});
  }
  for (const StoredColumn& column : stored_columns()) described.push_back(description_of(column));
  file_.insert("INSERT INTO varied VALUES (?, ?)", varied);
  file_.insert("INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?, ?, ?)", described);
  file_.close();
}

}  // namespace windtunnel
