// Damages every key of two scenarios once: misspelt, of a wrong type, with a wrong unit, negative.
// The texts are changed in place, so that line and column of each message are those of a real file.
// For each kind of row in the field table one whole message is compared with a file.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <type_traits>

#include "models/compression/robust.hpp"
#include "models/reliability/stragglers/redundancy.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/text/fields.hpp"
#include "scenarios/language/text/values.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

using Kind = DocumentNode::Kind;

struct Place {
  std::string path;
  std::string key;  // last part; empty for an item of a list
  Location key_at;
  DocumentNode value;
};

struct Subject {
  std::string file;
  std::string text;
  std::vector<Place> places;

  explicit Subject(const std::string& path)
      : file(path.substr(path.rfind('/') + 1)), text(read_text_file(source_path(path))) {
    collect(parse_document(text, file), "");
  }

  void collect(const DocumentNode& node, const std::string& path) {
    for (const DocumentEntry& entry : node.entries) {
      const std::string below =
          path == "origins" ? path + ":" + entry.key : join_path(path, entry.key);
      places.push_back({below, entry.key, entry.where, entry.value});
      collect(entry.value, below);
    }
    for (size_t i = 0; i < node.items.size(); ++i) {
      const std::string below = join_path(path, std::to_string(i));
      places.push_back({below, "", {}, node.items[i]});
      collect(node.items[i], below);
    }
  }

  size_t offset_of(const Location& where) const {
    size_t offset = 0;
    for (int line = 1; line < where.line; ++line) offset = text.find('\n', offset) + 1;
    return offset + static_cast<size_t>(where.column) - 1;
  }

  // The end of a node: behind a flow list or map, or after the lines that are indented below a
  // block.
  size_t end_of(const DocumentNode& node) const {
    size_t at = offset_of(node.where);
    if (node.kind == Kind::scalar) return at + node.text.size();
    if (text[at] == '{' || text[at] == '[') {
      int depth = 0;
      do {
        if (text[at] == '{' || text[at] == '[') ++depth;
        if (text[at] == '}' || text[at] == ']') --depth;
        ++at;
      } while (depth > 0);
      return at;
    }
    while (true) {
      at = text.find('\n', at);
      if (at + 1 >= text.size()) return text.size() - 1;
      const size_t indent = text.find_first_not_of(' ', at + 1) - at - 1;
      if (indent + 1 < static_cast<size_t>(node.where.column)) return at;
      ++at;
    }
  }

  std::string with_key(const Place& place, const std::string& key) const {
    std::string changed = text;
    return changed.replace(offset_of(place.key_at), place.key.size(), key);
  }

  std::string with_value(const Place& place, const std::string& value) const {
    std::string changed = text;
    const size_t at = offset_of(place.value.where);
    return changed.replace(at, end_of(place.value) - at, value);
  }
};

std::vector<Subject> subjects() {
  return {Subject("tests/scenarios/every_key.yaml"), Subject("scenarios/llama3-405b.yaml"),
          Subject("tests/scenarios/every_pool_key.yaml"),
          Subject("tests/scenarios/every_contrastive_key.yaml")};
}

bool is_number(const Field& field) {
  return field.scalar == ScalarType::integer || field.scalar == ScalarType::quantity ||
         field.scalar == ScalarType::interval;
}

const Field* field_of(const Place& place) {
  return place.path.starts_with("origins:") ? nullptr : find_field(place.path);
}

// Keeps the first message for each kind of row.
class Sample {
 public:
  void add(const Place& place, const std::string& message) {
    const Field* field = field_of(place);
    if (!kinds_.insert(field == nullptr ? "an origin" : type_text(*field)).second) return;
    text_ += message + "\n";
  }
  // Puts `wrong` in this place of the subject and returns the message.
  std::string refusal(const Subject& subject, const Place& place, const std::string& wrong) {
    const std::string message = parse_message(subject.with_value(place, wrong), subject.file);
    add(place, message);
    return message;
  }
  void expect_golden(const std::string& what) const {
    windtunnel::expect_golden("every_key." + what + ".txt", text_);
  }

 private:
  std::set<std::string> kinds_;
  std::string text_;
};

// Misspells the last part of a key: with an extra letter, and with two letters swapped.
std::vector<std::string> misspelt(const std::string& key) {
  const std::string last = split_path(key).back();
  const std::string start = key.substr(0, key.size() - last.size());
  std::vector<std::string> wrong = {start + "x" + last};
  if (last.size() >= 5) {
    std::string swapped = key;
    std::swap(swapped[key.size() - 2], swapped[key.size() - 3]);
    if (swapped != key) wrong.push_back(swapped);
  }
  return wrong;
}

// Whether the key belongs to a fabric other than every_key.yaml's, which is a plain fat tree with
// ECMP.
bool of_another_fabric(std::string_view path) {
  const std::string key = split_path(path)[2];
  return key == "parts" || !belongs_to(key, Topology::fat_tree);
}

TEST(BadValues, SubjectsThemselvesAreAccepted) {
  for (const Subject& subject : subjects()) {
    EXPECT_EQ(parse_message(subject.text, subject.file), "no error");
  }
}

TEST(BadValues, EveryKeyOfTheTableIsCovered) {
  std::set<std::string> covered;
  for (const Subject& subject : subjects()) {
    for (const Place& place : subject.places) covered.insert(pattern_of(place.path));
  }
  for (const Field& field : field_table()) {
    // Other tests cover the other form of layout.stages, and keys that contradict the schedule's
    // name.
    if (field.path.empty() || field.path == "layout.stages.*") continue;
    if (field.path == "schedule.file" || field.path == "schedule.memory_limit") continue;
    // quality_curve_test.cpp tests other ways to state the length of training.
    if (field.path == "job.steps" || field.path == "job.quality") continue;
    // placement_test.cpp and company_test.cpp test these, which need a file or several jobs.
    if (field.path == "layout.placement" || field.path == "placement") continue;
    if (field.path.starts_with("jobs")) continue;
    // resolve_compressor_test.cpp tests these: every compressor takes a few of them, and `none`
    // takes none.
    const bool of_compressor = field.path.starts_with("communication.compressor.") ||
                               field.path.starts_with("compress.*.") ||
                               field.path.starts_with("sync.*.compressor.");
    if (of_compressor && !field.path.ends_with(".name") && !field.path.ends_with(".axis")) {
      continue;
    }
    // resolve_sync_test.cpp tests patterns that contradict each other.
    if (field.path == "sync.*.rates" || field.path == "sync.*.growth" ||
        field.path == "sync.*.graph" || field.path == "sync.*.peers" ||
        field.path == "sync.*.events" || field.path.starts_with("sync.*.paths")) {
      continue;
    }
    // resolve_offload_test.cpp tests chunks, which contradict shares.
    if (field.path == "offload.chunk") continue;
    // resolve_volunteers_test.cpp tests these, which need a file or jobs of one GPU.
    if (field.path == "volunteers.trace" || field.path == "fuse") continue;
    // resolve_campaign_test.cpp tests this, which needs a file.
    if (field.path == "failures.*.arrivals.capacity") continue;
    // length_plan_test.cpp tests unequal sequences, because only some orders accept them.
    if (field.path.starts_with("batch.lengths")) continue;
    // megatron_arguments_test.cpp tests this, because its layers have one half, so nothing hides in
    // another.
    if (field.path == "model.hybrid_override_pattern") continue;
    // resolve_rollout_test.cpp tests engines, which exclude frames.
    if (field.path.starts_with("rollout")) continue;
    // resolve_cluster_test.cpp tests this, because its laws contradict each other.
    if (field.path.starts_with("cluster.jitter")) continue;
    // resolve_fabric_test.cpp tests the keys of other fabrics, which contradict this one's.
    if (field.path.starts_with("cluster.fabric.") && of_another_fabric(field.path)) continue;
    // resolve_pools_test.cpp, uneven_state_test.cpp and placement_test.cpp test other forms of
    // shares and places.
    if (field.path == "batch.shares.*" || field.path == "layout.shard_shares.*") continue;
    if (field.path.starts_with("layout.place.dp")) continue;
    EXPECT_TRUE(covered.contains(std::string(field.path))) << field.path;
  }
}

TEST(BadValues, MisspeltKeys) {
  Sample sample;
  for (const Subject& subject : subjects()) {
    for (const Place& place : subject.places) {
      if (place.key.empty()) continue;
      for (const std::string& wrong : misspelt(place.key)) {
        const std::string message = parse_message(subject.with_key(place, wrong), subject.file);
        sample.add(place, message);
        const std::string where =
            fmt::format("{}:{}:{}: ", subject.file, place.key_at.line, place.key_at.column);
        EXPECT_TRUE(message.starts_with(where)) << message;
        const std::string right = fmt::format("did you mean '{}'?", split_path(place.key).back());
        EXPECT_NE(message.find(right), std::string::npos) << message;
      }
    }
  }
  sample.expect_golden("misspelt");
}

TEST(BadValues, WrongTypes) {
  Sample sample;
  for (const Subject& subject : subjects()) {
    for (const Place& place : subject.places) {
      const Field* field = field_of(place);
      const bool scalar = place.value.kind == Kind::scalar;
      if (field == nullptr && !scalar) continue;
      const bool map = field != nullptr && field->map;
      const std::string wrong = !scalar ? "7" : map ? "[7, 8]" : "{seven: 8}";
      std::string changed = place.path.starts_with("origins:")
                                ? subject.text  // a quoted text, which is changed as a whole below
                                : subject.with_value(place, wrong);
      if (changed == subject.text) continue;
      const std::string message = parse_message(changed, subject.file);
      sample.add(place, message);
      EXPECT_TRUE(message.starts_with(subject.file + ":")) << place.path << ": " << message;
      const bool says = message.find(place.path + ": ") != std::string::npos &&
                        message.find("expected ") != std::string::npos;
      EXPECT_TRUE(says || message.find(": unknown ") != std::string::npos) << message;
    }
  }
  sample.expect_golden("wrong_type");
}

TEST(BadValues, WrongUnits) {
  Sample sample;
  for (const Subject& subject : subjects()) {
    for (const Place& place : subject.places) {
      const Field* field = field_of(place);
      if (field == nullptr || place.value.kind != Kind::scalar) continue;
      if (!is_number(*field)) continue;
      std::vector<std::string> wrongs = {"7 parsecs"};
      wrongs.push_back(field->dimension == Dimension::bytes ? "7 h" : "7 GB");
      const bool unit =
          field->scalar == ScalarType::interval || field->dimension != Dimension::number;
      if (unit && field->dimension != Dimension::count) wrongs.push_back("7");
      for (const std::string& wrong : wrongs) {
        const std::string message = sample.refusal(subject, place, wrong);
        const std::string where =
            fmt::format("{}:{}:{}: {}: ", subject.file, place.value.where.line,
                        place.value.where.column, place.path);
        EXPECT_TRUE(message.starts_with(where)) << message;
      }
    }
  }
  sample.expect_golden("wrong_unit");
}

TEST(BadValues, NegativeNumbers) {
  Sample sample;
  for (const Subject& subject : subjects()) {
    for (const Place& place : subject.places) {
      const Field* field = field_of(place);
      if (field == nullptr || place.value.kind != Kind::scalar) continue;
      if (!is_number(*field) || field->path.starts_with("layout.stages."))
        continue;  // may be negative
      const std::string digits = place.value.text == "0" ? "1" : place.value.text;
      const std::string wrong = "-" + digits;
      const std::string message = sample.refusal(subject, place, wrong);
      EXPECT_TRUE(message.starts_with(fmt::format("{}:{}:{}: {}: must be ", subject.file,
                                                  place.value.where.line, place.value.where.column,
                                                  place.path)))
          << message;
    }
  }
  sample.expect_golden("negative");
}

// A huge number is above every limit of the table, in the unit of the subject's value.
TEST(BadValues, HugeNumbers) {
  const Subject subject("tests/scenarios/every_key.yaml");
  Sample sample;
  for (const Place& place : subject.places) {
    const Field* field = field_of(place);
    if (field == nullptr || place.value.kind != Kind::scalar) continue;
    if (!is_number(*field)) continue;
    const size_t space = place.value.text.find(' ');
    const std::string unit = space == std::string::npos ? "" : place.value.text.substr(space);
    const std::string wrong = "1e40" + unit;
    const std::string message = sample.refusal(subject, place, wrong);
    EXPECT_NE(message.find(": must be at most "), std::string::npos) << place.path << message;
    EXPECT_NE(message.find(fmt::format(":{}:{}: {}", place.value.where.line,
                                       place.value.where.column, place.path)),
              std::string::npos)
        << message;
  }
  sample.expect_golden("huge");
}

// A tiny number is below every range of the table but not 0, in the unit of the subject's value.
TEST(BadValues, TinyNumbers) {
  const Subject subject("tests/scenarios/every_key.yaml");
  Sample sample;
  int asked = 0;
  for (const Place& place : subject.places) {
    const Field* field = field_of(place);
    if (field == nullptr || place.value.kind != Kind::scalar) continue;
    if (!is_number(*field)) continue;
    const size_t space = place.value.text.find(' ');
    const std::string unit = space == std::string::npos ? "" : place.value.text.substr(space);
    const std::string message = sample.refusal(subject, place, "1e-300" + unit);
    EXPECT_NE(message.find(fmt::format(":{}:{}: {}", place.value.where.line,
                                       place.value.where.column, place.path)),
              std::string::npos)
        << place.path << ": " << message;
    ++asked;
  }
  EXPECT_GT(asked, 200);
}

// The help of a key may state a default, which must be that of its struct.
TEST(FieldTable, HelpTellsTheDefaultOfTheStruct) {
  int told = 0;
  const auto check = [&](const auto& usual) {
    using Struct = std::remove_cvref_t<decltype(usual)>;
    for (const Field& field : field_table()) {
      const std::size_t at = field.help.find("default: ");
      if (field.binding.target != &kTypeTag<Struct> || at == std::string_view::npos) continue;
      std::string_view said = field.help.substr(at + 9);
      said = said.substr(0, said.find(','));  // what follows a comma may explain the default
      if (said.empty() || std::isdigit(static_cast<unsigned char>(said[0])) == 0) continue;
      Value value{.field = &field, .dimension = field.dimension};
      ASSERT_TRUE(field.binding.read(&usual, value)) << field.path;
      EXPECT_EQ(said, text_of(value)) << field.path;
      ++told;
    }
  };
  check(Redundancy{});
  check(RobustAggregation{});
  EXPECT_EQ(told, 8);
}

// A scenario that leaves the key open is read without looking the name up.
TEST(FieldTable, DefaultsAreAmongTheNamesOfTheirKey) {
  int named = 0;
  for (const Field& field : field_table()) {
    if (field.scalar != ScalarType::name || field.default_text.empty()) continue;
    if (field.list && field.default_text == "[]") continue;
    EXPECT_EQ(std::ranges::count(names_of(field), field.default_text), 1) << field.path;
    ++named;
  }
  EXPECT_GT(named, 30);
}

// The limits themselves are accepted, in any unit.
TEST(BadValues, LimitsAreInside) {
  const Subject subject("tests/scenarios/every_key.yaml");
  for (const auto& [key, value] : Overrides{
           {"failures.0.rate", "10 per node-day"},
           {"failures.0.rate", "10000 per 1000 node-days"},
           {"failures.0.arrivals.weibull", "0.1"},
           {"failures.2.repair", "876000 h"},
           {"job.price", "1000000 USD per gpu-hour"},
           {"job.price", "24000000 USD per gpu-day"},
           {"recovery.restart", "36500 d"},
           {"snapshots.0.every", "36500 d"},
           {"snapshots.0.every", "1000000000 iterations"},
           {"cluster.node.nic", "1 B/s"},
           {"cluster.slow_nodes.0.slowdown", "10000"},
           {"cluster.degraded_nics.0.factor", "1e-6"},
           {"campaign.replicas", "1000000"},
       }) {
    EXPECT_EQ(parse_message(subject.text, subject.file, {{key, value}}), "no error") << key;
  }
}

TEST(BadValues, UnknownNames) {
  Sample sample;
  for (const Subject& subject : subjects()) {
    for (const Place& place : subject.places) {
      const Field* field = field_of(place);
      if (field == nullptr || place.value.kind != Kind::scalar) continue;
      if (field->scalar != ScalarType::name && field->shorthand.empty()) continue;
      const std::string wrong = place.value.text + "x";
      const std::string message = sample.refusal(subject, place, wrong);
      const std::string right = fmt::format("did you mean '{}'?", place.value.text);
      EXPECT_NE(message.find(right), std::string::npos) << message;
    }
  }
  sample.expect_golden("unknown_name");
}

}  // namespace
}  // namespace windtunnel
