#include "scenarios/language/case.hpp"

#include <filesystem>

#include "scenarios/language/additions.hpp"
#include "scenarios/language/explain.hpp"
#include "scenarios/language/identity.hpp"
#include "scenarios/language/overrides.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/resolve/schemes.hpp"

namespace windtunnel {
namespace {

std::vector<std::string> names_of(const OwnSchedules& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.push_back(kind->name);
  return names;
}

}  // namespace

Case load_case(const std::string& path, const Overrides& overrides) {
  return parse_case(read_text_file(path), path, overrides);
}

Case parse_case(const std::string& text, const std::string& file, const Overrides& overrides,
                const std::shared_ptr<const Additions>& additions, const Prepare& prepare) {
  const Additions nothing;
  const Additions& added = additions != nullptr ? *additions : nothing;
  DocumentNode document = parse_document(text, file);
  if (document.kind != DocumentNode::Kind::map) check_values(document);  // throws
  Case result;
  result.file = file;
  result.text = text;
  result.set = overrides;
  expand_snapshots(document, added.snapshots);
  for (const auto& [key, value] : overrides) {
    apply_override(document, key, value);
    expand_snapshots(document, added.snapshots);
  }
  expand_recovery(document);
  const Values values = check_values(document, "", {{"schedule.name", names_of(added.schedules)}});
  const EvidenceList evidence(document.value_of("origins"));
  const std::string folder = std::filesystem::path(file).parent_path().string();
  result.scenario = values.text("name");
  result.places = values.places();
  result.places.placing([&] {
    result.job = resolve_job(values, evidence, folder, added.schedules);
    result.values = explain_values(values, evidence, result.job);
    result.table = identity_of(result.values, result.job, Scope::iteration);
    result.prepared = resolve_iteration(result.job, result.table, prepare);
  });
  result.key = identity_of(result.values, result.job, Scope::campaign);
  return result;
}

}  // namespace windtunnel
