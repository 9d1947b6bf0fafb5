// Recognises configurations of training programs where a scenario is expected, and imports them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "scenarios/language/additions.hpp"
#include "scenarios/language/imports/configuration_table.hpp"
#include "scenarios/language/imports/import.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {

std::string import_note(const ImportedScenario& imported) {
  std::vector<std::string> left_out;
  for (const LeftOut& left : imported.left_out) {
    left_out.push_back(left.meant.empty()
                           ? left.setting.name
                           : fmt::format("{} ({})", left.setting.name, left.question()));
  }
  return fmt::format(
      "read as a configuration of {}: {} settings, {} assumed{}", imported.kinds.front().second,
      imported.read.size(), imported.assumed.size(),
      left_out.empty() ? "" : fmt::format("; left out: {}", fmt::join(left_out, ", ")));
}

std::string configuration_kinds_text() {
  std::vector<std::string> names;
  for (const ConfigurationTable& table : configuration_tables()) names.push_back(table.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_configuration(const std::string& text, const std::string& path) {
  const bool scenario_form =
      path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".json");
  try {
    const ConfigurationFile file = read_configuration(text, path);
    // A text with only scenario keys is a scenario. This check avoids reading the programs' tables.
    const auto is_key = [](const Setting& setting) {
      return find_field(std::string_view(setting.name).substr(0, setting.name.find('.'))) !=
             nullptr;
    };
    if (scenario_form && std::ranges::all_of(file.settings, is_key)) return false;
    return table_of(file) != nullptr;
  } catch (const Error&) {
    // The reader of scenarios will report what is wrong.
    if (scenario_form) return false;
    throw;
  }
}

std::shared_ptr<const Additions> with_places(const ImportedScenario& imported,
                                             const Additions* added) {
  Additions all = added == nullptr ? Additions{} : *added;
  for (const ReadKey& read : imported.read) all.stated_at[read.key] = read.from.where;
  return std::make_shared<const Additions>(std::move(all));
}

ReadScenario as_scenario(ScenarioText scenario, bool has_options) {
  if (!is_configuration(scenario.text, scenario.file)) return {std::move(scenario)};
  ImportRequest request{.files = {scenario.file},
                        .kind = "",
                        .set = {},
                        .has_options = has_options,
                        .texts = {{scenario.file, scenario.text}}};
  // Overrides of list items are applied to the scenario later, as for any scenario.
  std::ranges::copy_if(scenario.set, std::back_inserter(request.set),
                       [](const auto& each) { return find_field(each.first) != nullptr; });
  const ImportedScenario imported = import_scenario(request);
  scenario.text = imported.text;
  scenario.added = with_places(imported, scenario.added.get());
  return {std::move(scenario), import_note(imported)};
}

}  // namespace windtunnel
