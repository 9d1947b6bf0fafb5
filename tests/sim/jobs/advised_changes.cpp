#include "tests/sim/jobs/advised_changes.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view text) {
  Words words;
  std::string word;
  const auto end = [&] {
    while (!word.empty() && (word.back() == '.' || word.back() == '\'')) word.pop_back();
    if (word.starts_with('\'')) word.erase(0, 1);
    if (!word.empty()) words.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    const bool of_word =
        (c == '(' && !word.empty()) || (c == ')' && word.find('(') != std::string::npos);
    if (c == ' ' || c == ',' || c == ';' || (!of_word && (c == '(' || c == ')'))) {
      end();
      if (c == ';' || c == ',') words.emplace_back(1, c);
    } else {
      word += c;
    }
  }
  end();
  return words;
}

std::string parent_of(const std::string& key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

// Returns the key that the refusal's text begins with, else that of the option that set it.
std::string fault_key(const Error& error) {
  const std::string text(error.text());
  const std::string first = text.substr(0, text.find_first_of(" :"));
  if (!first.empty() && find_field(first) != nullptr) return first;
  if (!error.keys().empty()) return error.keys().front();
  const std::string what = error.what();
  static const RE2 option("--set ([A-Za-z0-9_.]+)=");
  std::string key;
  RE2::PartialMatch(what, option, &key);
  return key;
}

// Returns the key that a word of the advice names: in full, or relative to the key at fault.
std::string key_of(std::string word, const std::string& fault) {
  while (word.ends_with(':')) word.pop_back();
  if (word.empty()) return "";
  for (const std::string& key : {word, join_path(parent_of(fault), word), join_path(fault, word)}) {
    if (find_field(key) != nullptr) return key;
  }
  return "";
}

// If a scalar may stand in place of a map, returns the row of the scalar.
const Field* scalar_field(const std::string& key) {
  const Field* field = find_field(key);
  if (field == nullptr || field->shorthand.empty()) return field;
  return find_field(join_path(key, field->shorthand));
}

bool is_value(const std::string& word, const std::string& key) {
  const Field* field = scalar_field(key);
  if (field == nullptr) return false;
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size()) return true;
  if (word == "true" || word == "false") return field->scalar == ScalarType::boolean;
  const Words names = names_of(*field);
  return std::ranges::find(names, word) != names.end();
}

void put(Overrides& set, const std::string& key, const std::string& value) {
  std::erase_if(set, [&](const auto& each) { return each.first == key; });
  set.emplace_back(key, value);
}

class Reader {
 public:
  Reader(const RandomJob& refused, const Error& error)
      : refused_(refused),
        text_(error.text()),
        fault_(fault_key(error)),
        words_(words_of(advice_of(error))) {}

  std::vector<AdvisedJob> read() {
    while (at_ < words_.size()) {
      const std::string verb = words_[at_++];
      if (verb == "take" || verb == "set" || verb == "state" || verb == "at") take();
      if (verb == "raise") scale(2, 1);
      if (verb == "lower") scale(1, 2);
      if (verb == "leave") leave();
      if (verb == "add") add();
    }
    return std::move(jobs_);
  }

 private:
  bool more() const { return at_ < words_.size() && words_[at_] != ";"; }

  // Reads "none or bucketed", "layout.sharding: zero1", "cp 1 or tp_form 1d", "host or disk".
  void take() {
    std::string key = fault_;
    together_ = false;
    for (; more(); ++at_) {
      const std::string& word = words_[at_];
      if (word == "and") together_ = true;
      if (word == "or" || word == "," || word == "to" || word == "and" || word == "it") continue;
      if (word == "take" || word == "set" || word == "leave") return;
      if (is_value(word, key)) {
        change(key, word);
        continue;
      }
      const std::string named = key_of(word, fault_);
      if (named.empty()) return;
      key = named;
    }
  }

  // A change that follows "and" is applied together with the one before it.
  void change(const std::string& key, const std::string& value) {
    const std::string named = fmt::format("{}={}", key, value);
    if (together_ && !jobs_.empty()) {
      jobs_.back().change += " and " + named;
    } else {
      jobs_.emplace_back(named, refused_);
    }
    together_ = false;
    put(jobs_.back().job.set, key, value);
  }

  // Reads "add slowdown", "add gpu_path: pcie", or "add e.g. 'takes: 60 s'" below the key at fault.
  void add() {
    if (!more()) return;
    static const RE2 example("add e\\.g\\. '?([a-z_]+): ([^']*?)(?:'| to |$)");
    std::string name;
    std::string value;
    if (RE2::PartialMatch(text_, example, &name, &value)) {
      for (const std::string& above : {fault_, parent_of(fault_)}) {
        const std::string key = join_path(above, name);
        if (find_field(key) == nullptr) continue;
        change(key, value);
        return;
      }
      return;
    }
    const std::string key = key_of(words_[at_], fault_);
    if (key.empty()) return;
    if (words_[at_].ends_with(':')) return take();
    change(key, std::string(find_field(key)->example));
  }

  void scale(int times, int parts) {
    if (!more()) return;
    const std::string key = key_of(words_[at_], fault_);
    if (key.empty()) return;
    const auto stated = std::ranges::find(refused_.set, key, &Overrides::value_type::first);
    double value = 1;
    if (stated != refused_.set.end()) {
      const std::string& text = stated->second;
      if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return;
    }
    change(key, fmt::format("{:g}", value * times / parts));
  }

  // Reads "it out", "one of them out", "out KEY", "KEY or KEY out"; "KEY and KEY" means both at
  // once.
  void leave() {
    if (!more()) return;
    Words keys;
    bool both = false;
    for (; more(); ++at_) {
      const std::string& word = words_[at_];
      if (word == "at" || word == "with") break;
      both = both || word == "and";
      if (word == "it") keys.push_back(fault_);
      if (word == "one") keys = named_keys();
      const std::string named = key_of(word, fault_);
      if (!named.empty()) keys.push_back(named);
    }
    if (more() && words_[at_] == "at") return;  // "leave it at dense"
    for (const std::string& key : keys) {
      if (!both || key == keys.front()) jobs_.emplace_back("without", refused_);
      AdvisedJob& without = jobs_.back();
      without.change += " " + key;
      std::erase_if(without.job.set, [&](const auto& each) {
        return each.first == key || each.first.starts_with(key + ".");
      });
      without.job.set.emplace_back(key, "null");
    }
  }

  Words named_keys() const {
    Words keys = {fault_};
    for (const std::string& word : words_of(text_)) {
      const std::string key = key_of(word, fault_);
      if (word.find('.') != std::string::npos && !key.empty()) keys.push_back(key);
    }
    return keys;
  }

  const RandomJob& refused_;
  std::string text_;
  std::string fault_;
  Words words_;
  std::size_t at_ = 0;
  bool together_ = false;
  std::vector<AdvisedJob> jobs_;
};

}  // namespace

std::string advice_of(const Error& error) {
  static const RE2 verb("(^|; |: |, or |, )(take|set|raise|lower|leave|state|add) ");
  const std::string text(error.text());
  if (text.find('\n') != std::string::npos) return "";  // several errors at once
  const std::size_t end = text.rfind("; ");
  const std::string tail = end == std::string::npos ? text : text.substr(end);
  return RE2::PartialMatch(tail, verb) ? tail : "";
}

std::string refusal_kind(const Error& error) {
  static const RE2 particular("'[^']*'|[0-9][0-9.,]*");
  std::string kind(error.text());
  RE2::GlobalReplace(&kind, particular, "#");
  return kind;
}

std::vector<AdvisedJob> advised_jobs(const RandomJob& refused, const Error& error) {
  return Reader(refused, error).read();
}

}  // namespace windtunnel
