#include "policies/exchange/contention.hpp"

#include <algorithm>
#include <array>

namespace windtunnel {
namespace {

// Returns how long kernels of `work_s` are delayed by a collective that runs beside them for
// `beside_s`: in that time they complete 1 / (1 + slowdown) of it.
double lost_s(double work_s, double beside_s, double slowdown) {
  return std::min(slowdown * work_s, std::max(0.0, beside_s) * slowdown / (1 + slowdown));
}

// Returns the time of kernels on the collectives' stream. They lengthen those of the segment.
double kernels_beside_s(const std::vector<Transfer>& transfers) {
  double seconds = 0;
  for (const Transfer& transfer : transfers) {
    if (transfer.kernels_beside) seconds += total_seconds(transfer.kernels);
  }
  return seconds;
}

}  // namespace

void slow_down_units(Segments& segments, double action_s, double slowdown) {
  const std::size_t n = segments.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double work_s = segments[i].share * action_s;
    if (work_s <= 0) continue;
    const std::vector<Transfer>& gathers = segments[(i + 1) % n].gathers;
    const std::vector<Transfer>& reductions = segments[(i + n - 1) % n].reductions;
    const double beside_s = seconds_of(gathers) + seconds_of(reductions);
    const double longer_s = lost_s(work_s, beside_s, slowdown) + kernels_beside_s(gathers) +
                            kernels_beside_s(reductions);
    segments[i].slowdown = 1 + longer_s / work_s;
  }
}

void slow_down_buckets(Segments& segments, double action_s, double slowdown) {
  double now_s = 0;
  double channel_s = 0;
  for (Segment& segment : segments) {
    const double work_s = segment.share * action_s;
    const double longer_s = work_s + lost_s(work_s, channel_s - now_s, slowdown);
    if (work_s > 0) segment.slowdown = longer_s / work_s;
    now_s += longer_s;
    channel_s = std::max(channel_s, now_s) + seconds_of(segment.reductions);
  }
}

void slow_down_gathered(Segments& segments, double action_s, double now_s, double channel_s,
                        double end_s, double slowdown) {
  for (Segment& segment : segments) {
    channel_s += seconds_of(segment.gathers);
    now_s = std::max(now_s, channel_s);
    const double work_s = segment.share * action_s;
    const double longer_s = work_s + lost_s(work_s, end_s - now_s, slowdown);
    segment.slowdown = work_s > 0 ? longer_s / work_s : 1;
    now_s += longer_s;
  }
}

void run_two_at_once(Segments& segments, double action_s, double alpha_s) {
  constexpr double kLonger = 1.5 - 1;
  std::array<double, 2> channel_s{};
  std::array<Transfer*, 2> last{};  // [stream] first collective of its latest row of transfers
  double ready_s = 0;
  for (Segment& segment : segments) {
    ready_s += segment.share * action_s;
    for (std::size_t i = 0; i < segment.reductions.size();) {
      const int own = channel_s[1] < channel_s[0] ? 1 : 0;
      Transfer* first = nullptr;
      double row_s = 0;
      do {
        Transfer& transfer = segment.reductions[i];
        transfer.second_channel = own == 1;
        row_s += transfer.seconds + transfer.longer_s;
        if (first == nullptr && transfer.bytes > 0) first = &transfer;
      } while (++i < segment.reductions.size() && !segment.reductions[i].starts_row);
      if (first == nullptr) continue;
      last[own] = first;
      const double start_s = std::max(channel_s[own], ready_s);
      channel_s[own] = start_s + row_s;
      const double both_s = std::min(channel_s[1 - own] - start_s, row_s);
      if (both_s <= 0) continue;
      const double longer_s = kLonger * both_s * std::max(0.0, 1 - alpha_s / row_s);
      for (const int channel : {0, 1}) {
        last[channel]->longer_s += longer_s;
        channel_s[channel] += longer_s;
      }
    }
  }
}

}  // namespace windtunnel
