// Groups of replicas, some of which can be out while the others continue
// (models/reliability/recovery.hpp). Groups have equal numbers of consecutive slots.
#pragma once

#include <vector>

#include "models/reliability/recovery.hpp"

namespace windtunnel {

class Groups {
 public:
  // `most_out` groups may be out at once. Empty if the recovery is not elastic.
  Groups(const ElasticGroups& elastic, int slots, int most_out);

  int out() const { return static_cast<int>(out_.size()); }
  int lacking() const { return lacking_; }  // groups with missing nodes
  bool is_out(int slot) const { return of(slot).out; }
  bool all_out(const std::vector<int>& slots) const;
  // Whether the other groups can continue if these slots are lost as well.
  bool can_lose(const std::vector<int>& slots) const;

  // The groups of these slots drop out. They can rejoin from ready_s on, if they have all nodes by
  // then.
  void lose(const std::vector<int>& slots, double ready_s);
  void emptied(int slot);
  void filled(int slot, double at_s);

  double next_back_s() const;  // earliest rejoining time of a group; infinite: none
  // Rejoins the groups whose time has come.
  void take_back(double now_s);
  // The whole job restarted: only groups with missing nodes are out.
  void restart();

 private:
  struct Group {
    bool out = false;
    int empty = 0;
    double ready_s = 0;
  };
  int index_of(int slot) const;
  Group& of(int slot) { return groups_[index_of(slot)]; }
  const Group& of(int slot) const { return groups_[index_of(slot)]; }
  double back_s(const Group& group) const;

  double rejoin_s_;
  int slots_;
  int most_out_;
  std::vector<Group> groups_;
  std::vector<int> out_;
  int lacking_ = 0;
};

}  // namespace windtunnel
