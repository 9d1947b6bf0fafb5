// The work of a group's member in one collective of a Plan, prepared before the run: the bytes it
// sends to each member and the number of rounds, by the algorithm that the simulator costs, and
// whether it runs the real algorithm on numbers (validate/harness/collectives).
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

// How it runs.
enum class CollectiveForm : std::uint8_t {
  rounds,          // sends bytes over the algorithm's edges, in a round for each step
  all_reduce,      // a ring of sums
  reduce_scatter,  // a ring of sums
  all_gather,      // a ring
  all_to_all,      // pairwise
};

struct CollectiveWork {
  CollectiveForm form = CollectiveForm::rounds;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  int rank = 0;  // among the members
  std::vector<RankId> members;
  double bytes = 0;      // of the buffer, in the scenario
  double latency_s = 0;  // of all rounds together, in the scenario
  int rounds = 1;
  double edge_s = 0;      // in the scenario: time of the busiest edge on an idle link
  bool by_turns = false;  // in each round, a member exchanges with one other member
  // [member] Bytes that each byte of payload sent to that member occupies on the links, for forms
  // other than rounds.
  std::map<int, double> occupied;
  // [member] Bytes, in the scenario, that this rank sends to that member in all rounds.
  std::map<int, double> out;
  std::vector<int> in;  // members that send
};

// The number of rounds to execute if the scenario's times are divided by `times`. Steps too short
// for a thread to wake between them are joined, and the collective then runs in rounds. 0: no
// rounds.
int executed_rounds(const CollectiveWork& work, double times);
bool runs_on_numbers(const CollectiveWork& work, double times);

// Decides how each collective of a Plan runs on a machine.
class CollectiveWorks {
 public:
  // Keeps references to all arguments.
  CollectiveWorks(const Plan& plan, const Cluster& cluster, const Calibration& calibration,
                  const std::vector<Calibration>& pool_calibrations, const LinkTable& links)
      : plan_(plan),
        cluster_(cluster),
        links_(links),
        calibration_(calibration),
        pool_calibrations_(pool_calibrations) {}

  // The work of one member of the class in a collective task.
  CollectiveWork of(const Task& task, std::int32_t group, RankId rank) const;

 private:
  CollectiveFlows flows_of(const Task& task, const GroupShape& shape,
                           std::span<const RankId> members) const;

  const Plan& plan_;
  const Cluster& cluster_;
  const LinkTable& links_;
  const Calibration& calibration_;
  const std::vector<Calibration>& pool_calibrations_;
};

// What this machine has to carry, in units of the scenario: the bytes of all messages, collectives
// and copies, and the rate if every rank sends over the fastest link that it ever uses.
struct CarriedBytes {
  double total = 0;
  double peak_Bps = 0;
};
CarriedBytes carried_bytes(const Plan& plan, const CollectiveWorks& works, const LinkTable& links);

// Gives the input numbers of a collective and the expected result. Numbers are small and whole, so
// that sums are exact in any order, and differ between collectives, so that a stale result is
// noticed. Only the first, middle and last element of each part are set and checked.
struct CollectiveNumbers {
  CollectiveForm form = CollectiveForm::all_reduce;
  std::size_t members = 1;
  std::size_t own = 0;   // index of this member
  std::size_t part = 1;  // elements per member
  std::size_t sequence = 0;

  std::size_t elements() const { return members * part; }
  // Whether the result has its own memory; else it replaces the input.
  bool beside() const {
    return form == CollectiveForm::reduce_scatter || form == CollectiveForm::all_to_all;
  }
  float given(std::size_t member, std::size_t at) const {
    return static_cast<float>(1 + (member * 31 + at + sequence) % 1021);
  }
  float expected(std::size_t at) const {
    const std::size_t member = at / part;
    if (form == CollectiveForm::all_gather) return given(member, at);
    if (form == CollectiveForm::all_to_all) return given(member, own * part + at % part);
    float sum = 0;
    for (std::size_t m = 0; m < members; ++m) sum += given(m, at);
    return sum;
  }
  // Calls visit(at) for the elements that are checked, before and after the collective.
  template <typename Visit>
  void before(const Visit& visit) const {
    for (std::size_t m = 0; m < members; ++m) visit_part(m, visit);
  }
  template <typename Visit>
  void after(const Visit& visit) const {
    if (form == CollectiveForm::reduce_scatter) return visit_part(own, visit);
    before(visit);
  }

 private:
  template <typename Visit>
  void visit_part(std::size_t member, const Visit& visit) const {
    for (const std::size_t at : {std::size_t{0}, part / 2, part - 1}) visit(member * part + at);
  }
};

}  // namespace windtunnel
