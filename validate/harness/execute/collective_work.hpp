// What a member of a group does in one collective of a Plan, prepared before the run: whom it sends
// how many bytes in how many rounds, by the same algorithm that the simulator costs, and what of it
// is the algorithm itself on real numbers (validate/harness/collectives).
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
  rounds,          // bytes over the algorithm's edges, a round for each of its steps
  all_reduce,      // as a ring of sums
  reduce_scatter,  // likewise
  all_gather,      // as a ring
  all_to_all,      // pairwise
};

struct CollectiveWork {
  CollectiveForm form = CollectiveForm::rounds;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  int rank = 0;  // among the members
  std::vector<RankId> members;
  double bytes = 0;      // of the buffer, in the scenario
  double latency_s = 0;  // of all rounds together; of the scenario
  int rounds = 1;
  double edge_s = 0;      // of the scenario: what goes over the busiest edge, on an idle link
  bool by_turns = false;  // a round is an exchange with one other member
  // What a byte of the payload occupies of the links: by destination, of forms other than rounds.
  std::map<int, double> occupied;
  // By member: bytes of the scenario that its links carry in all rounds.
  std::map<int, double> out;
  std::vector<int> in;  // members that send
};

// As they run where the scenario's times are divided so: steps that would be too short for a thread
// to wake in between are joined, and then it runs in rounds. 0: it has none.
int executed_rounds(const CollectiveWork& work, double times);
bool runs_on_numbers(const CollectiveWork& work, double times);

// Of a Plan on a machine: which collective is run how.
class CollectiveWorks {
 public:
  // Keeps references.
  CollectiveWorks(const Plan& plan, const Cluster& cluster, const Calibration& calibration,
                  const std::vector<Calibration>& pool_calibrations, const LinkTable& links)
      : plan_(plan),
        cluster_(cluster),
        links_(links),
        calibration_(calibration),
        pool_calibrations_(pool_calibrations) {}

  // A collective task of a member of its class.
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

// What this machine has to carry: the bytes of all messages, collectives and copies, and how fast
// they are carried where every rank sends over the fastest link that it ever uses. Of the scenario.
struct CarriedBytes {
  double total = 0;
  double peak_Bps = 0;
};
CarriedBytes carried_bytes(const Plan& plan, const CollectiveWorks& works, const LinkTable& links);

// The numbers that a collective runs on, and what must come of them: whole and small, so that sums
// are exact in any order, and other ones in each collective, so that what is left of the last one
// does not pass for its result. Of each part the first, the middle and the last is set and looked
// at.

struct CollectiveNumbers {
  CollectiveForm form = CollectiveForm::all_reduce;
  std::size_t members = 1;
  std::size_t own = 0;   // this member
  std::size_t part = 1;  // elements of a member
  std::size_t sequence = 0;

  std::size_t elements() const { return members * part; }
  // Whether what comes of them stands beside what is given; else in its place.
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
  // visit(at): elements that are looked at, before it and after it.
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
