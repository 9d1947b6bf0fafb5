// How fast many trainers are that send each layer's input to experts on peers and wait for some of
// the answers (Learning@home, arXiv 2002.04013, section 3.1). Trainers wait for the network most of
// the time, but with enough of them the peers never do, so that the latency costs nothing; one
// batch at a time, as in a pipeline without micro-batches, pays all of it.
#pragma once

#include "models/volunteers/volunteers.hpp"

namespace windtunnel {

// The mean time until `answers` of `experts` have come, at response times that are exponential
// about `response_s`. Calls are lost with a probability each; with fewer answers than asked for a
// trainer waits until the time-out, which no answer comes after. Mean of the k-th of m: response_s
// times (1/m + 1/(m-1) + ... + 1/(m-k+1)).
double answered_s(const ExpertCalls& calls, double response_s);

// A closed network: batches, each of which passes so many layers (forward and backward count
// apart), and peers that compute what it asks for.
struct CalledPeers {
  int peers = 1;
  double visits = 1;     // of a layer, by a batch
  double wait_s = 0;     // on the network, of each
  double compute_s = 0;  // of an expert's part of each, on one peer
  int experts = 1;       // that compute it at once, each on any peer
};

// Batches a second with so many in flight, by mean value analysis (Reiser and Lavenberg, J. ACM 27,
// 1980) over equal peers that calls are spread over evenly: exact for exponential service and one
// expert, never above what the peers can compute, nor above Little's law without queues.
double batches_per_s(const CalledPeers& called, int in_flight);

// With fewer batches in flight peers are idle even if none ever queues.
double saturating_batches(const CalledPeers& called);

}  // namespace windtunnel
