// The probability that copies survive the loss of the nodes that hold them, in closed form. Only
// reports use it (survival in 7 days). A campaign decides by policies/protection/snapshot_tiers.hpp
// (survives_nodes) whether given losses are too many, and sim/campaign/copies.cpp drops the copy.
#pragma once

namespace windtunnel {

// Probability that a node is still up after time_s, for a Weibull law with this mean life and shape
// (1: exponential).
double node_survival(double time_s, double mean_life_s, double shape);

// Probability that an MDS code over `members`, which tolerates the loss of `tolerated` of them, is
// lost when each member is lost independently with probability `loss`: sum_{i > tolerated} C(n,i)
// q^i (1-q)^(n-i), accurate to 1e-12 even where it is small.
double group_loss(int members, int tolerated, double loss);

// Probability that no group loses more than `tolerated` members when exactly `lost` of `nodes`
// nodes are lost, all sets being equally likely. Groups have `members` nodes; a remainder joins the
// last group.
double survival_after_losses(int nodes, int members, int tolerated, int lost);

}  // namespace windtunnel
