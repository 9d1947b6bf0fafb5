#include "validate/harness/ranks/rank_place.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr int kLastPort = 65535;
// Port of torch's rendezvous, used if the job has no name.
constexpr int kUsualPort = 29500;
// Range of ports derived from a job's name: below the ports that Linux gives to clients.
constexpr int kFirstDerivedPort = 18000;
constexpr std::uint32_t kDerivedPorts = 14000;

// The variables of one launcher; in each list the first that is set counts.
struct Launcher {
  const char* rank;
  std::array<const char*, 2> ranks;
  std::array<const char*, 2> job;
};
// The innermost comes first: srun may start torchrun, and mpirun may run in a Slurm job.
constexpr std::array<Launcher, 4> kLaunchers = {{
    {"RANK", {"WORLD_SIZE", nullptr}, {"TORCHELASTIC_RUN_ID", nullptr}},
    {"OMPI_COMM_WORLD_RANK",
     {"OMPI_COMM_WORLD_SIZE", nullptr},
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {"PMI_RANK", {"PMI_SIZE", nullptr}, {"PMI_JOBID", "SLURM_JOB_ID"}},
    {"SLURM_PROCID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, {"SLURM_JOB_ID", nullptr}},
}};

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  std::string text(const char* name) const {
    const char* const value = name == nullptr ? nullptr : environment_(name);
    return value == nullptr ? "" : value;
  }
  bool has(const char* name) const { return !text(name).empty(); }
  template <std::size_t kCount>
  const char* first_of(const std::array<const char*, kCount>& names) const {
    for (const char* name : names) {
      if (has(name)) return name;
    }
    return nullptr;
  }
  int number(const char* name, int low, int high) const {
    const std::string value = text(name);
    int number = 0;
    const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (fault != std::errc() || end != value.data() + value.size() || number < low ||
        number > high) {
      throw Error(
          fmt::format("{} is '{}' in the environment; expected a whole number from {} to {}", name,
                      value, low, high));
    }
    return number;
  }

 private:
  const Environment& environment_;
};

// A job's script itself runs once, although it may start many tasks with srun.
bool in_job_script(const Variables& variables) {
  return variables.has("SLURM_JOB_ID") && !variables.has("SLURM_STEP_ID");
}

const Launcher* launcher_of(const Variables& variables) {
  for (const Launcher& launcher : kLaunchers) {
    if (!variables.has(launcher.rank)) continue;
    // A name as common as RANK may mean something else if the size is not set.
    if (variables.first_of(launcher.ranks) == nullptr) continue;
    if (std::string_view(launcher.rank) == "SLURM_PROCID" && in_job_script(variables)) continue;
    return &launcher;
  }
  return nullptr;
}

int port_of(const std::string& job) {
  if (job.empty()) return kUsualPort;
  return kFirstDerivedPort + static_cast<int>(job_word(job) % kDerivedPorts);
}

struct Address {
  std::string host;
  int port = 0;  // 0: not stated
};

// Parses "host", "host:port", "[v6]:port"; several colons without brackets are an IPv6 address.
Address parsed_address(const std::string& text, const char* what) {
  const size_t bracket = text.find(']');
  const size_t colon = text.find(':', bracket == std::string::npos ? 0 : bracket);
  const bool v6 = bracket == std::string::npos && colon != text.rfind(':');
  Address address;
  address.host = v6 ? text : text.substr(0, colon);
  if (bracket != std::string::npos && text.front() == '[') {
    address.host = text.substr(1, bracket - 1);
  }
  bool valid = !address.host.empty();
  if (!v6 && colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data() + colon + 1, end, address.port);
    valid = valid && fault == std::errc() && stop == end && address.port >= 1 &&
            address.port <= kLastPort;
  }
  if (!valid) {
    throw Error(fmt::format(
        "{}: '{}' is not an address; expected HOST or HOST:PORT, as in node1:29500", what, text));
  }
  return address;
}

Address master_address(const Variables& variables, bool by_torchrun) {
  Address address = parsed_address(variables.text("MASTER_ADDR"), "MASTER_ADDR");
  if (address.port == 0 && variables.has("MASTER_PORT")) {
    address.port = variables.number("MASTER_PORT", 1, kLastPort - 1);
    // torchrun itself receives connections at MASTER_PORT, so the ranks use the next port.
    if (by_torchrun) ++address.port;
  }
  return address;
}

Address address_of(const Variables& variables, const std::string& coordinator, int ranks) {
  if (!coordinator.empty()) return parsed_address(coordinator, "--coordinator");
  if (variables.has("MASTER_ADDR")) {
    return master_address(variables, variables.has("TORCHELASTIC_RUN_ID"));
  }
  const bool one_host = variables.has("OMPI_COMM_WORLD_LOCAL_SIZE") &&
                        variables.number("OMPI_COMM_WORLD_LOCAL_SIZE", 1, ranks) == ranks;
  if (one_host) return {"127.0.0.1"};
  for (const char* hosts : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"}) {
    if (variables.has(hosts)) return {first_host(variables.text(hosts))};
  }
  throw Error(
      "the launcher does not state where rank 0 is; state it with --coordinator HOST:PORT, or with "
      "MASTER_ADDR and MASTER_PORT in the environment of every rank");
}

}  // namespace

std::optional<RankPlace> launched_place(const Environment& environment,
                                        const std::string& coordinator) {
  const Variables variables(environment);
  const Launcher* const launcher = launcher_of(variables);
  if (launcher == nullptr) {
    if (coordinator.empty()) return std::nullopt;
    throw Error(
        "--coordinator: no launcher started this process; use mpirun, srun or torchrun, or set "
        "RANK and WORLD_SIZE for each process");
  }
  constexpr int kMostRanks = 1 << 20;
  RankPlace place;
  place.ranks = variables.number(variables.first_of(launcher->ranks), 1, kMostRanks);
  place.rank = variables.number(launcher->rank, 0, place.ranks - 1);
  if (place.ranks == 1 && coordinator.empty()) return std::nullopt;
  place.job = variables.text(variables.first_of(launcher->job));
  if (std::string_view(launcher->rank) == "SLURM_PROCID" && variables.has("SLURM_STEP_ID")) {
    place.job += "." + variables.text("SLURM_STEP_ID");
  }
  const Address address = address_of(variables, coordinator, place.ranks);
  place.host = address.host;
  place.port = address.port > 0 ? address.port : port_of(place.job);
  return place;
}

std::uint64_t job_word(const std::string& job) {
  std::uint64_t word = 14695981039346656037ULL;
  for (const char c : job) word = (word ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return word;
}

std::string first_host(const std::string& list) {
  std::string host;
  for (size_t i = 0; i < list.size() && list[i] != ','; ++i) {
    if (list[i] != '[') {
      host += list[i];
      continue;
    }
    const size_t end = list.find_first_of("-,]", i + 1);
    host += list.substr(i + 1, end == std::string::npos ? end : end - i - 1);
    i = std::min(list.find(']', i), list.size() - 1);
  }
  return host;
}

}  // namespace windtunnel
