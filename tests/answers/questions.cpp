#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "models/base/error.hpp"
#include "report/json/company_json.hpp"
#include "report/json/json.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/company.hpp"
#include "sim/study/simulate.hpp"
#include "sim/study/simulate_company.hpp"
#include "tests/answers/answers.hpp"
#include "tests/answers/plan_hash.hpp"
#include "tests/sim/study/random_scenario.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kListedElements = 8;  // a longer list is told by its hash
constexpr std::size_t kShownCharacters = 200;
constexpr int kTrials = 3;  // whose events are hashed

std::string shown(const std::string& text) {
  if (text.size() <= kShownCharacters) return text;
  return text.substr(0, kShownCharacters) + "... " + hash_of(text);
}

// The numbers and texts of a document, each under its path.
void flatten(const std::string& path, const Json& value, Answer& answer) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      if (key == "version" || key == "commit") continue;  // of the program, not answers
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

// What the JSON document does not hold: tasks, spans and the events of a few trials.
void add_hashes(const Case& the_case, Record& record, Answer& answer) {
  answer.emplace_back("plan", hash_of(record.plan));
  answer.emplace_back("timeline", hash_of(record.timeline));
  if (the_case.job.campaign.length_s <= 0) return;
  MeasuredIteration measured = measure_iteration(the_case, {.threads = 1, .allow_oom = true});
  const CampaignInputs inputs = campaign_inputs(the_case.job, std::move(measured.table));
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<CampaignEvent> events;
    run_trial(inputs, trial, CampaignMode::fast_forward, &events);
    answer.emplace_back(fmt::format("trial {}", trial),
                        fmt::format("{} events, {}", events.size(), hash_of(events)));
  }
}

Answer scenario_answer(const std::string& path) {
  Answer answer;
  const ScenarioText text = read_scenario(path);
  if (has_jobs(text)) {
    flatten("", company_document(simulate_company(resolve_company(text), {}), false), answer);
    return answer;
  }
  const Case the_case = resolve_case(text);
  Record record = simulate(the_case, {.threads = 1, .allow_oom = true});
  flatten("", run_document(record, false), answer);
  add_hashes(the_case, record, answer);
  return answer;
}

// The figures that most depend on all others, and a hash of each part.
Answer random_answer(int number) {
  Answer answer;
  const Case the_case = parse_case(random_scenario(static_cast<std::uint64_t>(number)),
                                   fmt::format("random-{}.yaml", number));
  Record record = simulate(the_case, {.threads = 1, .allow_oom = true});
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

// What a command prints, line by line, and its exit code.
Answer command_answer(const std::string& program, const std::string& arguments) {
  const std::string command = fmt::format("{} {} 2>&1", program, arguments);
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw Error(fmt::format("cannot run {}", command), ExitCode::failed);
  std::string text;
  char buffer[4096];
  while (const std::size_t bytes = std::fread(buffer, 1, sizeof buffer, pipe)) {
    text.append(buffer, bytes);
  }
  const int status = pclose(pipe);
  Answer answer = {{"exit", fmt::format("{}", WEXITSTATUS(status))}};
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    answer.emplace_back(fmt::format("line {}", ++number), line);
  }
  return answer;
}

// A list of commands, one a line; '#' begins a comment.
std::vector<std::string> read_commands(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw Error(fmt::format("cannot read {}", path));
  std::vector<std::string> commands;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.front() != '#') commands.push_back(line);
  }
  return commands;
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

std::vector<Question> random_questions(int jobs) {
  std::vector<Question> questions;
  for (int number = 0; number < jobs; ++number) {
    questions.push_back(
        {fmt::format("random {:03}", number), [number] { return random_answer(number); }});
  }
  return questions;
}

std::vector<Question> command_questions(const std::string& root, const std::string& program) {
  std::vector<Question> questions;
  for (const std::string& arguments : read_commands(root + "/tests/answers/commands.txt")) {
    questions.push_back(
        {"windtunnel " + arguments, [=] { return command_answer(program, arguments); }});
  }
  return questions;
}

}  // namespace windtunnel
