#include "tests/sim/jobs/job_features.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>

#include "report/figures/idle_keys.hpp"
#include "scenarios/language/text/document.hpp"
#include "sim/study/record_invariants.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

constexpr const char* kFile = "tests/sim/jobs/features.yaml";

std::string value_text(const DocumentNode& node) {
  return node.kind == DocumentNode::Kind::scalar ? node.text : flow_text(node);
}

Overrides read_keys(const DocumentNode& map) {
  Overrides keys;
  for (const DocumentEntry& key : map.entries) {
    if (key.value.kind == DocumentNode::Kind::null) continue;
    keys.emplace_back(key.key, value_text(key.value));
  }
  return keys;
}

JobFeature read_feature(const DocumentEntry& entry) {
  JobFeature feature{.name = entry.key, .keys = read_keys(entry.value), .no = {}};
  for (const DocumentEntry& key : entry.value.entries) {
    if (key.value.kind == DocumentNode::Kind::null) feature.no.push_back(key.key);
  }
  return feature;
}

FeatureList read_features() {
  const std::string path = std::string(WINDTUNNEL_SOURCE_DIR) + "/" + kFile;
  const DocumentNode document = parse_document(read_text_file(path), kFile);
  FeatureList list;
  list.job = read_keys(*document.value_of("job"));
  for (const DocumentEntry& entry : document.value_of("features")->entries) {
    list.features.push_back(read_feature(entry));
  }
  for (const DocumentNode& row : document.value_of("sizes")->items) {
    SizesTogether sizes{.of = {}, .keys = read_keys(row.items.back())};
    for (const DocumentNode& name : std::span(row.items).first(row.items.size() - 1)) {
      sizes.of.push_back(list.index_of(name.text));
    }
    list.sizes.push_back(std::move(sizes));
  }
  for (const DocumentNode& pairs : document.value_of("wanted")->items) {
    for (const DocumentNode& first : pairs.items.at(0).items) {
      for (const DocumentNode& second : pairs.items.at(1).items) {
        list.wanted.push_back({list.index_of(first.text), list.index_of(second.text)});
      }
    }
  }
  return list;
}

// Returns whether the feature removes this key from the job.
bool takes_out(const JobFeature& feature, const std::string& key) {
  return std::ranges::count(feature.no, key) > 0;
}

// Returns the keys of the base job that no feature sets or removes.
Overrides rest_of_job(std::span<const std::size_t> features) {
  Overrides rest;
  for (const auto& each : job_features().job) {
    const bool replaced = std::ranges::any_of(features, [&](std::size_t i) {
      const JobFeature& own = job_features().features[i];
      return std::ranges::any_of(
                 own.keys, [&](const auto& key) { return are_nested(key.first, each.first); }) ||
             takes_out(own, each.first);
    });
    if (!replaced) rest.push_back(each);
  }
  return rest;
}

// Matches all messages of a row, whatever replaces its braces.
struct RowPattern {
  const Conflict* row;
  std::size_t letters = 0;  // of the row's fixed words
  std::unique_ptr<RE2> pattern;
};

RowPattern pattern_of(const Conflict& row) {
  std::string_view why = row.why;
  why.remove_prefix(std::min(why.find_first_not_of(": "), why.size()));
  RowPattern result{.row = &row, .letters = 0, .pattern = nullptr};
  std::string pattern;
  while (!why.empty()) {
    const std::size_t brace = std::min(why.find('{'), why.size());
    pattern += RE2::QuoteMeta(std::string(why.substr(0, brace)));
    result.letters += brace;
    if (brace == why.size()) break;
    pattern += ".*";
    why.remove_prefix(why.find('}') + 1);
  }
  result.pattern = std::make_unique<RE2>(pattern);
  return result;
}

}  // namespace

std::size_t FeatureList::index_of(const std::string& name) const {
  const auto found = std::ranges::find(features, name, &JobFeature::name);
  CHECK(found != features.end(), "no feature '{}'", name);
  return static_cast<std::size_t>(found - features.begin());
}

const FeatureList& job_features() {
  static const FeatureList list = read_features();
  return list;
}

const Conflict* row_of(const Error& error) {
  static const auto patterns = [] {
    std::vector<RowPattern> all;
    for (const ConflictSubject& subject : conflict_table()) {
      for (const Conflict& row : subject.rows()) all.push_back(pattern_of(row));
    }
    // Longer patterns come first, as rows with few fixed words match the messages of others, too.
    std::ranges::stable_sort(all, std::ranges::greater(), &RowPattern::letters);
    return all;
  }();
  constexpr std::size_t kLeastLetters = 8;  // a shorter pattern would match any message
  const std::string text(error.text());
  for (const RowPattern& each : patterns) {
    CHECK(each.letters >= kLeastLetters, "a row about {} says nothing of its own",
          each.row->is.key);
    const bool names = text.find(each.row->is.key) != std::string::npos;
    if (names && RE2::PartialMatch(text, *each.pattern)) return each.row;
  }
  return nullptr;
}

std::set<std::string> said_twice(std::span<const std::size_t> features) {
  std::set<std::string> keys;
  for (const std::size_t i : features) {
    for (const std::size_t j : features) {
      if (i == j) continue;
      const JobFeature& another = job_features().features[j];
      for (const auto& [key, value] : job_features().features[i].keys) {
        if (takes_out(another, key)) keys.insert(key);
        for (const auto& [other, others] : another.keys) {
          if (!are_nested(key, other) || (key == other && value == others)) continue;
          keys.insert(key.size() < other.size() ? key : other);
        }
      }
    }
  }
  return keys;
}

RandomJob job_with(std::span<const std::size_t> features) {
  RandomJob job{.text = "name: combination\n", .set = rest_of_job(features)};
  for (const std::size_t i : features) {
    for (const auto& each : job_features().features[i].keys) {
      if (std::ranges::count(job.set, each) == 0) job.set.push_back(each);
    }
  }
  for (const SizesTogether& sizes : job_features().sizes) {
    const bool together = std::ranges::all_of(
        sizes.of, [&](std::size_t i) { return std::ranges::count(features, i) > 0; });
    if (together) job.set.insert(job.set.end(), sizes.keys.begin(), sizes.keys.end());
  }
  return job;
}

Combination combine(std::span<const std::size_t> features) {
  Combination result;
  result.keys = said_twice(features);
  if (!result.keys.empty()) {
    result.together = Together::no_job;
    return result;
  }
  const RandomJob job = job_with(features);
  try {
    const Record record =
        simulate(parse_case(job.text, "combination.yaml", job.set),
                 {.threads = 1, .allow_oom = true, .depth = StudyDepth::campaign});
    result.broken = broken_invariants(record);
  } catch (const Error& error) {
    result.together = Together::refused;
    result.row = row_of(error);
    result.why = error.text();
  } catch (const std::exception& fault) {  // a CHECK, which no input should reach
    result.broken.emplace_back(fault.what());
  }
  return result;
}

}  // namespace windtunnel
