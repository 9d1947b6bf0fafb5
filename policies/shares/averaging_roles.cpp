#include "policies/shares/averaging_roles.hpp"

#include <coin/Clp_C_Interface.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// A linear program that is given row by row. All variables are 0 or more.
class Programme {
 public:
  explicit Programme(int variables) : gain_(variables, 0) {}

  struct Term {
    int variable;
    double factor;
  };
  // Requires the sum of the terms to lie between the two bounds.
  void row(double least, const std::vector<Term>& terms, double most) {
    for (const Term& term : terms) {
      if (term.factor == 0) continue;
      variables_.push_back(term.variable);
      factors_.push_back(term.factor);
    }
    starts_.push_back(static_cast<CoinBigIndex>(variables_.size()));
    least_.push_back(least);
    most_.push_back(most);
  }

  std::vector<double> maximise(int variable) {
    gain_[variable] = 1;
    const auto model =
        std::unique_ptr<Clp_Simplex, decltype(&Clp_deleteModel)>(Clp_newModel(), Clp_deleteModel);
    const int variables = static_cast<int>(gain_.size());
    Clp_setLogLevel(model.get(), 0);
    Clp_resize(model.get(), 0, variables);
    std::ranges::copy(gain_, Clp_objective(model.get()));
    Clp_setOptimizationDirection(model.get(), -1);
    Clp_addRows(model.get(), static_cast<int>(least_.size()), least_.data(), most_.data(),
                starts_.data(), variables_.data(), factors_.data());
    Clp_dual(model.get(), 0);
    CHECK(Clp_status(model.get()) == 0, "the roles of averaging are no optimum: status {}",
          Clp_status(model.get()));
    const double* found = Clp_primalColumnSolution(model.get());
    return {found, found + variables};
  }

 private:
  std::vector<double> gain_;
  std::vector<CoinBigIndex> starts_ = {0};
  std::vector<int> variables_;
  std::vector<double> factors_;
  std::vector<double> least_;
  std::vector<double> most_;
};

// Returns how many peers of kind `k` a peer of kind `own` has besides itself.
double others(const std::vector<AveragingPeers>& kinds, int k, int own) {
  return std::max(0.0, kinds[k].count - (k == own ? 1 : 0));
}

// The variables are rates: at which each peer that computes sends gradients to each averaging peer
// of a kind, [kind]; at which each averaging peer sends means to each computing one, [kind][kind];
// at which a peer gets means, including its own.
class Roles {
 public:
  explicit Roles(const std::vector<AveragingPeers>& kinds)
      : kinds_(kinds),
        count_(static_cast<int>(kinds.size())),
        programme_(count_ + count_ * count_ + 1) {
    for (const AveragingPeers& kind : kinds) widest_ = std::max(widest_, kind.up_Bps);
  }

  AveragingRoles best() {
    for (int own = 0; own < count_; ++own) {
      limit_means(own);
      limit_links(own);
    }
    const std::vector<double> found = programme_.maximise(all());
    AveragingRoles roles{.rate_Bps = found[all()] * widest_, .parts = {}};
    for (int kind = 0; kind < count_; ++kind) roles.parts.push_back(part_of(found, kind));
    return roles;
  }

 private:
  int taken(int kind) const { return kind; }
  int given(int from, int to) const { return count_ * (1 + from) + to; }
  int all() const { return count_ + count_ * count_; }
  bool computes(int kind) const { return kinds_[kind].computes; }

  // A peer sends only means that it has averaged; a peer that computes gets all means.
  void limit_means(int own) {
    for (int to = 0; to < count_; ++to) {
      programme_.row(0, {{taken(own), 1}, {given(own, to), -1}}, kNoLimit);
    }
    if (!computes(own)) return;
    std::vector<Programme::Term> got = {{taken(own), 1}, {all(), -1}};
    for (int from = 0; from < count_; ++from) {
      got.push_back({given(from, own), others(kinds_, from, own)});
    }
    programme_.row(0, got, kNoLimit);
  }

  void limit_links(int own) {
    std::vector<Programme::Term> up;
    std::vector<Programme::Term> down;
    for (int other = 0; other < count_; ++other) {
      const double peers = others(kinds_, other, own);
      if (computes(own)) {  // it sends gradients to peers that average, and gets their means
        up.push_back({taken(other), peers});
        down.push_back({given(other, own), peers});
      }
      if (computes(other)) {  // it sends means to peers that compute, and got their gradients
        up.push_back({given(own, other), peers});
        down.push_back({taken(own), peers});
      }
    }
    programme_.row(-kNoLimit, merged(up), kinds_[own].up_Bps / widest_);
    programme_.row(-kNoLimit, merged(down), kinds_[own].down_Bps / widest_);
  }

  // Merges terms so that a row contains each variable once.
  static std::vector<Programme::Term> merged(std::vector<Programme::Term> terms) {
    std::ranges::sort(terms, {}, &Programme::Term::variable);
    std::vector<Programme::Term> sums;
    for (const Programme::Term& term : terms) {
      if (!sums.empty() && sums.back().variable == term.variable) {
        sums.back().factor += term.factor;
      } else {
        sums.push_back(term);
      }
    }
    return sums;
  }

  // Returns the share of all means that a peer sends or keeps.
  double part_of(const std::vector<double>& found, int kind) const {
    double sent = computes(kind) ? found[taken(kind)] : 0;
    for (int to = 0; to < count_; ++to) {
      if (computes(to)) sent += others(kinds_, to, kind) * found[given(kind, to)];
    }
    const double needed = found[all()] * computing_peers(kinds_);
    return needed > 0 ? sent / needed : 0;
  }

  const std::vector<AveragingPeers>& kinds_;
  int count_;
  Programme programme_;
  double widest_ = 1;  // unit of all rates, because the solver works best near 1
};

double link_rate(const AveragingPeers& kind) {
  return std::min(kind.up_Bps, kind.down_Bps);
}

double narrowest_rate(const std::vector<AveragingPeers>& kinds) {
  double least = kNoLimit;
  for (const AveragingPeers& kind : kinds) {
    if (kind.computes && kind.count > 0) least = std::min(least, link_rate(kind));
  }
  return least;
}

}  // namespace

double computing_peers(const std::vector<AveragingPeers>& kinds) {
  double peers = 0;
  for (const AveragingPeers& kind : kinds) peers += kind.computes ? kind.count : 0;
  return peers;
}

AveragingRoles adaptive_roles(const std::vector<AveragingPeers>& kinds) {
  return Roles(kinds).best();
}

AveragingRoles all_reduce_roles(const std::vector<AveragingPeers>& kinds) {
  const double peers = computing_peers(kinds);
  AveragingRoles roles;
  for (const AveragingPeers& kind : kinds) roles.parts.push_back(kind.computes ? 1 / peers : 0);
  // Each peer sends all its gradients except the part that it averages, and sends the means of that
  // part to the others.
  roles.rate_Bps = narrowest_rate(kinds) * peers / (2 * (peers - 1));
  return roles;
}

AveragingRoles server_roles(const std::vector<AveragingPeers>& kinds) {
  AveragingRoles best{.rate_Bps = 0, .parts = std::vector<double>(kinds.size())};
  const double peers = computing_peers(kinds);
  for (std::size_t server = 0; server < kinds.size(); ++server) {
    if (kinds[server].count < 1) continue;
    std::vector<AveragingPeers> clients = kinds;
    clients[server].count -= 1;
    const double served = peers - (kinds[server].computes ? 1 : 0);
    const double rate = std::min(narrowest_rate(clients), link_rate(kinds[server]) / served);
    if (rate <= best.rate_Bps) continue;
    best.rate_Bps = rate;
    best.parts.assign(kinds.size(), 0);
    best.parts[server] = 1 / kinds[server].count;  // one peer of the kind averages everything
  }
  return best;
}

}  // namespace windtunnel
