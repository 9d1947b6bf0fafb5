// These properties must hold in any campaign. They are checked on 1,000 random ones with every
// combination of tiers, failures and recovery; what was restored is compared with an independent
// bookkeeping from the events alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "models/base/random.hpp"
#include "tests/sim/campaign/random_campaign.hpp"

namespace windtunnel {
namespace {

constexpr double kRounding = 1e-9;

void expect_sound_account(const CampaignInputs& inputs, const TrialResult& result) {
  double sum_s = result.useful_s;
  for (const double lost_s : result.lost_s) {
    EXPECT_GE(lost_s, -kRounding * result.wall_s);
    sum_s += lost_s;
  }
  EXPECT_NEAR(sum_s, result.wall_s, kRounding * result.wall_s);
  EXPECT_LE(result.wall_s, inputs.campaign.length_s);
  EXPECT_GE(result.useful_s, 0);
  EXPECT_LE(result.useful_s, result.wall_s * (1 + kRounding));
  const double useful_most_s = static_cast<double>(result.iterations) * inputs.table.iteration_s[0];
  EXPECT_LE(result.useful_s, useful_most_s * (1 + kRounding));
  // A smaller job's iteration may be shorter than a full one, but its share of the batch is
  // smaller, too.
  double shortest_s = inputs.table.iteration_s[0];
  for (const double shrunk_s : inputs.table.shrunk_iteration_s) {
    shortest_s = std::min(shortest_s, shrunk_s);
  }
  EXPECT_LE(static_cast<double>(result.iterations) * shortest_s, result.wall_s * (1 + kRounding));
}

// Follows the events of one campaign: when its runs of training began, at which iteration,
// and which slots were lost since.
class Follower {
 public:
  Follower(const CampaignInputs& inputs, const TrialResult& result)
      : inputs_(inputs), result_(result) {
    begun_.push_back({0, 0});
  }

  void follow(const std::vector<CampaignEvent>& events) {
    double before_s = 0;
    for (const CampaignEvent& event : events) {
      EXPECT_GE(event.at_s, before_s);
      before_s = event.at_s;
      take(event);
    }
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events.back().kind, CampaignEvent::Kind::end);
    EXPECT_EQ(events.back().at_s, inputs_.campaign.length_s);
    EXPECT_LE(result_.node_down_s, down_most_s_ * (1 + kRounding));
    EXPECT_EQ(evicted_, result_.count(CampaignCount::evicted_nodes));
  }

  int restored_with_losses() const { return restored_with_losses_; }
  int restored() const { return restored_; }
  int saved() const { return saved_; }
  int unsaved() const { return unsaved_; }

 private:
  struct Begun {  // a run, or the last snapshot to a tier before a stop
    double at_s;
    std::int64_t iteration;
    int tier = kNoTier;
  };
  struct Lost {
    double at_s;
    int slot;
    bool node;  // also the host's memory
  };

  void take(const CampaignEvent& event) {
    using Kind = CampaignEvent::Kind;
    switch (event.kind) {
      case Kind::failure:
        take_failure(event);
        break;
      case Kind::swapped:
        for (const int slot : event.nodes) lose(event.at_s, slot, true);
        if (inputs_.failures[event.failure_class].notice_s > 0) {
          ++(begun_.back().tier != kNoTier && begun_.back().at_s == event.at_s ? saved_ : unsaved_);
        }
        break;
      case Kind::restored:
        check_restored(event);
        trained_s_ = event.at_s;
        begun_.push_back({event.at_s, event.iteration});
        break;
      case Kind::saved:
        begun_.push_back({event.at_s, event.iteration, event.tier});
        break;
      case Kind::reformed:
        reformed_ = true;
        begun_.push_back({event.at_s, event.iteration});
        break;
      case Kind::repaired:
        EXPECT_LE(event.nodes[0], inputs_.nodes + inputs_.recovery.spares + given_);
        --out_;
        EXPECT_GE(out_, 0);
        break;
      case Kind::evicted:
        ++evicted_;
        --out_;
        EXPECT_GE(out_, 0);
        break;
      case Kind::detected:
      case Kind::grown:
      case Kind::end:
        break;
    }
  }

  void take_failure(const CampaignEvent& event) {
    const FailureClass& failure_class = inputs_.failures[event.failure_class];
    const std::set<int> once(event.nodes.begin(), event.nodes.end());
    EXPECT_EQ(once.size(), event.nodes.size());
    for (const int slot : event.nodes) {
      EXPECT_GE(slot, 0);
      EXPECT_LT(slot, inputs_.nodes);
      given_ += is_reclaimed(failure_class) ? 1 : 0;
      // These failures take the node away later.
      if (failure_class.kind == FailureKind::slow_node || failure_class.notice_s > 0) continue;
      lose(event.at_s, slot, failure_class.kind == FailureKind::node);
    }
  }

  void lose(double at_s, int slot, bool node) {
    lost_.push_back({at_s, slot, node});
    if (!node) return;
    ++out_;
    EXPECT_LE(out_, inputs_.nodes + inputs_.recovery.spares);
    down_most_s_ += inputs_.campaign.length_s - at_s;
  }

  // Returns since when a copy of this iteration can exist: it is the last that a stop saved, or was
  // made in the last run that began before the iteration. Later runs began at or after the
  // iteration and take their first snapshot later.
  double made_since_s(int tier, std::int64_t iteration) const {
    for (std::size_t i = begun_.size(); i-- > 0;) {
      const Begun& begun = begun_[i];
      const bool saved = begun.tier == tier && begun.iteration == iteration;
      if (saved || (begun.tier == kNoTier && begun.iteration < iteration)) return begun.at_s;
    }
    ADD_FAILURE() << "nobody made a copy of " << iteration;
    return 0;
  }

  void check_restored(const CampaignEvent& event) {
    EXPECT_GE(event.lost_iterations, 0);
    if (event.tier == kNoTier) {
      EXPECT_EQ(event.iteration, 0);
      return;
    }
    ++restored_;
    const SnapshotTier& tier = inputs_.table.tiers[event.tier].tier;
    if (tier.place == SnapshotPlace::storage) return;
    // After an elastic recovery a run may begin with a snapshot, so the copy's age is unknown.
    if (reformed_) return;
    const bool replicas = tier.place == SnapshotPlace::replicas;
    const double since_s = replicas ? trained_s_ : made_since_s(event.tier, event.iteration);
    std::set<int> lost;
    for (const Lost& one : lost_) {
      if (one.at_s >= since_s && (one.node || replicas)) lost.insert(one.slot);
    }
    restored_with_losses_ += lost.empty() ? 0 : 1;
    const Groups groups = replicas ? Groups{inputs_.same_shard.size, inputs_.same_shard.stride,
                                            inputs_.same_shard.size - 1}
                                   : coded_groups(tier.code);
    std::vector<int> by_group(inputs_.nodes, 0);
    for (const int slot : lost) {
      EXPECT_LE(++by_group[group_of(slot, groups)], groups.tolerated)
          << tier_name(tier) << " at " << event.at_s << " from " << event.iteration << " since "
          << since_s;
    }
    EXPECT_TRUE(replicas || tier.place == SnapshotPlace::local_disk || tier.keeper_process)
        << tier_name(tier) << " outlived its trainers";
  }

  // Groups and tolerance are computed independently: replicas by same_shard, codes by their
  // members.
  struct Groups {
    int size, stride, tolerated;
  };

  Groups coded_groups(const ErasureCode& code) const {
    if (code.parity == 0 || code.in_node) return {1, 1, 0};
    const int size = code.data + code.parity;
    return {size, code.spread ? inputs_.nodes / size : 1, code.parity};
  }

  int group_of(int slot, const Groups& groups) const {
    const int blocks = std::max(1, inputs_.nodes / (groups.size * groups.stride));
    const int block = std::min(slot / (groups.size * groups.stride), blocks - 1);
    return block * groups.stride + slot % groups.stride;
  }

  const CampaignInputs& inputs_;
  const TrialResult& result_;
  std::vector<Begun> begun_;
  std::vector<Lost> lost_;
  double trained_s_ = 0;  // when all last began to train
  bool reformed_ = false;
  int out_ = 0;
  int restored_ = 0;
  int given_ = 0;    // upper bound of nodes that a provider gave
  int saved_ = 0;    // nodes that left with a notice, after a snapshot for it
  int unsaved_ = 0;  // nodes that left without one
  int restored_with_losses_ = 0;
  std::int64_t evicted_ = 0;
  double down_most_s_ = 0;
};

TEST(CampaignInvariants, HoldInAnyCampaign) {
  int restored = 0;
  int restored_with_losses = 0;
  int saved = 0;
  int unsaved = 0;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    SCOPED_TRACE(index);
    const CampaignInputs inputs = random_campaign(5000 + index);
    std::vector<CampaignEvent> events;
    const TrialResult result = run_trial(inputs, 0, CampaignMode::fast_forward, &events);
    expect_sound_account(inputs, result);
    Follower follower(inputs, result);
    follower.follow(events);
    restored += follower.restored();
    restored_with_losses += follower.restored_with_losses();
    saved += follower.saved();
    unsaved += follower.unsaved();
    // Recording events does not change the result.
    EXPECT_TRUE(result == run_trial(inputs, 0, CampaignMode::fast_forward));
  }
  EXPECT_GT(restored, 5000);
  EXPECT_GT(restored_with_losses, 300);
  EXPECT_GT(saved, 300);
  EXPECT_GT(unsaved, 300);
}

TEST(CampaignInvariants, TheSameBytesOnAnyNumberOfThreads) {
  for (std::uint64_t index = 0; index < 20; ++index) {
    SCOPED_TRACE(index);
    CampaignInputs inputs = random_campaign(8000 + index);
    inputs.campaign.trials = 12;
    const CampaignReport one = run_campaign(inputs, 1);
    for (const int threads : {2, 7}) {
      const CampaignReport more = run_campaign(inputs, threads);
      EXPECT_EQ(one.trial_goodput, more.trial_goodput);
      EXPECT_EQ(one.goodput, more.goodput);
      EXPECT_EQ(one.failures, more.failures);
      EXPECT_EQ(one.survival, more.survival);
      EXPECT_EQ(one.nodes_down, more.nodes_down);
      for (int loss = 0; loss < kLosses; ++loss) EXPECT_EQ(one.lost_s[loss], more.lost_s[loss]);
    }
  }
}

}  // namespace
}  // namespace windtunnel
