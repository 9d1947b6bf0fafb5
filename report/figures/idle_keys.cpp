#include "report/figures/idle_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "models/base/error.hpp"
#include "policies/iteration.hpp"
#include "report/figures/figures.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

// Collects stated keys. A map counts as a key too, because its keys may depend on each other. A
// list of maps contributes the keys of its items; any other list is one key.
void add_stated(const DocumentNode& node, const std::string& path, std::set<std::string>& keys) {
  const auto below = [&](const std::string& name) {
    return path.empty() ? name : path + "." + name;
  };
  if (node.kind == DocumentNode::Kind::map) {
    if (!path.empty()) keys.insert(path);
    for (const DocumentEntry& entry : node.entries) {
      if (path.empty() && (entry.key == "name" || entry.key == "origins")) continue;  // labels
      add_stated(entry.value, below(entry.key), keys);
    }
    return;
  }
  const bool of_maps = node.kind == DocumentNode::Kind::list && !node.items.empty() &&
                       node.items.front().kind == DocumentNode::Kind::map;
  if (!of_maps) {
    keys.insert(path);
    return;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    add_stated(node.items[i], below(std::to_string(i)), keys);
  }
}

std::set<std::string> stated_keys(const Case& the_case) {
  std::set<std::string> keys;
  add_stated(parse_document(the_case.text, the_case.file), "", keys);
  for (const auto& [key, value] : the_case.set) {
    add_stated(parse_document(value, the_case.file, false), key, keys);
  }
  return keys;
}

double estimated_s(const Case& the_case) {
  return estimate_iteration(the_case.job, *the_case.prepared).step_s;
}

}  // namespace

std::vector<std::string> exact_figures(const Record& record) {
  std::vector<std::string> all;
  for (const Figure& figure : figures()) {
    all.push_back(fmt::format("{} {:a}", figure.text(record), number_of(figure.of(record))));
  }
  for (const GpuMemory& rank : record.iteration.memory) {
    all.push_back(fmt::format("{:a}", rank.allocated()));
  }
  return all;
}

bool are_nested(std::string_view a, std::string_view b) {
  const std::string_view outer = a.size() < b.size() ? a : b;
  const std::string_view inner = a.size() < b.size() ? b : a;
  return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '.');
}

bool tells_of(const std::vector<Note>& notes, const std::string& key) {
  return std::ranges::any_of(notes, [&](const Note& note) {
    for (std::size_t begin = 0; begin < note.key.size();) {
      const std::size_t end = std::min(note.key.find(", ", begin), note.key.size());
      if (are_nested(key, std::string_view(note.key).substr(begin, end - begin))) return true;
      begin = end + 2;
    }
    return false;
  });
}

std::vector<Note> idle_keys(const Case& the_case,
                            const std::function<Record(const Case& the_case)>& run) {
  const Record with = run(the_case);
  const std::vector<std::string> figures = exact_figures(with);
  const double step_s = estimated_s(the_case);
  const ScenarioText scenario = {
      .file = the_case.file, .text = the_case.text, .set = the_case.set, .files = the_case.files};
  std::vector<std::string> idle;
  for (const std::string& key : stated_keys(the_case)) {  // a map comes before the keys in it
    const bool in_idle_map =
        std::ranges::any_of(idle, [&](const std::string& outer) { return are_nested(outer, key); });
    if (in_idle_map || tells_of(with.notes, key)) continue;
    try {
      const Case without = resolve_case(scenario, {{key, "null"}});
      // The checks that need no simulation come first.
      if (without.key == the_case.key || estimated_s(without) != step_s) continue;
      if (exact_figures(run(without)) == figures) idle.push_back(key);
    } catch (const Error&) {  // the job is invalid without the key
    }
  }
  if (idle.empty()) return {};
  return {{fmt::format("{}", fmt::join(idle, ", ")),
           idle.size() == 1
               ? "changes no figure of this job: all figures are the same without it"
               : "change no figure of this job: all figures are the same without any one of them"}};
}

}  // namespace windtunnel
