#include "models/volunteers/expert_calls.hpp"

#include <algorithm>
#include <cmath>

namespace windtunnel {

double answered_s(const ExpertCalls& calls, double response_s) {
  const int asked = calls.experts;
  double mean_s = 0;
  double probability = std::pow(calls.loss, asked);  // that exactly `come` are not lost
  for (int come = 0; come <= asked; ++come) {
    double wait_s = calls.timeout_s;
    if (come >= calls.answers) {
      double sum = 0;
      for (int i = 0; i < calls.answers; ++i) sum += 1.0 / (come - i);
      wait_s = std::min(calls.timeout_s, response_s * sum);
    }
    mean_s += probability * wait_s;
    if (calls.loss <= 0) {  // all come
      probability = come + 1 == asked ? 1 : 0;
    } else {
      probability *= double(asked - come) / (come + 1) * (1 - calls.loss) / calls.loss;
    }
  }
  return mean_s;
}

double batches_per_s(const CalledPeers& called, int in_flight) {
  double rate = 0;
  double queued = 0;  // calls at all peers
  for (int batches = 1; batches <= in_flight; ++batches) {
    // A call waits for calls of other batches, and for its own batch's other calls to the same
    // peer.
    const double ahead = (queued + called.experts - 1) / called.peers;
    const double served_s = called.compute_s * (1 + ahead);
    rate = batches / (called.visits * (called.wait_s + served_s));
    queued = rate * called.visits * called.experts * served_s;
  }
  return rate;
}

double saturating_batches(const CalledPeers& called) {
  return called.peers * (called.wait_s + called.compute_s) / (called.experts * called.compute_s);
}

}  // namespace windtunnel
