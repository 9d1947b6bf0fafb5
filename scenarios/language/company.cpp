#include "scenarios/language/company.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "models/power/power_spec.hpp"
#include "scenarios/language/asked_studies.hpp"
#include "scenarios/language/overrides.hpp"
#include "scenarios/language/resolve/placement.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/scenario_text.hpp"

namespace windtunnel {
namespace {

constexpr std::array<std::string_view, 4> kKeys = {"name", "cluster", "jobs", "placement"};
constexpr const char* kPlacesFile = "places-in-company.csv";

// One of the jobs, as its own file describes it.
struct JobText {
  ScenarioText scenario;
  Location where;  // in the list of jobs
  Values values;
  int nodes = 1;
  std::vector<int> places;  // from the job's own layout.placement
  std::optional<CsvTable> placement;
  bool names_pools = false;  // states layout.place
  // If the job names pools: its nodes in the order in which they take nodes of the machine, and the
  // pool that each of these must be in. Empty: any pool.
  std::vector<int> order;
  std::vector<int> pools;
};

void check_keys(const DocumentNode& document) {
  for (const DocumentEntry& entry : document.entries) {
    if (std::ranges::find(kKeys, entry.key) != kKeys.end()) continue;
    throw Error(entry.where, fmt::format("{}: a scenario of several jobs can only have {}; keys of "
                                         "one job belong in its own file",
                                         entry.key, fmt::join(kKeys, ", ")));
  }
  for (const char* key : {"name", "cluster"}) {
    if (document.value_of(key) != nullptr) continue;
    throw Error(document.where, fmt::format("the scenario has no '{}'", key));
  }
}

// Visits the values that the user wrote for keys below "cluster.".
template <class Visit>
void for_each_stated_of_cluster(const Values& values, const Visit& visit) {
  for (const auto& [key, value] : values.all()) {
    if (key.starts_with("cluster.") && value.stated) visit(key, value);
  }
}

// A job's file may repeat values of the shared cluster, and states its own number of nodes.
void check_alike(const JobText& job, const Values& shared, int machine_nodes) {
  for_each_stated_of_cluster(job.values, [&](const std::string& key, const Value& value) {
    if (key == "cluster.nodes") return;
    const Value* other = shared.find(key);
    const bool joined = key == "cluster.fabric.nodes";
    const bool same =
        joined ? value.number == machine_nodes
               : other != nullptr && other->number == value.number && other->text == value.text;
    if (same) return;
    const std::string theirs = joined             ? std::to_string(machine_nodes)
                               : other == nullptr ? "not stated"
                                                  : text_of(*other);
    throw Error(value.where,
                fmt::format("{}: {} here, but {} in the cluster that the jobs share ({}:{}:{}); "
                            "leave it out here, or state the same value there",
                            key, text_of(value), theirs, shared.where("cluster").file,
                            shared.where("cluster").line, shared.where("cluster").column));
  });
}

std::string beside(const std::string& file, const std::string& name) {
  return (std::filesystem::path(file).parent_path() / name).string();
}

JobText read_job(const ScenarioText& company, const Value& name, NamedFiles& files,
                 int machine_nodes) {
  JobText job;
  job.where = name.where;
  try {
    job.scenario = {.file = beside(company.file, name.text), .text = files.text(name.text)};
  } catch (const Error& error) {
    throw Error(name.where, fmt::format("{}: {}", name.key, error.what()));
  }
  const DocumentNode document = parse_document(job.scenario.text, job.scenario.file);
  // Other keys are checked when the job is resolved; here only the cluster is.
  const DocumentNode* cluster = document.value_of("cluster");
  if (cluster == nullptr) {
    throw Error(document.where,
                "the job has no 'cluster'; add e.g. 'cluster: {nodes: 8, node: dgx-h100}' with the "
                "nodes that it uses");
  }
  job.values = check_values(*cluster, "cluster");
  if (!job.values.has("cluster.nodes")) {
    throw Error(cluster->where,
                "cluster has no 'nodes'; add e.g. 'nodes: 8', the number that the job uses");
  }
  job.nodes = job.values.integer("cluster.nodes");
  if (const DocumentNode* layout = document.value_of("layout")) {
    job.names_pools = layout->value_of("place") != nullptr;
    const DocumentNode* placement = layout->value_of("placement");
    if (placement != nullptr && placement->kind == DocumentNode::Kind::scalar) {
      NamedFiles own(std::filesystem::path(job.scenario.file).parent_path().string());
      try {
        job.placement = CsvTable::parse(own.text(placement->text), own.path(placement->text));
        job.places = read_placement(*job.placement, job.nodes, machine_nodes);
      } catch (const Error& error) {
        throw Error(placement->where, fmt::format("layout.placement: {}", error.what()));
      }
    }
  }
  return job;
}

void check_apart(const std::vector<JobText>& jobs) {
  std::map<int, std::string> taken;
  for (const JobText& job : jobs) {
    for (std::size_t row = 0; row < job.places.size(); ++row) {
      const auto [first, added] = taken.try_emplace(job.places[row], job.scenario.file);
      if (added) continue;
      throw Error(Location{job.placement->file(), job.placement->line(row), 1},
                  fmt::format("node {} is taken by the job {}", job.places[row], first->second));
    }
  }
}

void check_room(const std::vector<JobText>& jobs, int machine_nodes, const Location& where) {
  long wanted = 0;
  std::vector<std::string> each;
  for (const JobText& job : jobs) {
    wanted += job.nodes;
    each.push_back(fmt::format("{} {}", job.scenario.file, job.nodes));
  }
  if (wanted <= machine_nodes) return;
  throw Error(where, fmt::format("jobs: they need {} nodes in all ({}), but the cluster has {}",
                                 wanted, fmt::join(each, ", "), machine_nodes));
}

// Each pool must have enough nodes for the jobs that name it, besides the nodes that placement
// files take.
void check_pools(const std::vector<JobText>& jobs, const Cluster& machine, const Location& where) {
  std::vector<int> left;
  for (const Pool& pool : machine.pools) left.push_back(pool.nodes);
  for (const JobText& job : jobs) {
    for (const int place : job.places) {
      if (!left.empty()) --left[machine.pool_of_place(place)];
    }
  }
  for (const JobText& job : jobs) {
    for (const int pool : job.pools) {
      if (--left[pool] >= 0) continue;
      throw Error(
          where,
          fmt::format(
              "jobs: pool '{}' has {} nodes, fewer than the jobs place on it; none is left for {}",
              machine.pools[pool].name, machine.pools[pool].nodes, job.scenario.file));
    }
  }
}

// Returns the text of the shared cluster, with the number of nodes of one job.
std::string cluster_of_job(const DocumentNode& company, int nodes, const Cluster& machine) {
  DocumentNode document = company;
  apply_override(document, "cluster.nodes", std::to_string(nodes));
  if (machine.pools.empty()) {
    apply_override(document, "cluster.fabric.nodes", std::to_string(machine.nodes));
  }
  return flow_text(*document.value_of("cluster"));
}

bool on_several_pools(const Case& job) {
  return std::ranges::count(pools_in_use(job.job.cluster), true) > 1;
}

bool both_mix(const Case& job, const Case& other) {
  return on_several_pools(job) && on_several_pools(other);
}

// A job on several pools uses properties that the pools have in common. Two jobs with different
// sets of pools would need two laws for the one fabric.
void check_mix(const Case& job, const Case& other, const Location& where) {
  if (!both_mix(job, other)) return;
  if (pools_in_use(job.job.cluster) == pools_in_use(other.job.cluster)) return;
  throw Error(where, fmt::format("jobs: {} and {} each use several pools, but not the same ones; "
                                 "give one of them nodes of a single pool",
                                 other.file, job.file));
}

// Jobs share the machine, so constants fitted on it must agree. With pools each kind of node has
// its own constants; then only those of groups that span several kinds must agree.
void check_calibration(const Case& job, const Case& other) {
  const bool pools = !job.job.cluster.pools.empty();
  const bool mixed = both_mix(job, other);
  const auto constants = [&](const Case& of) {
    std::map<std::string, std::pair<std::string, double>> found;
    for (const ResolvedValue& value : of.values) {
      const bool law = pools && value.key == "communication.law";
      const bool constant = (!pools || mixed) && value.key.starts_with("calibration.");
      if (!law && !constant) continue;
      found[value.key] = {value.value, value.number.value_or(0)};
    }
    return found;
  };
  if (constants(job) == constants(other)) return;
  throw Error(
      job.places.where("calibration"),
      fmt::format("calibration: it differs from that of the job {}, but the jobs share one machine",
                  other.file));
}

void check_every_step(const Case& job) {
  const auto refuse = [&](const char* key, bool stated, const char* without) {
    if (!stated) return;
    throw Error(
        job.places.where(key),
        fmt::format(
            "{}: a scenario of several jobs is simulated for one step, without {}; leave it out",
            key, without));
  };
  refuse("redundancy", job.job.redundancy != nullptr, "stragglers");
  refuse("sync", !job.job.sync.empty(), "exchanges between islands");
  refuse("filling", job.job.filling != nullptr, "other work in idle time");
  for (const AskedStudy& study : asked_studies()) {
    refuse(study.key, study.without != nullptr && study.is_in(job.asked), study.without);
  }
}

void check_power(const Case& job) {
  if (!job.asked.has<PowerSpec>()) return;
  throw Error(job.places.where("cluster.power"),
              "cluster.power: is only possible for a single job; leave it out");
}

// A simulation of several jobs draws stragglers anew, so a job would have other stragglers alone
// than among other jobs.
void check_jitter(const Case& job) {
  if (!job.job.cluster.jitter.active()) return;
  throw Error(job.places.where("cluster.jitter"),
              "cluster.jitter: each simulation of several jobs draws stragglers anew, so their "
              "effect could not be separated from that of the jobs on each other; leave it out");
}

std::string placement_text(const std::vector<int>& places) {
  return fmt::format("node\n{}\n", fmt::join(places, "\n"));
}

// Files that the shared cluster names are next to the scenario of several jobs, not next to each
// job.
std::vector<NamedFile> files_of_cluster(NamedFiles& files, const Values& cluster) {
  std::vector<std::string> names;
  if (cluster.has("cluster.fabric.edges_file")) {
    names.push_back(cluster.text("cluster.fabric.edges_file"));
  }
  for (int pool = 0; pool < cluster.length("cluster.pools"); ++pool) {
    const std::string& name = cluster.text(fmt::format("cluster.pools.{}.calibration", pool));
    if (name.ends_with(".yaml")) names.push_back(name);
  }
  std::vector<NamedFile> given;
  for (const std::string& name : names) given.push_back({.name = name, .text = files.text(name)});
  return given;
}

// A job that assigns axes to pools is resolved alone first, to find which of its nodes need which
// pools, and in which order.
void read_axes(const Cluster& machine, JobText& job) {
  if (!job.names_pools || !job.places.empty()) return;
  const Cluster alone = resolve_case(job.scenario).job.cluster;
  if (alone.places.empty()) return;
  job.order.resize(alone.places.size());
  std::iota(job.order.begin(), job.order.end(), 0);
  std::ranges::sort(job.order, {}, [&](int node) { return alone.places[node]; });
  for (const int node : job.order) {
    job.pools.push_back(machine.pool_of_place(alone.places[node]));
  }
}

// [node of the job] Its node of the machine. `chosen` lists these in the order of JobText::order.
std::vector<int> in_order_of_job(const JobText& job, const std::vector<int>& chosen) {
  if (job.order.empty()) return chosen;
  std::vector<int> places(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) places[job.order[i]] = chosen[i];
  return places;
}

DocumentNode company_document(const ScenarioText& scenario) {
  DocumentNode document = parse_document(scenario.text, scenario.file);
  for (const auto& [key, value] : scenario.set) {
    if (std::ranges::find(kKeys, split_path(key).front()) == kKeys.end()) {
      throw Error(Location{override_place(key, value)},
                  fmt::format("a scenario of several jobs can only have {}; keys of one job are "
                              "set in its own file",
                              fmt::join(kKeys, ", ")));
    }
    apply_override(document, key, value);
  }
  check_keys(document);
  return document;
}

}  // namespace

bool has_jobs(const ScenarioText& scenario) {
  try {
    const DocumentNode document = parse_document(scenario.text, scenario.file);
    return document.kind == DocumentNode::Kind::map && document.value_of("jobs") != nullptr;
  } catch (const Error&) {
    return false;  // the caller then reads it as one job and reports the fault
  }
}

Company resolve_company(const ScenarioText& scenario) {
  const DocumentNode document = company_document(scenario);
  Company company;
  company.scenario = check_values(*document.value_of("name"), "name").text("name");
  if (const DocumentNode* placement = document.value_of("placement")) {
    company.placement =
        value_of<JobPlacement>(check_values(*placement, "placement").text("placement"));
  }
  NamedFiles files(std::filesystem::path(scenario.file).parent_path().string(), scenario.files);
  const Values shared = check_values(*document.value_of("cluster"), "cluster");
  const Cluster machine = resolve_cluster(shared, EvidenceList(nullptr), files);
  if (shared.has("cluster.fabric.nodes")) {
    shared.fail(
        "cluster.fabric.nodes",
        "the fabric joins exactly the nodes of the cluster that the jobs share; leave it out");
  }
  if (shared.stated("cluster.fabric.measured")) {
    shared.fail("cluster.fabric.measured",
                "was measured with one job on all GPUs, which does not show how several jobs share "
                "the network");
  }
  company.nodes = machine.nodes;
  const Values names = check_values(*document.value_of("jobs"), "jobs");
  std::vector<JobText> jobs;
  std::vector<int> nodes;
  std::vector<std::vector<int>> stated;
  for (int i = 0; i < names.length("jobs"); ++i) {
    jobs.push_back(read_job(scenario, names.at(fmt::format("jobs.{}", i)), files, machine.nodes));
    check_alike(jobs.back(), shared, machine.nodes);
    nodes.push_back(jobs.back().nodes);
    stated.push_back(jobs.back().places);
  }
  if (jobs.empty()) names.fail("jobs", "there is none; add e.g. '[a.yaml, b.yaml]'");
  check_apart(jobs);
  check_room(jobs, machine.nodes, names.where("jobs"));
  std::vector<std::vector<int>> wanted;
  for (JobText& job : jobs) {
    job.scenario.set = {{"cluster", cluster_of_job(document, job.nodes, machine)}};
    job.scenario.set_at = std::make_shared<const Location>(shared.where("cluster"));
    job.scenario.files = files_of_cluster(files, shared);
    read_axes(machine, job);
    wanted.push_back(job.pools);
  }
  check_pools(jobs, machine, names.where("jobs"));
  const auto places = places_of_jobs(machine, company.placement, nodes, std::move(stated), wanted);
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    ScenarioText& text = jobs[job].scenario;
    text.set.emplace_back("layout.placement", kPlacesFile);
    // The placement now implies the pools of layout.place.
    if (!jobs[job].order.empty()) text.set.emplace_back("layout.place", "{}");
    text.files.push_back(
        {.name = kPlacesFile, .text = placement_text(in_order_of_job(jobs[job], places[job]))});
    company.jobs.push_back(resolve_case(text));
    for (const Case& other : company.jobs) {
      check_mix(company.jobs.back(), other, jobs[job].where);
      check_calibration(company.jobs.back(), other);
    }
    check_jitter(company.jobs.back());
    check_power(company.jobs.back());
    check_every_step(company.jobs.back());
    company.key += company.jobs.back().key;
  }
  company.key = text_hash(company.key);
  return company;
}

}  // namespace windtunnel
