#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "models/base/error.hpp"
#include "report/json/json.hpp"
#include "report/page/page.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/company.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/fields.hpp"
#include "sim/study/simulate.hpp"
#include "sim/study/simulate_company.hpp"
#include "tests/answers/answers.hpp"
#include "tests/answers/plan_hash.hpp"
#include "tests/sim/jobs/random_job.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kListedElements = 8;  // longer lists are represented by a hash
constexpr std::size_t kShownCharacters = 200;
constexpr int kTrials = 3;  // trials whose events are hashed, with the case's own seed
constexpr int kOtherSeeds = 2;
constexpr std::uint64_t kTriesPerJob = 20;

std::string shown(const std::string& text) {
  if (text.size() <= kShownCharacters) return text;
  return text.substr(0, kShownCharacters) + "... " + hash_of(text);
}

// These keys describe the program and are no answers.
bool is_of_build(const std::string& key) {
  return key == "version" || key == "commit";
}

void leave_out_build(Json& value) {
  if (value.is_object()) {
    for (auto at = value.begin(); at != value.end();) {
      at = is_of_build(at.key()) ? value.erase(at) : std::next(at);
    }
  }
  if (!value.is_structured()) return;
  for (Json& member : value) leave_out_build(member);
}

// What `run --out` writes as record.json.
std::string record_hash(const Record& record) {
  Json document = page_document(record);
  leave_out_build(document);
  return hash_of(document.dump());
}

// Lists the numbers and texts of a document, each with its path.
void flatten(const std::string& path, const Json& value, AnswerLines& answer) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      if (is_of_build(key)) continue;
      flatten(path.empty() ? key : path + "." + key, member, answer);
    }
  } else if (value.is_array() && value.size() <= kListedElements) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      flatten(fmt::format("{}.{}", path, i), value[i], answer);
    }
  } else if (value.is_array()) {
    answer.emplace_back(path, fmt::format("{} elements, {}", value.size(), hash_of(value.dump())));
  } else {
    answer.emplace_back(path, shown(value.is_string() ? value.get<std::string>() : value.dump()));
  }
}

void add_trial(const CampaignInputs& inputs, int trial, const std::string& name,
               AnswerLines& answer) {
  std::vector<CampaignEvent> events;
  run_trial(inputs, trial, CampaignMode::fast_forward, &events);
  answer.emplace_back(name, fmt::format("{} events, {}", events.size(), hash_of(events)));
}

// Adds hashes of what the JSON document lacks: plan, timeline and the events of a few trials.
void add_hashes(const Case& the_case, const Record& record, AnswerLines& answer) {
  answer.emplace_back("plan", hash_of(record.plan));
  answer.emplace_back("timeline", hash_of(record.timeline));
  if (the_case.job.campaign.length_s <= 0) return;
  MeasuredIteration measured = measure_iteration(the_case, {.threads = 1, .allow_oom = true});
  CampaignInputs inputs = campaign_inputs(the_case.job, std::move(measured.table));
  for (int trial = 0; trial < kTrials; ++trial) {
    add_trial(inputs, trial, fmt::format("trial {}", trial), answer);
  }
  for (int other = 0; other < kOtherSeeds; ++other) {
    ++inputs.campaign.seed;
    add_trial(inputs, 0, fmt::format("trial 0 of seed {}", inputs.campaign.seed), answer);
  }
}

AnswerLines scenario_answer(const std::string& path) {
  AnswerLines answer;
  const ScenarioText text = read_scenario(path);
  if (has_jobs(text)) {
    flatten("", company_document(simulate_company(resolve_company(text), {}), false), answer);
    return answer;
  }
  const Case the_case = resolve_case(text);
  const Record record = simulate(the_case, {.threads = 1, .allow_oom = true});
  flatten("", run_document(record, false), answer);
  answer.emplace_back("record.json", record_hash(record));
  add_hashes(the_case, record, answer);
  return answer;
}

// Lists the figures that depend on most others, and a hash of each part of the document.
AnswerLines short_answer(const Case& the_case) {
  AnswerLines answer;
  const Record record = simulate(the_case, {.threads = 1, .allow_oom = true});
  const Json document = run_document(record, false);
  for (const auto& [part, value] : document.items()) {
    if (value.is_structured() && part != "source") answer.emplace_back(part, hash_of(value.dump()));
  }
  answer.emplace_back("iteration.time_s", Json(record.iteration.time_s).dump());
  if (record.campaign) {
    answer.emplace_back("campaign.goodput", Json(record.campaign->goodput.mean).dump());
  }
  add_hashes(the_case, record, answer);
  return answer;
}

// Returns nothing if the job is refused; `refused` then gets the message.
std::optional<AnswerLines> job_answer(std::uint64_t number, AnswerLines& refused) {
  const std::string file = fmt::format("keys-{}.yaml", number);
  const auto add_refusal = [&](const Error& error) {
    refused.emplace_back("refused", shown(error.what()));
  };
  try {
    const RandomJob job = accepted(random_job_of_keys(number), file, add_refusal);
    Case the_case = parse_case(job.text, file, job.set);
    make_campaign_eventful(the_case.job);
    return short_answer(the_case);
  } catch (const Error& error) {
    add_refusal(error);
    return std::nullopt;
  }
}

// Answers the first job from this number on that runs, and says why jobs before it, and keys, were
// refused.
AnswerLines first_job_answer(std::uint64_t number) {
  AnswerLines answer;
  for (std::uint64_t i = 0; i < kTriesPerJob; ++i) {
    const std::optional<AnswerLines> ran = job_answer(number + i, answer);
    if (!ran) continue;
    answer.insert(answer.end(), ran->begin(), ran->end());
    break;
  }
  return answer;
}

// ---- Each setting of a campaign, alone in one scenario.

constexpr const char* kCampaignFile = "tests/answers/campaign.yaml";

AnswerLines campaign_answer(const std::string& file, const Overrides& set) {
  return short_answer(parse_case(read_text_file(file), file, set));
}

std::vector<std::string> values_to_try(const Field& field) {
  std::vector<std::string> values = names_of(field);
  if (field.scalar == ScalarType::boolean && values.empty()) values = {"true", "false"};
  if (field.scalar == ScalarType::integer) {
    for (const int number : {0, 1, 2, 4}) {
      if (field.admits(number)) values.push_back(std::to_string(number));
    }
  }
  if (values.empty()) values.emplace_back(field.example);
  return values;
}

bool is_of_campaign(const Field& field) {
  static constexpr std::string_view kSections[] = {"snapshots", "failures", "recovery", "campaign",
                                                   "job"};
  if (field.path.empty()) return false;
  return field.scope == Scope::campaign ||
         std::ranges::count(kSections, std::string_view(split_path(field.path).front())) > 0;
}

std::vector<Overrides> campaign_settings() {
  std::vector<Overrides> settings;
  for (const Field& field : field_table()) {
    if (!is_of_campaign(field)) continue;
    std::string key(field.path);
    for (std::size_t at; (at = key.find('*')) != std::string::npos;) key.replace(at, 1, "0");
    for (std::string& value : values_to_try(field)) settings.push_back({{key, std::move(value)}});
  }
  // The number of spares that are left decides what becomes of the job.
  for (const std::string& recovery : names_of(*find_field("recovery.base"))) {
    for (const char* spares : {"0", "1", "4", "16"}) {
      settings.push_back({{"recovery.base", recovery}, {"recovery.spares", spares}});
    }
  }
  return settings;
}

}  // namespace

std::vector<Question> scenario_questions(const std::string& root) {
  std::vector<Question> questions;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(fs::path(root) / "scenarios")) {
    const std::string path = fs::relative(entry.path(), root).generic_string();
    if (entry.path().extension() != ".yaml" || path.starts_with("scenarios/library/") ||
        path.starts_with("scenarios/models/")) {
      continue;
    }
    questions.push_back({path, [path] { return scenario_answer(path); }});
  }
  std::ranges::sort(questions, {}, &Question::name);
  return questions;
}

std::vector<Question> job_questions(int jobs) {
  std::vector<Question> questions;
  for (int i = 0; i < jobs; ++i) {
    const std::uint64_t number = static_cast<std::uint64_t>(i) * kTriesPerJob;
    questions.push_back(
        {fmt::format("job {:05}", number), [number] { return first_job_answer(number); }});
  }
  return questions;
}

std::vector<Question> campaign_questions(const std::string& root) {
  const std::string file = (fs::path(root) / kCampaignFile).lexically_normal().generic_string();
  std::vector<Question> questions;
  for (const Overrides& set : campaign_settings()) {
    std::string name = "campaign";
    for (const auto& [key, value] : set) name += fmt::format(" --set {}={}", key, value);
    questions.push_back({name, [file, set] { return campaign_answer(file, set); }});
  }
  return questions;
}

}  // namespace windtunnel
