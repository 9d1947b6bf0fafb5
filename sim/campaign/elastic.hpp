// Groups of replicas of which some can be out while the others go on
// (models/reliability/recovery.hpp). Each group has the same number of consecutive slots.
#pragma once

#include <vector>

#include "models/reliability/recovery.hpp"

namespace windtunnel {

class Groups {
 public:
  // At most `most_out` groups may be out at once. Without elastic recovery there are no groups.
  Groups(const ElasticGroups& elastic, int slots, int most_out);

  int out() const { return static_cast<int>(out_.size()); }
  int lacking() const { return lacking_; }  // number of groups with missing nodes
  bool is_out(int slot) const { return of(slot).out; }
  bool all_out(const std::vector<int>& slots) const;
  // Whether the other groups can go on if these slots are lost, too.
  bool can_lose(const std::vector<int>& slots) const;

  // Drops the groups of these slots. They can rejoin from `ready_s` on, if they have all nodes by
  // then.
  void lose(const std::vector<int>& slots, double ready_s);
  void emptied(int slot);
  void filled(int slot, double at_s);

  double next_back_s() const;  // earliest time at which a group can rejoin; infinite: none
  // Lets the groups rejoin whose time has come.
  void take_back(double now_s);
  // Records a restart of the whole job: then only groups with missing nodes are out.
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
