#include "policies/exchange/segments.hpp"

#include <utility>

namespace windtunnel {
Segments joined(const Segments& forward, double forward_s, const Segments& backward,
                double backward_s) {
  const double both_s = forward_s + backward_s;
  const double part = both_s > 0 ? forward_s / both_s : 0.5;
  Segments segments = forward;
  for (Segment& segment : segments) segment.share *= part;
  const Segment& first = backward.front();
  const double share = (1 - part) * first.share;
  Segment& last = segments.back();
  std::size_t next = 0;
  if (last.reductions.empty() && first.gathers.empty() && !last.evicted.any() &&
      !first.fetched.any() && first.on_host_parameters == 0) {
    const double whole = last.share + share;
    if (whole > 0) last.slowdown = (last.share * last.slowdown + share * first.slowdown) / whole;
    last.share = whole;
    last.reductions = first.reductions;
    last.evicted = first.evicted;
    next = 1;
  }
  for (; next < backward.size(); ++next) {
    segments.push_back(backward[next]);
    segments.back().share *= 1 - part;
  }
  return segments;
}

Segments cut_at(const Segments& segments, const std::vector<double>& shares) {
  Segments result;
  double begin = 0;
  auto next = shares.begin();
  for (const Segment& segment : segments) {
    const double end = begin + segment.share;
    Segment rest = segment;
    for (; next != shares.end() && *next < end - kSameShare; ++next) {
      if (*next < begin + kSameShare) continue;
      Segment piece{*next - begin, segment.slowdown, std::move(rest.gathers), {}};
      piece.on_host_parameters = std::exchange(rest.on_host_parameters, 0);
      rest.gathers.clear();
      rest.share = end - *next;
      begin = *next;
      result.push_back(std::move(piece));
    }
    begin = end;
    result.push_back(std::move(rest));
  }
  return result;
}

}  // namespace windtunnel
