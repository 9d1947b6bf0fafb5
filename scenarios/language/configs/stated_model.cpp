#include "scenarios/language/configs/stated_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "models/base/find_named.hpp"
#include "scenarios/language/configs/setting.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

constexpr double kMostStated = 100'000'000;  // so that sums of numbers stay exact

std::vector<std::string> alternatives(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t bar = text.find('|'); bar != text.npos; bar = text.find('|')) {
    names.emplace_back(text.substr(0, bar));
    text.remove_prefix(bar + 1);
  }
  names.emplace_back(text);
  return names;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0;
}

std::optional<std::string> text_at(const DocumentNode& map, const std::string& key) {
  if (map.value_of(key) == nullptr) return std::nullopt;
  return require_text(map, key);
}

double number_at(const DocumentNode& map, const std::string& key) {
  const DocumentNode* node = map.value_of(key);
  return node == nullptr ? 0 : quantity(*node, Dimension::number, key);
}

StatedRow read_stated_row(const std::string& key, const Field* field, const DocumentNode& node) {
  if (node.kind == DocumentNode::Kind::scalar) {
    return {.key = key, .field = field, .of = alternatives(node.text)};
  }
  require_map(node, key);
  check_keys(node, {"of", "is", "or", "words", "refused", "times", "plus", "same_as", "if",
                    "at_least", "none"});
  StatedRow row{.key = key, .field = field};
  if (node.value_of("of") != nullptr) row.of = alternatives(require_text(node, "of"));
  row.is = text_at(node, "is");
  row.otherwise = text_at(node, "or");
  if (const DocumentNode* words = node.value_of("words")) {
    for (const DocumentEntry& each : words->entries)
      row.words.emplace_back(each.key, each.value.text);
  }
  row.refused = text_or_empty(node, "refused");
  row.times = text_or_empty(node, "times");
  row.plus = text_or_empty(node, "plus");
  row.same_as = text_or_empty(node, "same_as");
  row.only_if = text_or_empty(node, "if");
  row.at_least = number_at(node, "at_least");
  row.none = number_at(node, "none");
  return row;
}

// The part of the model that rows of the field table set.
void* part_of_model(TransformerSpec& model, const void* type) {
  const std::pair<const void*, void*> parts[] = {{&kTypeTag<TransformerSpec>, &model},
                                                 {&kTypeTag<MixtureOfExperts>, &model.moe},
                                                 {&kTypeTag<LatentAttention>, &model.latent},
                                                 {&kTypeTag<SparseAttention>, &model.sparse},
                                                 {&kTypeTag<MambaMixer>, &model.mamba}};
  for (const auto& [known, part] : parts) {
    if (known == type) return part;
  }
  throw InternalError("a key of no part of a model");
}

Value value_in_model(const Field& field, const TransformerSpec& model) {
  Value value{.field = &field, .dimension = field.dimension};
  auto& read = const_cast<TransformerSpec&>(model);  // only its address is used
  field.binding.read(part_of_model(read, field.binding.target), value);
  return value;
}

const Field* field_of_model(const std::string& key) {
  return find_field("model." + key);
}

// Keys of an entry that are no rows.
constexpr std::string_view kOfEntry[] = {"base",           "reads", "left_out",
                                         "full_attention", "part",  "defaults"};

}  // namespace

bool ModelForm::states(std::string_view key) const {
  return std::ranges::find(rows, key, &StatedRow::key) != rows.end();
}

const DocumentNode& model_files() {
  static const DocumentNode document = library_document("model_files.yaml");
  return document;
}

std::vector<StatedRow> read_stated_rows(const DocumentNode& entry) {
  std::vector<StatedRow> rows;
  for (const DocumentEntry& each : entry.entries) {
    if (std::ranges::find(kOfEntry, each.key) != std::end(kOfEntry)) continue;
    const Field* field = field_of_model(each.key);
    if (field == nullptr && !each.key.starts_with('.')) {
      throw Error(each.where, fmt::format("a model has no key '{}'", each.key));
    }
    if (each.value.kind != DocumentNode::Kind::list) {
      rows.push_back(read_stated_row(each.key, field, each.value));
    }
    for (const DocumentNode& item : each.value.items) {
      rows.push_back(read_stated_row(each.key, field, item));
    }
  }
  return rows;
}

std::vector<ModelForm> read_model_forms(const DocumentNode& entries) {
  std::vector<ModelForm> forms;
  for (const auto& [name, where, map] : entries.entries) {
    require_map(map, name);
    ModelForm form;
    if (const DocumentNode* base = map.value_of("base")) {
      form = find_named(forms, "entry before it", base->text, base->where);
    }
    form.name = name;
    form.defaults = {};
    std::vector<StatedRow> own = read_stated_rows(map);
    // Names of a row that is stated again change nothing.
    std::erase_if(form.rows, [&](const StatedRow& row) {
      if (std::ranges::find(own, row.key, &StatedRow::key) == own.end()) return false;
      form.reads.insert(form.reads.end(), row.of.begin(), row.of.end());
      return true;
    });
    form.rows.insert(form.rows.end(), own.begin(), own.end());
    if (const DocumentNode* reads = map.value_of("reads")) {
      for (const std::string& each : texts_of(*reads)) form.reads.push_back(each);
    }
    if (const DocumentNode* left_out = map.value_of("left_out")) {
      for (const DocumentEntry& each : left_out->entries) {
        form.left_out.emplace_back(alternatives(each.key), each.value.text);
      }
    }
    if (const DocumentNode* lists = map.value_of("full_attention")) {
      form.full_attention.clear();
      check_keys(*lists, {"words", "flags", "numbers"});
      for (const DocumentEntry& each : lists->entries) {
        form.full_attention[each.key] = each.value.text;
      }
    }
    if (map.value_of("part") != nullptr) form.part = require_text(map, "part");
    if (const DocumentNode* defaults = map.value_of("defaults")) form.defaults = *defaults;
    forms.push_back(std::move(form));
  }
  return forms;
}

Value value_of_row(const StatedRow& row, const TransformerSpec& model) {
  return value_in_model(*row.field, model);
}

bool is_unusual(const std::string& key, const TransformerSpec& model) {
  const Field& field = *field_of_model(key);
  return text_of(value_in_model(field, model)) != text_of(value_in_model(field, {}));
}

std::optional<int> ModelReader::find(std::string_view quantity) const {
  const auto found = quantities_.find(quantity);
  return found == quantities_.end() ? std::nullopt : std::optional(found->second);
}

bool ModelReader::applies(const StatedRow& row) const {
  if (row.only_if.empty()) return true;
  if (row.only_if.starts_with('.')) return find(row.only_if).value_or(0) != 0;
  if (field_of_model(row.only_if) == nullptr)
    return file_.has(row.only_if) && file_.flag(row.only_if);
  return is_unusual(row.only_if, model_);
}

// The number of a key or quantity; nothing: no row has stated the quantity.
std::optional<double> ModelReader::known(const std::string& name) const {
  if (name == ".head_width") return model_.head_dim();
  if (name == ".usual_ffn") {
    const std::int64_t wide = std::int64_t{4} * model_.hidden;
    return double(model_.activation == Activation::swiglu ? wide * 2 / 3 / 64 * 64 : wide);
  }
  if (name == ".usual_scan_heads") {
    return model_.mamba.head_width > 0 ? 2 * model_.hidden / model_.mamba.head_width : 0;
  }
  if (name.starts_with('.')) return find(name);
  const Field* field = field_of_model(name);
  CHECK(field != nullptr, "a model has no number '{}'", name);
  return value_in_model(*field, model_).number;
}

// The number that holds if the file lacks the row's name; nothing: there is none.
std::optional<double> ModelReader::otherwise(const StatedRow& row) const {
  const std::optional<std::string>& text = row.is ? row.is : row.otherwise;
  if (!text) return std::nullopt;
  const std::size_t blank = text->find(' ');
  if (blank != text->npos) return std::stod(*text) * *known(text->substr(blank + 1));
  return is_number(*text) ? std::stod(*text) : known(*text);
}

int ModelReader::whole(const StatedRow& row, const std::string& name) const {
  const std::optional<double> usual = file_.has(name) && !row.is ? std::nullopt : otherwise(row);
  double value = usual ? *usual : file_.whole(name);
  if (!row.same_as.empty() && file_.whole(row.same_as) != value) {
    throw Error(file_.where(row.same_as),
                fmt::format("{}: {} differs from {} of the encoder; only stacks of the same "
                            "width are modelled",
                            row.same_as, file_.whole(row.same_as), value));
  }
  if (value == row.none) value = 0;
  value = std::max(value, row.at_least);
  if (!row.times.empty()) value *= *known(row.times);
  return static_cast<int>(std::min(value, kMostStated));
}

bool ModelReader::flag(const StatedRow& row, const std::string& name) const {
  const bool stated = !row.is && file_.has(name);
  if (!row.words.empty()) return word(row, name) == "true";
  const std::string usual = row.is ? *row.is : row.otherwise.value_or("");
  if (!is_number(usual)) return stated ? file_.flag(name) : usual == "true";
  const bool more = !row.plus.empty() && file_.has(row.plus) && file_.number(row.plus) > 0;
  return (stated ? file_.number(name) : std::stod(usual)) > 0 || more;
}

// Empty: the key keeps its value.
std::string ModelReader::word(const StatedRow& row, const std::string& name) const {
  if (row.is || !file_.has(name)) {
    const std::string usual = row.is ? *row.is : row.otherwise.value_or("");
    return usual == row.key ? "" : usual;
  }
  const std::string said = file_.word(name);
  const std::string stated = in_lower_case(said);
  for (const auto& [word, meaning] : row.words) {
    const bool begins = word.ends_with('*') && stated.starts_with(word.substr(0, word.size() - 1));
    if (in_lower_case(word) != stated && word != "any" && !begins) continue;
    return meaning == row.key ? "" : meaning;
  }
  throw Error(file_.where(name), fmt::format("{}: '{}' {}", name, said, row.refused));
}

void ModelReader::read(const std::vector<StatedRow>& rows) {
  for (const StatedRow& row : rows) {
    if (!applies(row)) continue;
    const auto stated =
        std::ranges::find_if(row.of, [&](const std::string& name) { return file_.has(name); });
    const std::string name = row.of.empty()           ? ""
                             : stated == row.of.end() ? row.of.front()
                                                      : *stated;
    if (row.field == nullptr) {
      quantities_[row.key] = whole(row, name);
      continue;
    }
    Value value{.field = row.field, .dimension = row.field->dimension};
    switch (row.field->scalar) {
      case ScalarType::integer:
        value.number = whole(row, name);
        break;
      case ScalarType::boolean:
        value.number = flag(row, name) ? 1 : 0;
        break;
      default:
        value.text = word(row, name);
        if (value.text.empty()) continue;
    }
    row.field->binding.assign(part_of_model(model_, row.field->binding.target), value);
  }
}

}  // namespace windtunnel
