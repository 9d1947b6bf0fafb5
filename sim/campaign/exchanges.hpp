// The step of each island of replicas over time, and waiting at exchanges. While an island trains,
// it ends step s at `offset + T(s)`, where T belongs to an undisturbed job; its offset contains all
// the time that it has waited or stood still. An exchange that waits for its last island applies
// its result after a delay. Then the offsets of all islands are raised to that of the last island,
// minus the slack that the delay gives. If they are no further apart than that, nothing changes, so
// rounds without events cost nothing to simulate. An island with another pace ends step s at
// `offset + pace T(s)`, and its exchanges are processed one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/campaign/island_table.hpp"
#include "sim/campaign/pace.hpp"

namespace windtunnel {

class Exchanges {
 public:
  // Keeps references. All islands begin with step 0 at time 0.
  Exchanges(const IslandTable& table, const Pace& pace);

  // Records that the island starts to train with this step. Its steps take `pace` times as long as
  // those of a complete island. stop(): it no longer trains.
  void begin(int island, std::int64_t step, double at_s, double pace = 1);
  void stop(int island);
  bool trains(int island) const { return islands_[island].trains; }
  // Records that an island is dropped: the others do not wait for it until it has completed an
  // exchange or loaded the result of one.
  void drop(int island);

  struct Told {
    // The island has waited `wait_s` at an exchange for others.
    std::function<void(int island, double wait_s)> waited;
    // The others went on without it, so its work since step `shared` is lost. It must load their
    // state, and go on with `step`.
    std::function<void(int island, double at_s, std::int64_t shared, std::int64_t step)> missed;
  };
  // Processes all exchanges that complete by `until_s`. Told::missed must stop the island and
  // restart it.
  void settle(double until_s, const Told& told);

  // How many steps a training island has ended by `at_s`, and the end of the last one. `stands`: it
  // cannot begin the next step before an exchange completes.
  struct Position {
    std::int64_t step = 0;
    double ended_s = 0;
    bool stands = false;
  };
  Position position(int island, double at_s) const;
  double begun_s(int island, std::int64_t step) const {
    return islands_[island].offset_s + islands_[island].pace * elapsed_s(step);
  }

  // The newest exchanged weights that a training island other than this one holds, and the level at
  // which they are read; empty: no other island trains.
  struct Peers {
    std::int64_t step = 0;
    int level = 0;
  };
  std::optional<Peers> peers(int island) const;
  // Returns the step that the island cannot begin before an exchange completes, at this level or
  // those above.
  std::int64_t limit(int island, int from_level = 0) const;
  // Returns the step of the last completed exchange in which the island takes part.
  std::int64_t last_exchange(int island) const;
  // Goes back to the state that `step` starts from, with a restarting island. Groups in which no
  // island trains also go back to it, and repeat later exchanges.
  void set_state(int island, std::int64_t step);

 private:
  struct Island {
    bool trains = true;
    bool awaited = true;
    double offset_s = 0;
    double pace = 1;
    std::int64_t first = 0;  // first step since it started, which takes no snapshot
  };
  struct Group {
    int level;
    int first;                 // its first island
    std::int64_t through = 0;  // number of completed exchanges
    int down = 0;              // members that do not train
    int dropped = 0;           // members that the others do not wait for
    int lacking = 0;           // members that the others wait for, and that do not train
    // The following members describe the islands that train.
    bool known = false;
    double last_offset_s = 0;  // that of the last island for which an exchange waits
    bool at_rest = true;       // the next exchange would change nothing
  };
  const IslandLevel& level_of(const Group& group) const { return table_.levels[group.level]; }
  Group& group_of(int level, int island) {
    return groups_[begin_of_level_[level] + island / table_.levels[level].members];
  }
  const Group& group_of(int level, int island) const {
    return const_cast<Exchanges&>(*this).group_of(level, island);
  }
  double elapsed_s(std::int64_t step) const;
  double spared_s(std::int64_t first) const;
  double slack_s(const IslandLevel& level) const;
  // held_step() returns the step that cannot begin before the group's next exchange completes.
  // whole_offset_s() returns the offset of a complete island that would begin `step` at the same
  // time as this one.
  std::int64_t held_step(const Group& group) const;
  double whole_offset_s(int island, std::int64_t step) const {
    const double offset_s = islands_[island].offset_s;
    const double pace = islands_[island].pace;
    return pace == 1 ? offset_s : offset_s + (pace - 1) * elapsed_s(step);
  }
  void look_at(Group& group);
  bool is_stuck(const Group& group) const {
    return group.lacking > level_of(group).missing || group.down == level_of(group).members;
  }
  void mark(int island, bool trains, bool awaited);
  void catch_up(double until_s, const Group* but);
  void complete(Group& group, double at_s, const Told& told);
  void set_offset(int island, double offset_s);

  const IslandTable& table_;
  const Pace& pace_;
  std::vector<Island> islands_;
  std::vector<Group> groups_;
  std::vector<int> begin_of_level_;
  std::vector<double> arrivals_;  // scratch
};

}  // namespace windtunnel
