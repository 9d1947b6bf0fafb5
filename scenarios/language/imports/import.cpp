#include "scenarios/language/imports/import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "scenarios/language/configs/megatron_arguments.hpp"
#include "scenarios/language/imports/configuration_table.hpp"
#include "scenarios/language/imports/imported_keys.hpp"
#include "scenarios/language/imports/named_model.hpp"
#include "scenarios/language/library/facts/gpu_names.hpp"
#include "scenarios/language/library/facts/model_names.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/fields.hpp"
#include "scenarios/language/text/scenario_text.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

// Derives the machine, the model, the layout and the batch from the settings, and writes the
// scenario.
class ScenarioImport : private ImportedKeys {
 public:
  explicit ScenarioImport(const ImportRequest& request) : ImportedKeys(request) {}

  ImportedScenario result() {
    for (const std::string& path : request_.files) {
      if (!files_read_.contains(path)) read_file(path, 0);
    }
    for (const auto& [key, value] : request_.set) set_by_request(key, value);
    for (const AssumedSetting& each : assumed_by_tables_) {
      const bool of_named = each.key.starts_with("model.") && names_model();
      if (!keys_.contains(each.key) && !of_named) assume(each.key, each.value, each.why);
    }
    set_adapter();
    set_recompute();
    set_precision();
    set_machine();
    set_mesh();
    set_model();
    set_layout();
    set_offload();
    set_batch();
    if (!made_.software.empty() && !keys_.contains("software")) set("software", made_.software);
    made_.software = text("software");
    write();
    return std::move(made_);
  }

 private:
  // Drops a stated key whose setting turned out to have no effect.
  void ignore(const std::string& key) {
    made_.without_effect.push_back(keys_.at(key).from);
    drop(key);
  }

  // A file that states a rank but no kind of adapter trains no adapter.
  void set_adapter() {
    const std::string rank = "train.adapter.rank";
    if (keys_.contains("train.adapter.kind") || !keys_.contains(rank) || requested(rank)) return;
    ignore(rank);
  }

  // Recomputing 0 layers in full is no recomputation.
  void set_recompute() {
    if (requested("recompute.layers") || number("recompute.layers") != 0.0) return;
    ignore("recompute.layers");
    if (text("recompute.modules") != "full" || requested("recompute.modules")) return;
    keys_.at("recompute.modules").value = "none";
    if (!requested("recompute.method")) drop("recompute.method");
  }

  // A lower precision of matrix products overrides the general type.
  void set_precision() {
    if (!keys_.contains(".low") || requested("precision")) return;
    const bool blocks = text(".low") == "fp8" && keys_.contains(".low_recipe");
    const ReadKey& read = keys_.at(blocks ? ".low_recipe" : ".low");
    state("precision", read.value, read.from);
  }

  // --- The machine ---

  void set_machine() {
    std::string node = text("cluster.node");
    if (node.empty() && keys_.contains(".gpu")) {
      try {
        node = gpu_named(text(".gpu"), false).node;
      } catch (const Error& error) {
        throw Error(place(".gpu"), std::string(error.text()));
      }
      assume("cluster.node", node,
             fmt::format("the usual node of {}; for another one use {}", text(".gpu"),
                         request_.has_options ? "--cluster" : "--set cluster.node=NODE"));
    }
    if (node.empty()) {
      throw unsaid(request_.has_options
                       ? "does not say on which machine it runs; state it, for example with "
                         "--cluster '16 x dgx-h100' (`windtunnel list nodes`)"
                       : "does not say on which machine it runs; state it with --set "
                         "cluster.node=dgx-h100, and if the file does not say how many nodes, also "
                         "with --set cluster.nodes=16 (`windtunnel list nodes`)");
    }
    const double ranks =
        count_or_1("layout.tp") * count_or_1("layout.pp") * count_or_1("layout.cp");
    std::optional<double> gpus = count(".gpus");
    std::string by = ".gpus";
    if (!gpus && count("layout.dp")) {
      gpus = *count("layout.dp") * ranks;
      by = "layout.dp";
    }
    std::optional<double> nodes;
    if (!requested("cluster.nodes")) nodes = count(".nodes");
    double per_node = find_node(node).gpus;
    if (const auto stated = count(".gpus_per_node")) per_node = *stated;
    if (gpus && !requested("cluster.nodes")) {
      per_node = std::min(per_node, std::ceil(*gpus / nodes.value_or(1)));
    }
    if (requested("cluster.node.gpus")) per_node = count_or_1("cluster.node.gpus");
    if (nodes) {
      by = ".nodes";
    } else if (gpus) {
      nodes = std::ceil(*gpus / per_node);
    }
    if (requested("cluster.nodes")) nodes = count("cluster.nodes");
    if (!nodes) {
      const double fewest = std::ceil(ranks / per_node);
      throw unsaid("does not say how many nodes it uses; state it, for example with " +
                   (request_.has_options ? fmt::format("--cluster '{:.0f} x {}'", fewest, node)
                                         : fmt::format("--set cluster.nodes={:.0f}", fewest)));
    }
    gpus_ = *nodes * per_node;
    gpus_of_node_ = per_node;
    check_replicas(ranks, node);
    set("cluster.nodes", *nodes, by);
    if (per_node == find_node(node).gpus) return set("cluster.node", node);
    drop("cluster.node");
    set("cluster.node.base", node);
    set("cluster.node.gpus", per_node, keys_.contains(".gpus_per_node") ? ".gpus_per_node" : by);
  }

  // If a file states all degrees, their product is the number of GPUs.
  void check_replicas(double ranks, const std::string& node) const {
    const std::optional<double> dp = count("layout.dp");
    if (!dp || requested("layout.dp") || !requested("cluster.nodes")) return;
    if (*dp * ranks == gpus_ || std::fmod(gpus_, ranks) != 0) return;
    throw Error(
        place("layout.dp"),
        fmt::format("{}: its degrees make {:.0f} GPUs, but the cluster has {:.0f}; give only the "
                    "node, {}{}, or another number of replicas, --set layout.dp={:.0f}",
                    keys_.at("layout.dp").from.name, *dp * ranks, gpus_,
                    request_.has_options ? "--cluster " : "--set cluster.node=", node,
                    gpus_ / ranks));
  }

  // --- The model ---

  bool names_model() const {
    return requested("model") || (keys_.contains(".model") && !is_given_by_dimensions());
  }

  void set_model() {
    if (requested("model")) {
      for (const std::string& key : std::vector(order_)) {
        if (key.starts_with("model.") && !requested(key)) drop(key);
      }
      return;
    }
    if (names_model()) {
      set_named_model();
    } else if (model_is_ == StatedModel::hugging_face) {
      set("model", quoted_path(model_file_.path));
    } else if (model_is_ == StatedModel::megatron) {
      set_megatron_model();
    }
    const bool stated = keys_.contains("model") || keys_.contains("model.layers");
    if (!stated) {
      throw unsaid(
          fmt::format("does not say which model it trains; state it with {}: a name of `windtunnel "
                      "list models` or a config.json",
                      request_.has_options ? "--model" : "--set model=NAME"));
    }
  }

  // Files may give a model any name if they state its dimensions.
  bool is_given_by_dimensions() const {
    if (!keys_.contains("model.layers") || !keys_.contains("model.hidden")) return false;
    try {
      model_named(text(".model"));
      return false;
    } catch (const Error&) {
      return true;
    }
  }

  void set_named_model() {
    std::string name = text(".model");
    if (keys_.contains(".model_size")) name += " " + text(".model_size");
    set("model", named_model(text(".model"), name, keys_.at(".model").from), ".model");
  }

  // Writes the dimensions as keys, so that the scenario is complete without the script.
  void set_megatron_model() {
    std::vector<Setting> settings;
    for (const auto& [key, read] : keys_) {
      if (key.starts_with("--"))
        settings.push_back({setting_name(key), read.value, read.from.where});
    }
    // An explicit dimension overrides one that follows from another setting.
    std::ranges::copy_if(model_file_.settings, std::back_inserter(settings),
                         [](const Setting& setting) { return !is_left_open(setting); });
    if (!has_setting(settings, "vocab_size")) {
      const char* usual = "128256";
      settings.push_back({"vocab_size", usual, Location{model_file_.path}});
      made_.assumed.push_back({"model.vocabulary", usual,
                               "it depends on the tokenizer, which no file states; for another "
                               "size use --set model.vocabulary=N"});
    }
    const TransformerSpec model = model_of_megatron_settings(settings, model_file_.path);
    const TransformerSpec usual;
    no_gpt_ = model.activation != usual.activation || model.normalisation != usual.normalisation ||
              model.kv_heads != model.heads || model.latent.kv_rank > 0 ||
              model.ffn_hidden != 4 * std::int64_t{model.hidden};
    set_part("model", model, usual);
    if (model.moe.experts > 0) set_part("model.moe", model.moe, usual.moe);
    if (model.latent.kv_rank > 0) set_part("model.latent", model.latent, usual.latent);
    if (model.sparse.heads > 0) set_part("model.sparse", model.sparse, usual.sparse);
    if (model.mamba.state > 0) set_part("model.mamba", model.mamba, usual.mamba);
  }

  // Whether leaving the key out would give another value than the usual one, because other stated
  // keys imply Llama's forms (model_defaults.cpp) or the software sets it.
  bool decided_elsewhere(const std::string& key) const {
    static constexpr std::string_view kForms[] = {"model.activation", "model.normalisation",
                                                  "model.position", "model.biases",
                                                  "model.tied_embeddings"};
    if (no_gpt_ && std::ranges::find(kForms, key) != std::end(kForms)) return true;
    const std::string name = keys_.contains("software") ? text("software") : made_.software;
    if (name.empty()) return false;
    return std::ranges::any_of(find_framework(name).choices, [&](const SoftwareChoice& choice) {
      return std::ranges::find(choice.set, key, &std::pair<std::string, std::string>::first) !=
             choice.set.end();
    });
  }

  // Writes the values that differ from the usual ones, or from those that the software sets.
  template <class Part>
  void set_part(const std::string& path, const Part& part, const Part& usual) {
    for (const BoundRow& row : bound_rows<Part>(path)) {
      const std::string key = join_path(path, row.key);
      const std::optional<Value> value = value_in(part, *row.field, key);
      const std::optional<Value> otherwise = value_in(usual, *row.field, key);
      const bool is_usual = value && otherwise && text_of(*otherwise) == text_of(*value);
      if (!value || (is_usual && !decided_elsewhere(key))) continue;
      set(key, text_of(*value));
    }
  }

  static bool has_setting(const std::vector<Setting>& settings, std::string_view name) {
    return std::ranges::any_of(
        settings, [&](const Setting& setting) { return ends_with_name(setting.name, name); });
  }

  // Layers of the model; 0 if the model is in a file of its own.
  double layers() const {
    if (const std::optional<double> stated = count("model.layers")) return *stated;
    const std::string model = text("model");
    if (model.empty() || model.starts_with("'")) return 0;
    return find_model(model).layers;
  }

  // --- Layout and batch ---

  // The axis whose size is -1 gets `all` divided by the other axes. What a file says overrides the
  // program's default.
  void fill_axis(std::initializer_list<const char*> axes, double all, const char* of) {
    std::string open, stated, asked;
    double others = 1;
    const auto is_stated = [&](const std::string& key) {
      return keys_.contains(key) && !keys_.at(key).from.name.empty();
    };
    for (const std::string axis : axes) {
      if (number(axis).value_or(1) >= 0) {
        others *= count_or_1(axis);
        if (is_stated(axis) && count_or_1(axis) > 1) stated = axis;
        if (requested(axis) && count_or_1(axis) > 1) asked = axis;
      } else if (open.empty() || !is_stated(open)) {
        if (!open.empty()) keys_.at(open).value = "1";
        open = axis;
      } else if (!is_stated(axis)) {
        keys_.at(axis).value = "1";
      } else {
        throw Error(place(axis),
                    fmt::format("{}: {} is -1, too, but only one axis can take the remaining GPUs",
                                keys_.at(axis).from.name, keys_.at(open).from.name));
      }
    }
    if (open.empty()) return;
    const double rest = all / others;
    const bool fits = rest >= 1 && rest == std::floor(rest);
    if (!fits && !asked.empty()) {
      throw Error(
          fmt::format("--set {}: the stated axes make {:.0f}, but {:.0f} {} are no multiple of "
                      "that; give another value, or another cluster",
                      asked, others, all, of));
    }
    if (!fits) {
      throw Error(place(stated),
                  fmt::format("{}: the axes in the file make {:.0f}, but {:.0f} {} are no multiple "
                              "of that; give the cluster for which the file was written",
                              keys_.at(stated).from.name, others, all, of));
    }
    keys_.at(open).value = fmt::format("{:.0f}", rest);
  }

  // Sets a mesh over slices. A slice is a set of chips with links of their own, or a node of GPUs.
  void set_mesh() {
    if (!keys_.contains(".slices")) return;
    const bool nodes = text(".slices") == "nodes";
    double slices = nodes ? count_or_1("cluster.nodes") : count_or_1(".slices");
    std::string by = ".slices";
    const double between = count_or_1(".copies") * count_or_1(".shards_between");
    if (!nodes && between > slices) {
      slices = between;
      by = count_or_1(".copies") > 1 ? ".copies" : ".shards_between";
    }
    if (std::fmod(gpus_, slices) != 0) {
      throw Error(place(by), fmt::format("{}: {:.0f} chips are no multiple of {:.0f} slices; give "
                                         "the cluster for which the file was written",
                                         keys_.at(by).from.name, gpus_, slices));
    }
    fill_axis({".copies", ".shards_between"}, slices, "slices");
    fill_axis({"layout.tp", "layout.cp", "layout.ep", ".shard_ranks", ".slice_copies"},
              gpus_ / slices, "chips of a slice");
    // Weights outside of experts are sharded over the expert axis, too.
    set(".shard_ranks", count_or_1(".shard_ranks") * count_or_1("layout.ep"));
  }

  // Derives the number and sizes of pipeline chunks from the layers per chunk. If the division is
  // uneven, `.chunks` says what the program does: "uneven" allows unequal chunks; "up" and "down"
  // also round their number to a multiple of the ranks.
  void set_chunks(double pp) {
    const std::optional<double> chunk = count(".layers_per_chunk");
    if (!chunk) return;
    const double all = layers();
    const std::string rounding = text(".chunks");
    double chunks = all / *chunk;
    if (!rounding.empty()) chunks = std::ceil(chunks);
    const double beyond = std::fmod(chunks, pp);
    if (beyond > 0 && rounding == "up") chunks += pp - beyond;
    if (beyond > 0 && rounding == "down") chunks -= beyond;
    if (chunks < pp || chunks > all || std::fmod(chunks, pp) != 0) {
      throw Error(
          place(".layers_per_chunk"),
          fmt::format("{}: {:.0f} layers on {:.0f} stages cannot be cut into chunks of {:.0f}",
                      keys_.at(".layers_per_chunk").from.name, all, pp, *chunk));
    }
    set("layout.vpp", chunks / pp);
    const double more = std::fmod(all, chunks);  // the first `more` chunks have one more layer
    if (more == 0) return;
    std::vector<int> sizes;
    for (int i = 0; i < static_cast<int>(chunks); ++i) {
      sizes.push_back(static_cast<int>(all / chunks) + (i < more ? 1 : 0));
    }
    set("layout.stages", fmt::format("[{}]", fmt::join(sizes, ", ")), ".layers_per_chunk");
  }

  void set_layout() {
    const double pp = count_or_1("layout.pp");
    const double others = count_or_1("layout.tp") * pp * count_or_1("layout.cp");
    dp_ = gpus_ / others;
    if (dp_ != std::floor(dp_)) {
      const std::string divides = count_or_1("layout.tp") > 1 ? "layout.tp"
                                  : pp > 1                    ? "layout.pp"
                                                              : "layout.cp";
      throw Error(
          place(divides),
          fmt::format("{:.0f} GPUs are no multiple of tp x pp x cp = {:.0f}", gpus_, others));
    }
    if (pp > 1) set_chunks(pp);
    // A schedule has no effect without a pipeline.
    if (pp == 1 && keys_.contains("schedule") && !requested("schedule")) ignore("schedule");
    if (pp > 1 && !keys_.contains("schedule")) {
      set("schedule", count_or_1("layout.vpp") > 1 ? "interleaved-1f1b" : "1f1b");
    }
    // With HSDP, dp consists of several copies of the shards.
    const std::optional<double> copies = count(".copies");
    std::optional<double> sharded = count(".shard_ranks");
    if (!sharded && copies) sharded = dp_ / *copies;
    if (keys_.contains(".shards_in_node")) {
      sharded = std::max(1.0, std::floor(gpus_of_node_ / others));
    }
    if (sharded) *sharded *= count_or_1(".shards_between");
    if (sharded && *sharded * count_or_1("layout.cp") < dp_ * count_or_1("layout.cp")) {
      set("layout.shard_ranks", *sharded * count_or_1("layout.cp"));
    }
  }

  // Drops offload that the program would not do: an optimizer if its share is 0, a share
  // without an optimizer, and gradients or weights without the sharding that this needs.
  void set_offload() {
    const std::string optimizer = "offload.optimizer", share = "offload.optimizer_share",
                      gradients = "offload.gradients", weights = "offload.weights";
    const bool shared = keys_.contains(share) && !requested(share);
    if (shared && number(share) == 0.0 && !requested(optimizer)) drop(optimizer);
    const bool away = keys_.contains(optimizer);
    if (shared && !away) ignore(share);
    const std::string sharding = text("layout.sharding");
    const bool shards_weights = sharding == "zero3" || dp_ * count_or_1("layout.cp") == 1;
    const bool shards_gradients = sharding == "zero2" || shards_weights;
    // Gradients that are not sharded go to the host once a step with any offloaded optimizer.
    if (!requested(gradients) && !(away && shards_gradients)) drop(gradients);
    if (requested(weights) || !keys_.contains(weights) || (away && shards_weights)) return;
    made_.left_out.push_back({keys_.at(weights).from,
                              "weights on the host, which are modelled with zero3 and an offloaded "
                              "optimizer"});
    drop(weights);
  }

  void set_batch() {
    const double steps = count_or_1(".accumulation");
    std::optional<double> global = count("batch.global");
    std::optional<double> micro = count("batch.micro");
    std::string by = ".tokens";
    if (const auto tokens = count(".tokens"); !global && tokens && count("batch.sequence")) {
      global = *tokens / *count("batch.sequence");
    }
    std::string micro_by;  // empty: as `by`
    if (const auto tokens = count(".micro_tokens"); !micro && tokens && count("batch.sequence")) {
      micro_by = ".micro_tokens";
      micro = *tokens / *count("batch.sequence");
      if (*micro != std::floor(*micro)) {
        throw Error(place(micro_by),
                    fmt::format("{}: {:.0f} tokens are no whole number of sequences "
                                "of {:.0f}",
                                keys_.at(micro_by).from.name, *tokens, *count("batch.sequence")));
      }
      if (!global) by = micro_by;
    }
    // The batch per device may be a fraction: at 0.5, two devices share a sequence.
    if (const auto each = number(".device_batch"); each && *each > 0) {
      by = ".device_batch";
      const double shared = *each * gpus_ / dp_;
      if (shared != std::floor(shared)) {
        throw Error(place(by), fmt::format("{}: {} on each of the {:.0f} GPUs that share a "
                                           "sequence do not make whole sequences",
                                           keys_.at(by).from.name, *each, gpus_ / dp_));
      }
      if (!global) global = shared * dp_ * steps;
      if (!micro) micro = shared;
    }
    if (const auto each = count(".replica_batch")) {
      by = ".replica_batch";
      if (!micro) micro = count_or_1("layout.pp") > 1 ? count_or_1(".pipeline_micro") : *each;
      if (!global) global = *each * steps * dp_;
    }
    if (!global && micro && (count(".accumulation") || count_or_1("layout.pp") == 1)) {
      global = *micro * steps * dp_;
    }
    if (!global) {
      throw unsaid(
          "does not say how many sequences a step has; state it, for example with --set "
          "batch.global=1024");
    }
    if (!count("batch.sequence")) {
      throw unsaid(
          "does not say how many tokens a sequence has; state it, for example with --set "
          "batch.sequence=4096");
    }
    if (!micro && std::fmod(*global, dp_ * steps) == 0) micro = *global / (dp_ * steps);
    if (!keys_.contains("batch.global")) set("batch.global", *global, by);
    if (micro && !keys_.contains("batch.micro")) {
      set("batch.micro", *micro, micro_by.empty() ? by : micro_by);
    }
  }

  // --- The text ---

  static void insert(DocumentNode& tree, const std::string& key, const std::string& value,
                     const Location& where) {
    const std::vector<std::string> path = split_path(key);
    DocumentNode* node = &tree;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const bool last = i + 1 == path.size();
      DocumentEntry* entry = node->find(path[i]);
      if (entry == nullptr) {
        node->entries.push_back(
            {path[i], where, document_node(DocumentNode::Kind::map, "", where)});
        entry = &node->entries.back();
      }
      if (last) entry->value = parse_document(value, where.file, false);
      node = &entry->value;
    }
  }

  void write() {
    DocumentNode tree = document_node(DocumentNode::Kind::map, "", {});
    const std::string name = fs::path(request_.files.front()).stem();
    insert(tree, "name", name, {});
    for (const char* part : {"model", "cluster", "software", "layout", "schedule", "batch"}) {
      for (const std::string& key : order_) {
        if (key == part || key.starts_with(std::string(part) + ".")) write_key(tree, key);
      }
    }
    for (const std::string& key : order_) write_key(tree, key);
    made_.text = scenario_text_of(tree, comments());
  }

  // Writes "software: torchtitan" if no key below "software" is stated. With "software.fusion" the
  // name becomes the base: "software: {base: torchtitan, fusion: ...}".
  std::string whole_key(const std::string& key) const {
    const Field* field = find_field(key);
    if (field == nullptr || field->shorthand.empty()) return key;
    const bool more = std::ranges::any_of(
        order_, [&](const std::string& other) { return other.starts_with(key + "."); });
    return more ? join_path(key, field->shorthand) : key;
  }

  void write_key(DocumentNode& tree, const std::string& key) {
    if (key.starts_with(".") || key.starts_with("--") || written_.contains(key)) return;
    const ReadKey& read = keys_.at(key);
    insert(tree, whole_key(key), read.value, read.from.where);
    written_.insert(key);
    if (!read.from.name.empty()) made_.read.push_back(read);
  }

  // Comments above each part name the settings that its keys come from.
  PartComments comments() const {
    PartComments comments;
    std::map<std::string, std::string> last;  // of each part
    for (const ReadKey& read : made_.read) {
      const std::vector<std::string> path = split_path(read.key);
      const std::string file = fs::path(read.from.where.file).filename();
      const std::string of = fmt::format("{} {}:", path.back(), file);
      const std::string at = fmt::format("{}{}", of, read.from.where.line);
      std::string& comment = comments[path.front()];
      std::string& before = last[path.front()];
      if (at == before) continue;
      const bool goes_on = before.starts_with(of);
      comment += goes_on ? fmt::format(", {}", read.from.where.line)
                         : fmt::format("{}{}", comment.empty() ? "" : ", ", at);
      before = at;
    }
    for (const AssumedSetting& assumed : made_.assumed) {
      std::string& comment = comments[split_path(assumed.key).front()];
      comment +=
          fmt::format("{}{} is assumed: {}", comment.empty() ? "" : "; ", assumed.key, assumed.why);
    }
    return comments;
  }

  std::set<std::string> written_;
  bool no_gpt_ = false;  // Megatron-LM's arguments state a model with other forms than GPT-2
  double gpus_ = 0;
  double gpus_of_node_ = 0;
  double dp_ = 0;
};

}  // namespace

ImportedScenario import_scenario(const ImportRequest& request) {
  return ScenarioImport(request).result();
}

}  // namespace windtunnel
