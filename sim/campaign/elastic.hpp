// Groups of replicas: some can be out while the others go on (models/reliability/recovery.hpp).
// Slots belong to groups in equal runs.
#pragma once

#include <vector>

#include "models/reliability/recovery.hpp"

namespace windtunnel {

class Groups {
 public:
  // `most_out` groups may be out at once. Not elastic: there are none.
  Groups(const ElasticGroups& elastic, int slots, int most_out);

  int out() const { return static_cast<int>(out_.size()); }
  int lacking() const { return lacking_; }  // groups without all their nodes
  bool is_out(int slot) const { return of(slot).out; }
  bool all_out(const std::vector<int>& slots) const;
  // Whether the others can go on without the groups of these slots, too.
  bool can_lose(const std::vector<int>& slots) const;

  // The groups of these slots are out; what they need besides nodes is there at ready_s.
  void lose(const std::vector<int>& slots, double ready_s);
  void emptied(int slot);
  void filled(int slot, double at_s);

  double next_back_s() const;  // of the groups that are out; infinite: none
  // Takes back those whose time has come.
  void take_back(double now_s);
  // All restarted together: those without all their nodes are out.
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
