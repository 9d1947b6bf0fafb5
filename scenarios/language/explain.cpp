#include "scenarios/language/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "models/compression/compressors.hpp"
#include "models/power/power_spec.hpp"
#include "models/workload/axes.hpp"
#include "models/workload/tower.hpp"
#include "policies/schedules/schedules.hpp"
#include "scenarios/language/explained_parts.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/resolve/schemes.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

const Evidence kDefault = {Origin::assumed, "default"};
const Evidence kUsual = {Origin::assumed, "the schedule's usual"};

class Explanation {
 public:
  Explanation(const Values& values, const EvidenceList& evidence, const Job& job,
              const PowerSpec* power)
      : values_(values), evidence_(evidence), job_(job), power_(power) {}

  std::vector<ResolvedValue> rows() {
    add_scenario();
    add_model();
    if (job_.cluster.pools.empty()) add_node("cluster.node", job_.cluster.node);
    for (std::size_t i = 0; i < job_.cluster.pools.size(); ++i) {
      add_node(fmt::format("cluster.pools.{}.node", i), job_.cluster.pools[i].node);
    }
    add_fabric();
    if (power_ != nullptr) add_power(*power_);
    add_calibration();
    add_derived();
    add_members();
    for (Row& row : rows_) take_found(job_, row.value);
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.rank < b.rank; });
    std::vector<ResolvedValue> sorted;
    for (Row& row : rows_) sorted.push_back(std::move(row.value));
    return sorted;
  }

 private:
  // Sorts by the row of the table but keeps the items of a list together: (list, item, row).
  using Rank = std::array<int, 3>;
  struct Row {
    Rank rank;
    ResolvedValue value;
  };

  static int index_of(std::string_view path) {
    const Field* field = find_field(path);
    CHECK(field != nullptr, "'{}' is not in the field table", path);
    return static_cast<int>(field - field_table().data());
  }

  static Rank rank_of(std::string_view key) {
    const std::string pattern = pattern_of(key);
    const int own = index_of(pattern);
    const size_t star = pattern.find(".*");
    if (star == std::string::npos) return {own, 0, 0};
    return {index_of(pattern.substr(0, star)), std::stoi(std::string(key.substr(star + 1))), own};
  }

  void add_scenario() {
    for (const auto& [key, value] : values_.all()) {
      Evidence evidence = {Origin::assumed, "default"};
      if (value.stated) evidence = {Origin::assumed, "chosen by the scenario"};
      if (value.stated && (value.field->fact || !value.scheme.empty())) {
        evidence = windtunnel::evidence_of(value, evidence_);
      }
      ResolvedValue resolved{.key = key,
                             .value = text_of(value),
                             .is_default = !value.stated,
                             .origin = evidence.origin,
                             .source = evidence.source,
                             .dimension = value.dimension,
                             .scope = value.field->scope};
      if (value.text.empty()) resolved.number = value.number;
      if (listed_gradients() && key.starts_with("communication.compressor")) continue;
      if (key == "schedule.name" && job_.schedule.imported) {  // the imported one, not the default
        resolved.value = job_.schedule.name;
        resolved.source = "schedule.file";
      }
      rows_.push_back({rank_of(key), std::move(resolved)});
    }
  }

  // Adds a key that the scenario leaves open; `place` is the row of the table that it sorts with.
  void add_open(const std::string& key, const std::string& text, const Evidence& evidence,
                std::string_view place) {
    if (values_.has(key)) return;
    open_.insert(key);
    rows_.push_back({rank_of(place),
                     {.key = key,
                      .value = text,
                      .is_default = true,
                      .origin = evidence.origin,
                      .source = evidence.source,
                      .scope = find_field(place)->scope}});
  }
  void add_open(const std::string& key, const std::string& text, const Evidence& evidence) {
    add_open(key, text, evidence, key);
  }
  void add_open(const std::string& key, double number, Dimension dimension,
                const Evidence& evidence, std::string_view place) {
    if (values_.has(key)) return;
    add_open(key, format_quantity(number, dimension), evidence, place);
    rows_.back().value.number = number;
    rows_.back().value.dimension = dimension;
  }
  void add_whole(const std::string& key, int number, const Evidence& evidence) {
    add_open(key, number, Dimension::number, evidence, key);
  }
  void add_flag(const std::string& key, bool flag, const Evidence& evidence) {
    if (values_.has(key)) return;
    add_open(key, flag ? "true" : "false", evidence);
    rows_.back().value.number = flag ? 1 : 0;
  }
  static Evidence evidence_of(const Parameter& parameter) {
    return {parameter.origin, parameter.source};
  }

  void add_model() {
    if (job_.network) return;  // its values cannot be changed
    const TransformerSpec& model = job_.model;
    const Evidence evidence = {values_.has("model.base") ? Origin::published : Origin::assumed,
                               values_.has("model.base") ? model.source : "default"};
    TransformerSpec resolved = model;
    resolved.head_width = model.head_dim();
    add_members_of("model", resolved, takes_all, evidence);
    if (model.moe.experts == 0) {
      add_whole("model.moe.experts", 0, evidence);
    } else {
      add_open("model.moe.imbalance", model.moe.imbalance, Dimension::number, kDefault,
               "model.moe.imbalance");
      add_members_of("model.moe", model.moe, takes_all, evidence);
    }
    if (model.latent.kv_rank == 0) {
      add_whole("model.latent.kv_rank", 0, evidence);
    } else {
      add_members_of("model.latent", model.latent, takes_all, evidence);
    }
    if (model.sparse.heads > 0) add_members_of("model.sparse", model.sparse, takes_all, evidence);
    if (model.mamba.state > 0) add_members_of("model.mamba", model.mamba, takes_all, evidence);
    if (model.tower) add_members_of("model.tower", *model.tower, takes_all, evidence);
  }

  void add_power(const PowerSpec& power) {
    add_members_of("cluster.power", power);
    if (power.nodes.size() > 1) return;  // each pool has its own watts
    add_members_of("cluster.power", power.nodes.front());
  }

  void add_node(const std::string& path, const NodeSpec& node) {
    add_open(path + ".gpu.base", node.gpu.name, evidence_of(node.nvlink_Bps));
    add_whole(path + ".gpus", node.gpus, evidence_of(node.nvlink_Bps));
    if (node.package_gpus > 1) {
      add_whole(path + ".package_gpus", node.package_gpus, evidence_of(node.package_Bps));
    }
    add_whole(path + ".nics", node.nics, evidence_of(node.nic_Bps));
    add_open(path + ".gpu_path", std::string(name_of(node.gpu_path)), evidence_of(node.nvlink_Bps));
    add_members_of(path, node);
    add_members_of(path + ".gpu", node.gpu);
  }

  void add_fabric() {
    const FabricSpec& fabric = job_.cluster.fabric;
    const std::string path = "cluster.fabric";
    const NamedFabric& base = find_fabric(values_.text(path + ".base"));
    const Evidence evidence = {base.origin, base.source};
    add_members_of(
        path, fabric, [&](std::string_view key) { return used_by(fabric, key); }, evidence);
    if (fabric.topology == Topology::torus && !values_.stated(path + ".dimensions")) {
      for (size_t i = 0; i < fabric.dimensions.size(); ++i) {
        add_whole(fmt::format("{}.dimensions.{}", path, i), fabric.dimensions[i], evidence);
      }
    }
  }

  // Keys of another topology or routing are not shown, nor keys that follow from other values.
  static bool used_by(const FabricSpec& fabric, std::string_view key) {
    if (key == "uplinks") return fabric.uplinks > 0 && belongs_to(key, fabric.topology);
    if (key == "parts") return fabric.routing == Routing::split_single_path;
    if (key == "routing_seed") return fabric.routing == Routing::ecmp;
    return belongs_to(key, fabric.topology);
  }

  void add_calibration() {
    const auto add = [&](const std::string& key, std::string_view unit, const Parameter& from) {
      const Dimension dimension = unit == "s"   ? Dimension::seconds
                                  : unit == "B" ? Dimension::bytes
                                                : Dimension::number;
      add_open(key, from.value, dimension, evidence_of(from), "calibration");
    };
    for (const CalibrationField& field : calibration_fields()) {
      add(fmt::format("calibration.{}", field.name), field.unit, job_.calibration.*field.member);
    }
    for (const KernelShare& kernel : job_.calibration.kernels) {
      add(fmt::format("calibration.kernels.{}", kernel.name), "", kernel.share);
    }
    for (const KernelStarts& kernel : job_.calibration.kernel_starts) {
      add(fmt::format("calibration.kernel_starts.{}", kernel.name), "", kernel.starts);
    }
    for (const KernelLaw& law : job_.calibration.kernel_laws.laws) {
      add_open(fmt::format("calibration.kernel_laws.{}", law.key), law_text(law),
               {Origin::measured, "a separate law"}, "calibration");
    }
    const auto add_law = [&](const char* key, const InterconnectLaw& law) {
      if (!law.stated) return;
      for (const InterconnectLawField& field : interconnect_law_fields()) {
        add(fmt::format("calibration.{}.{}", key, field.name), field.unit, law.*field.member);
      }
    };
    add_law("network", job_.calibration.network);
    if (job_.calibration.node_network) add_law("node_network", *job_.calibration.node_network);
  }

  static std::string law_text(const KernelLaw& law) {
    if (law.curve.sizes.empty()) {
      return fmt::format(
          "{:.4g} s + {:.4g} s a FLOP + {:.4g} s a byte{}", law.fixed_s, law.flop_s, law.byte_s,
          law.shapes.empty() ? "" : fmt::format(", corrected near {} shapes", law.shapes.size()));
    }
    return fmt::format("{:.4g} s to {:.4g} s for {} to {}", law.curve.seconds.front(),
                       law.curve.seconds.back(), format_bytes(law.curve.sizes.front()),
                       format_bytes(law.curve.sizes.back()));
  }

  // Adds defaults that follow from other values.
  void add_derived() {
    add_derived_layout();
    const Evidence parts = {Origin::assumed, "its parts, listed below"};
    const RecoveryPolicy& recovery = job_.recovery;
    add_open("recovery.detect", recovery.detect_s, Dimension::seconds, parts, "recovery.detect");
    add_open("recovery.restart", recovery.restart_s, Dimension::seconds, parts, "recovery.restart");
    for (size_t i = 0; i < job_.failures.size(); ++i) add_derived_failure(i);
    for (size_t i = 0; i < job_.snapshots.size(); ++i) add_derived_code(i);
    if (job_.steps > 0) {
      add_open("job.steps", job_.steps, Dimension::count,
               {Origin::assumed, "from the curve of job.quality"}, "job.steps");
    }
  }

  void add_derived_layout() {
    const Layout& layout = job_.layout;
    for (const Axis& axis : kAxes) {
      if (axis.follows_from.empty()) continue;
      add_whole(std::string(axis.key), layout.*axis.size,
                {Origin::assumed, std::string(axis.follows_from)});
    }
    if (layout.sharding != Sharding::none) {
      add_whole("layout.shard_ranks", layout.dp * layout.cp, {Origin::assumed, "dp x cp"});
    }
    if (layout.sharding == Sharding::zero3) {
      const ShardRanks ranks = shard_ranks(layout);
      const Evidence evidence = {Origin::assumed, "layout.shard_ranks"};
      add_whole("layout.weight_ranks", ranks.weights, evidence);
      add_whole("layout.gradient_ranks", ranks.gradients, evidence);
    }
    if (job_.schedule.imported == nullptr) {
      const ScheduleKind& kind = schedule_kind(job_.schedule);
      const int usual = kind.usual_group > 0 ? kind.usual_group : layout.pp;
      if ((kind.knobs & kGroup) != 0) add_whole("schedule.group", usual, kUsual);
    }
    add_whole("batch.sequence", job_.batch.sequence, {Origin::assumed, "the model's sequence"});
  }

  void add_derived_failure(size_t i) {
    const FailureClass& failure = job_.failures[i];
    const auto key = [&](const char* end) { return fmt::format("failures.{}.{}", i, end); };
    if (values_.has(key("mtbf"))) {
      add_open(key("rate"), failure.rate_per_node_s, Dimension::per_node_s,
               {Origin::assumed, "1 / " + key("mtbf")}, key("mtbf"));
    }
    if (failure.arrivals == Arrivals::exponential) {
      add_open(key("arrivals"), "exponential", kDefault);
    }
    const bool own = failure.detect_s >= 0;
    if (!values_.stated(key("detect")) && failure.notice_s == 0) {
      add_open(key("detect"), own ? failure.detect_s : job_.recovery.detect_s, Dimension::seconds,
               {Origin::assumed, "recovery.detect"}, key("detect"));
    }
    if (!values_.stated(key("repair")) && failure.taken.empty()) {
      add_open(key("repair"), failure.repair.fixed_s, Dimension::seconds, kDefault, key("repair"));
    }
  }

  void add_derived_code(size_t i) {
    const ErasureCode& code = job_.snapshots[i].code;
    if (code.name == CodeName::none) return;
    const std::string path = fmt::format("snapshots.{}.code", i);
    const Evidence name = {Origin::assumed, "follows from the name of the code"};
    add_whole(path + ".data", code.data, name);
    add_whole(path + ".parity", code.parity, name);
    add_open(path + ".scope", code.in_node ? "node" : "nodes",
             {Origin::assumed, "follows from the tier"});
  }

  // Adds the keys below `path` that the scenario leaves open, with their values in the job. `takes`
  // says whether the job uses a key (relative to `path`). A number with evidence of its own shows
  // that, another key of a library entry shows `of_entry`, and the rest show "default".
  using Takes = std::function<bool(std::string_view)>;
  static bool takes_all(std::string_view /*key*/) { return true; }

  template <class Struct>
  void add_members_of(const std::string& path, const Struct& from, const Takes& takes = takes_all,
                      const Evidence& of_entry = kDefault) {
    add_members_of(path, &kTypeTag<Struct>, &from, takes, of_entry);
  }
  void add_members_of(const std::string& path, const void* type, const void* from,
                      const Takes& takes, const Evidence& of_entry = kDefault) {
    for (const auto& [rest, row] : bound_rows(path, type)) {
      const Field& field = *row;
      const std::string key = join_path(path, rest);
      if (values_.has(key) || open_.contains(key) || field.required || is_left_out(key)) continue;
      if (!takes(rest)) continue;
      Value value{.key = key, .field = &field, .dimension = field.dimension};
      if (!field.binding.read(from, value)) continue;
      const Evidence evidence = evidence_of(field, from, of_entry);
      if (!value.text.empty()) {
        add_open(key, value.text, evidence);
      } else if (field.scalar == ScalarType::boolean) {
        add_flag(key, value.number != 0, evidence);
      } else if (field.admits(value.number)) {  // other numbers stand for 'none'
        add_open(key, value.number, field.dimension, evidence, key);
      }
    }
  }
  static Evidence evidence_of(const Field& field, const void* from, const Evidence& of_entry) {
    if (field.binding.parameter != nullptr) {
      return evidence_of(
          *field.binding.parameter(const_cast<void*>(from)));  // only its address is used
    }
    return field.in_entry == InEntry::never ? kDefault : of_entry;
  }

  // True if the scenario leaves out a map above the key, and that map has a required key.
  bool is_left_out(std::string_view key) {
    const size_t dot = key.rfind('.');
    if (dot == std::string_view::npos) return false;
    const std::string_view map = key.substr(0, dot);
    const auto known = left_out_.find(map);
    if (known != left_out_.end()) return known->second;
    const auto required = [&](const std::string& name) {
      return find_field(join_path(map, name))->required;
    };
    const bool left_out =
        (!values_.stated(map) && std::ranges::any_of(child_keys(map), required)) ||
        is_left_out(map);
    left_out_.emplace(map, left_out);
    return left_out;
  }

  void add_members() {
    add_compressors();
    for (const ExplainedPart& part : explained_parts(job_)) {
      add_members_of(part.path, part.type, part.from, part.takes);
    }
  }

  // True if "compress" has an entry for gradients.
  bool listed_gradients() const {
    for (int i = 0; i < values_.length("compress"); ++i) {
      if (values_.text(fmt::format("compress.{}.axis", i)) == "dp") return true;
    }
    return false;
  }

  void add_compressors() {
    for (int i = 0; i < values_.length("compress"); ++i) {
      const std::string place = fmt::format("compress.{}", i);
      const std::string& axis = values_.text(place + ".axis");
      for (const CompressedAxis& each : kCompressedAxes) {
        if (axis == to_string(each.axis)) {
          add_compressor(place, job_.communication.compressors.*each.choice);
        }
      }
    }
    if (!listed_gradients()) {
      add_compressor("communication.compressor", job_.communication.compressors.dp);
    }
  }

  void add_compressor(const std::string& place, const CompressorChoice& stated) {
    const CompressorChoice choice = with_usual(stated);
    const CompressorKind& kind = compressor_kind(choice);
    const bool experts = &stated == &job_.communication.compressors.ep;
    add_members_of(place, choice, [&](std::string_view key) {
      if (key == "passes") return experts;
      for (const CompressorNumber& number : compressor_numbers()) {
        if (number.name == key) return takes(kind, number);
      }
      return key == "feedback" ? takes_feedback(kind) : !kind.usual.base.empty();
    });
  }

  const Values& values_;
  const EvidenceList& evidence_;
  const Job& job_;
  const PowerSpec* power_;  // null: the scenario does not ask for watts
  std::vector<Row> rows_;
  std::set<std::string, std::less<>> open_;            // keys added by add_open()
  std::map<std::string, bool, std::less<>> left_out_;  // [map]: is_left_out() of the keys in it
};

}  // namespace

std::vector<ResolvedValue> explain_values(const Values& values, const EvidenceList& evidence,
                                          const Job& job, const PowerSpec* power) {
  return Explanation(values, evidence, job, power).rows();
}

}  // namespace windtunnel
