#include "validate/accuracy/compression/compression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/compression/compression_buckets.hpp"
#include "validate/accuracy/compression/compression_others.hpp"
#include "validate/accuracy/compression/compression_sparse.hpp"
#include "validate/accuracy/rows/left_out_intervals.hpp"

namespace windtunnel {
namespace {

// Over TCP, where no cluster's rows say.
constexpr double kUsualTcpStep_s = 40e-6;
constexpr const char* kTcp = "10GbE";

using Runs = std::vector<const CompressionRun*>;

void append(const std::vector<ValidationRow>& rows, std::vector<ValidationRow>& to) {
  to.insert(to.end(), rows.begin(), rows.end());
}
void append(const std::vector<SkippedRow>& rows, std::vector<SkippedRow>& to) {
  to.insert(to.end(), rows.begin(), rows.end());
}

Runs take(const Runs& runs, bool (*wanted)(const CompressionRun&)) {
  Runs taken;
  for (const CompressionRun* run : runs) {
    if (wanted(*run)) taken.push_back(run);
  }
  return taken;
}

// All rows that are judged or fitted on, and which are which. A file that is named for both is
// read once, as one to fit on.
struct Selected {
  Runs all;
  std::set<const CompressionRun*> fit;
  std::set<std::string> not_judged;  // ids
};

// What of `file` is listed where it cannot be used, and never judged where it is not wanted.
void skip(const CompressionRuns& file, const std::optional<RowFilter>& wanted, Selected& selected,
          ValidationReport& report) {
  const auto is_wanted = [&](size_t row) { return !wanted || wanted->matches(file.table, row); };
  for (const UnusableRow& row : file.unusable) {
    if (!row.table_row || is_wanted(*row.table_row)) report.skipped.push_back({row.id, row.reason});
  }
  for (size_t row = 0; row < file.table.rows(); ++row) {
    if (!is_wanted(row)) selected.not_judged.insert(file.table.id(row));
  }
}

Selected select(const CompressionFiles& files, const CompressionOptions& options,
                ValidationReport& report) {
  Selected selected;
  std::set<std::string> elsewhere;
  for (const CompressionRuns& file : options.calibrate_on) {
    if (options.fit_where) options.fit_where->check(file.table);
    if (!elsewhere.insert(file.table.file()).second) continue;
    skip(file, options.fit_where, selected, report);
    for (const CompressionRun& run : file.runs) {
      selected.all.push_back(&run);
      selected.not_judged.insert(run.id);
      if (!options.fit_where || options.fit_where->matches(file.table, run.table_row)) {
        selected.fit.insert(&run);
      }
    }
  }
  const RowFilter usual =
      options.fit_where ? *options.fit_where : RowFilter::parse(kLinkFitRows, "rows to fit on");
  for (const CompressionRuns& file : files.runs) {
    if (options.where) options.where->check(file.table);
    if (elsewhere.contains(file.table.file())) continue;
    if (options.calibrate_on.empty()) usual.check(file.table);
    skip(file, options.where, selected, report);
    for (const CompressionRun& run : file.runs) {
      selected.all.push_back(&run);
      if (options.calibrate_on.empty() && usual.matches(file.table, run.table_row)) {
        selected.fit.insert(&run);
      }
    }
  }
  return selected;
}

std::string text_of(const LinkRows& rows) {
  const LinkLaw& law = rows.law;
  std::string text = fmt::format(
      "links: {:.0f} us a collective, in a node {:.0f} % of PCIe's bandwidth and {:.1f} us a step",
      1e6 * law.launch_s, 100 * law.node_share, 1e6 * law.node_step_s);
  for (const auto& [name, network] : law.networks) {
    text += fmt::format("; {} {:.0f} % of the NIC's and {:.1f} us", name, 100 * network.share,
                        1e6 * network.step_s);
  }
  return text +
         fmt::format(
             "; ByteScheduler's hooks {:.2f} ms a layer with weights; with servers {:.0f} us "
             "an exchange, {:.0f} % of the NIC's bandwidth each way, {:.2f} GB/s a TCP "
             "connection, copies at {:.0f} % of PCIe's bandwidth",
             1e3 * rows.hook_s, 1e6 * law.server_launch_s, 100 * law.server_share,
             1e-9 * law.connection_Bps, 100 * law.copy_share);
}

double mape(const std::vector<const ValidationRow*>& rows) {
  double sum = 0;
  for (const ValidationRow* row : rows) sum += row->relative_error();
  return sum / static_cast<double>(std::max<size_t>(rows.size(), 1));
}

// Families whose rows are fitted on in part: their error over both.
void note_fitted(const LinkRows& rows, std::map<std::string, std::string>& notes) {
  std::map<std::string, std::vector<const ValidationRow*>> families;
  for (const ValidationRow& row : rows.fitted) families[row.family].push_back(&row);
  for (auto& [family, all] : families) {
    const size_t fitted = all.size();
    for (const ValidationRow& row : rows.judged) {
      if (row.family == family) all.push_back(&row);
    }
    notes[family] = fmt::format("with the {} rows that the law is fitted on: MAPE {:.1f} %", fitted,
                                100 * mape(all));
  }
}

void add_links(const LinkRows& links, CompressionValidation& result) {
  append(links.judged, result.report.rows);
  append(links.fitted, result.report.fitted);
  append(links.skipped, result.report.skipped);
  result.order = order_of_pairs(links, true);
  result.all_reduce_order = order_of_pairs(links, false);
  result.law = links.law;
  result.laws.push_back(text_of(links));
}

// Rows that belong to none of the laws: on networks whose links are known by now.
void add_others(const Runs& runs, const std::map<std::string, double>& alone_s,
                CompressionValidation& result) {
  for (const CompressionRun* run : runs) {
    if (is_link_row(*run) || is_sparse_row(*run) || is_bucket_row(*run)) continue;
    predict_other(*run, result.law, alone_s, result.report);
  }
}

void add_quantised(const CsvTable& table, CompressionValidation& result) {
  QuantisedRows rows = validate_quantised(table);
  append(rows.judged, result.report.rows);
  append(rows.fitted, result.report.fitted);
  append(rows.skipped, result.report.skipped);
  result.crossovers.insert(result.crossovers.end(), rows.crossovers.begin(), rows.crossovers.end());
  result.laws.push_back("all-reduce in one node: " + rows.law);
}

}  // namespace

CompressionFiles read_compression_files(const std::vector<std::string>& paths) {
  CompressionFiles files;
  for (const std::string& path : paths) {
    const std::string text = read_file(path);
    std::vector<CsvFault> faults;  // of rows; here only the header counts
    if (holds_quantised(CsvTable::parse(text, path, &faults))) {
      files.quantised.push_back(CsvTable::parse(text, path));
    } else {
      files.runs.push_back(parse_compression_runs(text, path));
    }
  }
  return files;
}

CompressionValidation validate_compression(const CompressionFiles& files,
                                           const CompressionOptions& options) {
  CompressionValidation result;
  ValidationReport& report = result.report;
  ValidationReport unread;
  const Selected selected = select(files, options, unread);
  std::map<std::string, std::string> notes;
  double tcp_step_s = kUsualTcpStep_s;
  std::map<std::string, double> alone_s;
  if (const Runs rows = take(selected.all, is_link_row); !rows.empty()) {
    const LinkRows links = validate_links(
        rows, [&](const CompressionRun& run) { return selected.fit.contains(&run); },
        options.threads);
    add_links(links, result);
    note_fitted(links, notes);
    alone_s = links.alone_s;
    for (const auto& [name, network] : links.law.networks) {
      if (name.starts_with(kTcp)) tcp_step_s = network.step_s;
    }
  }
  if (const Runs rows = take(selected.all, is_sparse_row); !rows.empty()) {
    const SparseRows sparse = validate_sparse(rows, tcp_step_s);
    append(sparse.judged, report.rows);
    append(sparse.skipped, report.skipped);
    result.laws.insert(result.laws.end(), sparse.laws.begin(), sparse.laws.end());
  }
  if (const Runs rows = take(selected.all, is_bucket_row); !rows.empty()) {
    const BucketRows buckets = validate_buckets(rows, options.threads);
    append(buckets.judged, report.rows);
    append(buckets.fitted, report.fitted);
    append(buckets.skipped, report.skipped);
    notes.insert(buckets.notes.begin(), buckets.notes.end());
    if (!buckets.law.empty()) result.laws.push_back("DDP: " + buckets.law);
  }
  add_others(selected.all, alone_s, result);
  append(unread.skipped, report.skipped);
  const auto unwanted = [&](const auto& row) { return selected.not_judged.contains(row.id); };
  std::erase_if(report.rows, unwanted);
  std::erase_if(report.skipped, unwanted);
  for (const CsvTable& table : files.quantised) add_quantised(table, result);
  add_left_out_intervals(report);
  summarise_families(report, notes);
  return result;
}

}  // namespace windtunnel
