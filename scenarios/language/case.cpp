#include "scenarios/language/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "models/compression/compressors.hpp"
#include "models/power/power_spec.hpp"
#include "models/volunteers/volunteers.hpp"
#include "scenarios/language/additions.hpp"
#include "scenarios/language/asked_studies.hpp"
#include "scenarios/language/explain.hpp"
#include "scenarios/language/identity.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/overrides.hpp"
#include "scenarios/language/resolve/named_software.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/resolve/schemes.hpp"
#include "scenarios/language/text/scenario_text.hpp"

namespace windtunnel {
namespace {

template <class Kind>
std::vector<std::string> names_of(const std::vector<std::shared_ptr<const Kind>>& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.push_back(kind->name);
  return names;
}

// Names that the calling program adds to those of the library.
AddedNames names_of(const OwnKinds& kinds) {
  const std::vector<std::string> compressors = names_of(kinds.compressors);
  return {{"schedule.name", names_of(kinds.schedules)},
          {"communication.compressor.name", compressors},
          {"compress.*.name", compressors},
          {"sync.*.compressor.name", compressors},
          {"snapshots.*.every", names_of(kinds.saving_rules)}};
}

void append(const std::vector<Note>& more, std::vector<Note>& notes) {
  notes.insert(notes.end(), more.begin(), more.end());
}

// Refuses keys that only a scenario of several jobs has (company.hpp).
void check_one_job(const DocumentNode& document) {
  for (const DocumentEntry& entry : document.entries) {
    if (entry.key == "jobs") {
      throw Error(entry.where,
                  "jobs: this is a scenario of several jobs, which only `windtunnel run` and "
                  "`compare` support");
    }
    if (entry.key == "placement") {
      throw Error(entry.where,
                  "placement is for several jobs (key 'jobs'); for one job, layout.placement says "
                  "which nodes its ranks use");
    }
  }
}

// If the refusal names a sharding, appends the shardings that the named software supports.
Error with_shardings(const Error& error, const Framework& software) {
  const std::string text(error.text());
  const bool names = std::ranges::any_of(kChoices<Sharding>, [&](const Choice<Sharding>& choice) {
    return choice.value != Sharding::none && text.find(choice.name) != std::string::npos;
  });
  if (!names || software.rules.empty()) return error;
  const auto joined = [](const std::vector<Sharding>& shardings) {
    std::vector<std::string_view> all;
    for (const Sharding each : shardings) all.push_back(name_of(each));
    return fmt::format("{}", fmt::join(all, " or "));
  };
  return Error(error.where(),
               fmt::format("{}; {} supports sharding {}, with a pipeline {}", text, software.name,
                           joined(software.sharding), joined(software.sharding_in_pipelines)),
               error.code());
}

// Gives each node the place of the setting that states its key, or the nearest key above it.
void place_as_stated(DocumentNode& node, const std::string& path, Location above,
                     const std::map<std::string, Location>& stated_at) {
  if (const auto own = stated_at.find(path); own != stated_at.end()) above = own->second;
  node.where = above;
  for (DocumentEntry& entry : node.entries) {
    place_as_stated(entry.value, join_path(path, entry.key), above, stated_at);
    entry.where = entry.value.where;
  }
  for (DocumentNode& item : node.items) place_as_stated(item, path, above, stated_at);
}

DocumentNode document_of(const ScenarioText& scenario, const Additions& added) {
  DocumentNode document = parse_document(scenario.text, scenario.file);
  if (document.kind != DocumentNode::Kind::map) check_values(document);  // throws
  if (!added.stated_at.empty()) {
    place_as_stated(document, "", Location{scenario.file}, added.stated_at);
  }
  return document;
}

}  // namespace

const Framework* software_of(const Case& the_case) {
  const auto named = std::ranges::find(the_case.values, "software.base", &ResolvedValue::key);
  return named == the_case.values.end() ? nullptr : &find_framework(named->value);
}

Case load_case(const std::string& path, const Overrides& overrides) {
  return resolve_case(read_scenario(path, overrides));
}

Case parse_case(const std::string& text, const std::string& file, const Overrides& overrides,
                const std::shared_ptr<const Additions>& added) {
  return resolve_case({.file = file, .text = text, .set = overrides, .added = added});
}

ScenarioText read_scenario(const std::string& path, const Overrides& set) {
  return {.file = path, .text = read_text_file(path), .set = set};
}

Case resolve_unprepared(const ScenarioText& scenario, const Overrides& more) {
  return resolve_case(scenario, more, [](const Job&, const std::string&) {
    return std::shared_ptr<const PreparedIteration>();
  });
}

Case resolve_case(const ScenarioText& scenario, const Overrides& more, const Prepare& prepare) {
  const Additions nothing;
  const Additions& added = scenario.added != nullptr ? *scenario.added : nothing;
  DocumentNode document = document_of(scenario, added);
  Case result;
  result.file = scenario.file;
  result.text = scenario.text;
  result.set = scenario.set;
  result.set.insert(result.set.end(), more.begin(), more.end());
  const auto expand_names = [&] {
    expand_own(document, added.parts);
    expand_snapshots(document);
  };
  expand_names();
  for (std::size_t i = 0; i < result.set.size(); ++i) {
    const auto& [key, value] = result.set[i];
    // `more` comes from the command line, not from the place of scenario.set.
    const bool placed = i < scenario.set.size() && scenario.set_at != nullptr;
    append(apply_override(document, key, value, placed ? scenario.set_at.get() : nullptr),
           result.notes);
    expand_names();
  }
  append(expand_recovery(document), result.notes);
  check_one_job(document);
  NamedFiles files(std::filesystem::path(scenario.file).parent_path().string(), scenario.files);
  const auto check = [&](const DocumentNode& node) {
    AddedNames names = names_of(added.kinds);
    for (const OwnPart& part : added.parts) {
      if (part.key == "cluster.fabric") names["cluster.fabric.base"].push_back(part.name);
    }
    return check_values(node, "", names);
  };
  const auto resolve = [&](const Values& values) {
    return values.places().placing([&] {
      return resolve_parts(values, EvidenceList(document.value_of("origins")), files, added.kinds);
    });
  };
  const Values values = with_named_software(document, check, resolve);
  const EvidenceList evidence(document.value_of("origins"));
  result.scenario = values.text("name");
  result.places = values.places();
  try {
    result.places.placing([&] {
      result.job = resolve_job(values, evidence, files, added.kinds);
      for (const AskedStudy& study : asked_studies()) {
        study.resolve({values, evidence, files}, result.job, result.asked);
      }
      result.pauses = resolve_pauses(values);
      append(model_defaults(values, result.job), result.notes);
      append(network_law_notes(values, result.job), result.notes);
      append(unused_keys(values, result.job), result.notes);
      if (values.has("software.base")) {
        append(broken_rule_notes(find_framework(values.text("software.base")), result.job),
               result.notes);
      }
      append(found_memory(result.job), result.notes);
      result.values = explain_values(values, evidence, result.job, result.asked.find<PowerSpec>());
      result.table = identity_of(result.values, result.job, Scope::iteration);
      result.prepared = resolve_iteration(result.job, result.table, prepare);
    });
  } catch (const Error& error) {
    if (!values.has("software.base")) throw;
    throw with_shardings(error, find_framework(values.text("software.base")));
  }
  result.files = files.read();
  result.key =
      identity_of(result.values, result.job, Scope::campaign, result.asked.find<Volunteers>());
  return result;
}

}  // namespace windtunnel
