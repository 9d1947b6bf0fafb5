#include <windtunnel/case.hpp>

#include "models/base/origin.hpp"
#include "report/api/translation.hpp"
#include "scenarios/language/imports/import.hpp"

namespace windtunnel_api {
namespace {

core::Additions& added_of(Case::State& state) {
  auto own = state.added ? std::make_shared<core::Additions>(*state.added)
                         : std::make_shared<core::Additions>();
  state.added = own;
  return *own;
}

}  // namespace

Case::Case(State state) : state_(std::make_shared<State>(std::move(state))) {}

Case Case::from_file(const std::string& path) {
  return translated(Case::State{}, [&] {
    return Case({path, core::read_text_file(path), {}, {}, true});
  });
}

Case Case::from_text(std::string text, std::string name) {
  return Case({std::move(name), std::move(text), {}, {}, false});
}

// Always makes a new state: other threads may share the old one at any time.
Case::State& Case::changed() {
  auto own = std::make_shared<State>(*state_);
  State& changed = *own;
  state_ = std::move(own);
  return changed;
}

Case& Case::set(const std::string& key, const std::string& value) {
  changed().set.emplace_back(key, value);
  return *this;
}

Case& Case::add_schedule(const std::string& name, ScheduleGenerator generate, int chunks) {
  auto kind = translated(
      {}, [&] { return core::own_schedule(schedule_kind_of(name, std::move(generate), chunks)); });
  added_of(changed()).kinds.schedules.push_back(std::move(kind));
  return *this;
}

Case& Case::add_compressor(const std::string& name, Compressor compressor) {
  auto kind = translated(
      {}, [&] { return core::own_compressor(compressor_kind_of(name, std::move(compressor))); });
  added_of(changed()).kinds.compressors.push_back(std::move(kind));
  return *this;
}

Case& Case::add_saving_rule(const std::string& name, SavingRule rule) {
  auto own =
      translated({}, [&] { return core::own_saving_rule(saving_rule_of(name, std::move(rule))); });
  added_of(changed()).kinds.saving_rules.push_back(std::move(own));
  return *this;
}

Case& Case::add_snapshots(const std::string& name, const std::vector<SnapshotTier>& tiers) {
  core::OwnPart part = translated(Case::State{}, [&] { return core::own_snapshots(name, tiers); });
  added_of(changed()).parts.push_back(std::move(part));
  return *this;
}

Case& Case::add_fabric(const std::string& name, const std::vector<Setting>& keys) {
  core::OwnPart part = translated(Case::State{}, [&] { return core::own_fabric(name, keys); });
  added_of(changed()).parts.push_back(std::move(part));
  return *this;
}

Case& Case::add_failure(const std::string& name, const std::vector<Setting>& keys) {
  core::OwnPart part = translated(Case::State{}, [&] { return core::own_failure(name, keys); });
  added_of(changed()).parts.push_back(std::move(part));
  return *this;
}

void Case::check() const {
  resolved(*this);
}

std::string Case::name() const {
  return resolved(*this).scenario;
}

std::string Case::key() const {
  return resolved(*this).key;
}

std::vector<ResolvedValue> Case::values() const {
  std::vector<ResolvedValue> values;
  for (const core::ResolvedValue& value : resolved(*this).values) {
    values.push_back(
        {value.key, value.value, core::to_string(value.origin), value.source, value.is_default});
  }
  return values;
}

Case::State as_scenario(const Case& the_case) {
  const Case::State& given = the_case.state();
  if (!given.file_was_read) return given;
  return translated(given, [&] {
    core::ReadScenario read = core::as_scenario(
        {.file = given.file, .text = given.text, .set = given.set, .added = given.added});
    Case::State state = given;
    state.text = std::move(read.scenario.text);
    state.added = std::move(read.scenario.added);
    return state;
  });
}

core::Case resolved(const Case& the_case) {
  const Case::State state = as_scenario(the_case);
  return translated(
      state, [&] { return core::parse_case(state.text, state.file, state.set, state.added); });
}

}  // namespace windtunnel_api
