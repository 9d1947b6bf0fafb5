// Throughput of many trainers that send each layer's input to experts on peers and wait for some of
// the answers (Learning@home, arXiv 2002.04013, section 3.1). A trainer mostly waits for the
// network, but with enough trainers the peers are always busy and latency costs nothing. With one
// batch at a time, as in a pipeline without micro-batches, latency is fully exposed.
#pragma once

#include "models/volunteers/volunteers.hpp"

namespace windtunnel {

// Mean time until `answers` of `experts` have arrived, with exponential response times of mean
// `response_s`. Each call is lost with a given probability; if fewer answers than required arrive,
// a trainer waits until the time-out, after which none are accepted. Mean of the k-th of m:
// response_s times (1/m + 1/(m-1) + ... + 1/(m-k+1)).
double answered_s(const ExpertCalls& calls, double response_s);

// A closed queueing network: batches, each of which passes a number of layers (forward and backward
// count separately), and peers that compute them.
struct CalledPeers {
  int peers = 1;
  double visits = 1;     // layers passed by a batch
  double wait_s = 0;     // on the network, per visit
  double compute_s = 0;  // of one expert's part of a visit, on one peer
  int experts = 1;       // experts that compute it in parallel, each on any peer
};

// Batches per second with `in_flight` of them, by mean value analysis (Reiser and Lavenberg, J. ACM
// 27, 1980), for equal peers that share calls evenly: exact for exponential service and one expert,
// and bounded by the peers' capacity and by Little's law without queues.
double batches_per_s(const CalledPeers& called, int in_flight);

// The number of batches below which peers are idle even if none ever queues.
double saturating_batches(const CalledPeers& called);

}  // namespace windtunnel
