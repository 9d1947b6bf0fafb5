// When islands of replicas are at which step, and who waits for whom. While an island trains, it
// ends step s at `offset + T(s)`, T of a job that nothing disturbs: what it has waited or stood
// still so far is all in its offset. Where all wait for the last one at an exchange, its result is
// taken in behind the delay, and offsets are lifted to that of the last island less the slack that
// the delay leaves; where they are no further apart it changes nothing.
// Hence rounds in which nothing happens cost nothing to simulate. An island at a pace of its own
// ends step s at `offset + pace T(s)`, and its exchanges are looked at one by one.
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

  // From now on the island trains, beginning with this step, or it stops. A step takes it `pace`
  // times as long as a whole island.
  void begin(int island, std::int64_t step, double at_s, double pace = 1);
  void stop(int island);
  bool trains(int island) const { return islands_[island].trains; }
  // Marks an island as dropped. The others do not wait for it until it has completed an exchange or
  // loaded the result of one.
  void drop(int island);

  struct Told {
    // It stood still for others, until now.
    std::function<void(int island, double wait_s)> waited;
    // The others went on without it: what it did from `shared` on is in vain. It is to take in what
    // they have, and to begin with `step`.
    std::function<void(int island, double at_s, std::int64_t shared, std::int64_t step)> missed;
  };
  // All exchanges that are through by `until_s`. `missed` stops the island and begins anew.
  void settle(double until_s, const Told& told);

  // Steps that the island, which trains, has ended by `at_s`, and the time at which the last of
  // them ended. `stands`: it may not begin the next before an exchange is through.
  struct Position {
    std::int64_t step = 0;
    double ended_s = 0;
    bool stands = false;
  };
  Position position(int island, double at_s) const;
  double begun_s(int island, std::int64_t step) const {
    return islands_[island].offset_s + islands_[island].pace * elapsed_s(step);
  }

  // The newest weights of an exchange that others hold which train, and the level that they are
  // read at; nothing: none of them trains.
  struct Peers {
    std::int64_t step = 0;
    int level = 0;
  };
  std::optional<Peers> peers(int island) const;
  // The step that the island may not begin before an exchange is through, of this level or of those
  // above it.
  std::int64_t limit(int island, int from_level = 0) const;
  // The last exchange that is through which the island has a part in.
  std::int64_t last_exchange(int island) const;
  // Restarts the island from the state after `step`. Groups in which no island trains fall back to
  // that state too, and repeat later exchanges.
  void set_state(int island, std::int64_t step);

 private:
  struct Island {
    bool trains = true;
    bool awaited = true;
    double offset_s = 0;
    double pace = 1;
    std::int64_t first = 0;  // step that it began with, which takes no snapshot
  };
  struct Group {
    int level;
    int first;                 // island
    std::int64_t through = 0;  // exchanges
    int down = 0;              // members that do not train
    int dropped = 0;           // members that are not awaited
    int lacking = 0;           // members that are awaited and do not train
    // Of those that train.
    bool known = false;
    double last_offset_s = 0;  // offset of the last member that an exchange waits for
    bool at_rest = true;       // an exchange would change nothing
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
  // The step that the group's next exchange holds up, and the offset of a whole island that comes
  // to it when this one does.
  std::int64_t held_step(const Group& group) const;
  double whole_offset_s(const Group& group, int island) const;
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
