// The probability that copies outlive the loss of the nodes that hold them, in closed form. For
// reports alone (survival in 7 days): a campaign asks policies/protection/snapshot_tiers.hpp
// (survives_nodes) whether these lost nodes are too many, and sim/campaign/copies.cpp drops the
// copy.
#pragma once

namespace windtunnel {

// Probability that a node is still up after time_s, by a Weibull law with this mean life and shape
// (1: exponential).
double node_survival(double time_s, double mean_life_s, double shape);

// The probability that an MDS code over `members`, which survives the loss of `tolerated` of them,
// is lost when each is lost with probability `loss`, independently:
// sum_{i > tolerated} C(n,i) q^i (1-q)^(n-i), accurate to 1e-12 where it is small, too.
double group_loss(int members, int tolerated, double loss);

// Exactly `lost` of `nodes` nodes are lost, every set of them equally likely: that no group loses
// more than `tolerated`. Groups of `members`; what is left over joins the last group.
double survival_after_losses(int nodes, int members, int tolerated, int lost);

}  // namespace windtunnel
