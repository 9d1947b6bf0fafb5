#include "policies/exchange/gradient_overlap.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <queue>

namespace windtunnel {
namespace {

void add_tensor(GradientBucket& bucket, const std::vector<StageTensor>& tensors, int index) {
  bucket.parameters += tensors[index].parameters;
  bucket.expert = tensors[index].expert;
  bucket.tensors.push_back(index);
}

}  // namespace

std::vector<GradientBucket> gradient_buckets(const std::vector<StageTensor>& tensors,
                                             std::span<const double> bytes, double bucket_bytes,
                                             double first_bucket_bytes) {
  std::vector<GradientBucket> buckets;
  std::array<GradientBucket, 2> open;  // buckets that are being filled: dense, experts
  std::array<double, 2> open_bytes{};
  std::array<double, 2> full_bytes;
  full_bytes.fill(first_bucket_bytes > 0 ? first_bucket_bytes : bucket_bytes);
  double done = 0;
  for (int i = 0; i < std::ssize(tensors); ++i) {
    done += tensors[i].work;
    const bool expert = tensors[i].expert;
    add_tensor(open[expert], tensors, i);
    open[expert].ready_share = done;
    open_bytes[expert] += bytes[i];
    if (open_bytes[expert] < full_bytes[expert]) continue;
    buckets.push_back(std::move(open[expert]));
    open[expert] = {};
    open_bytes[expert] = 0;
    full_bytes[expert] = bucket_bytes;
  }
  for (const bool expert : {true, false}) {
    if (open[expert].parameters > 0) buckets.push_back(std::move(open[expert]));
  }
  std::ranges::stable_sort(buckets, {}, &GradientBucket::ready_share);
  if (!buckets.empty()) buckets.back().ready_share = 1;
  return buckets;
}

std::vector<GradientBucket> gradient_buckets(const std::vector<StageTensor>& tensors,
                                             double bytes_per_parameter, double bucket_bytes) {
  std::vector<double> bytes;
  bytes.reserve(tensors.size());
  for (const StageTensor& tensor : tensors) {
    bytes.push_back(tensor.parameters * bytes_per_parameter);
  }
  return gradient_buckets(tensors, bytes, bucket_bytes);
}

std::vector<double> tensor_shares(const std::vector<StageTensor>& tensors,
                                  const std::vector<GradientBucket>& buckets) {
  std::vector<double> shares;
  for (const GradientBucket& bucket : buckets) {
    for (const int tensor : bucket.tensors) {
      shares.push_back(tensors[tensor].parameters + tensors[tensor].frozen);
    }
  }
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (all <= 0) return {};
  for (double& share : shares) share /= all;
  return shares;
}

std::vector<GradientBucket> merged_buckets(const std::vector<StageTensor>& tensors,
                                           std::span<const double> bytes, double backward_s,
                                           std::span<const ReductionLaw, 2> laws) {
  constexpr double kSmallElements = 8192;
  std::vector<GradientBucket> buckets;
  std::array<GradientBucket, 2> open;
  std::array<double, 2> open_bytes{};
  std::array<double, 2> channel_s{};
  double done = 0;
  for (int i = 0; i < std::ssize(tensors); ++i) {
    const bool expert = tensors[i].expert;
    const ReductionLaw& law = laws[expert];
    GradientBucket& bucket = open[expert];
    done += tensors[i].work;
    if (!bucket.tensors.empty()) {
      const double start_s = std::max(channel_s[expert], bucket.ready_share * backward_s);
      const double end_s = start_s + law.alpha_s + law.beta_s * open_bytes[expert];
      const double ready_s = done * backward_s;
      const bool pays = ready_s < end_s && (ready_s <= start_s || ready_s - start_s < law.alpha_s);
      if (!pays && bucket.parameters >= kSmallElements) {
        channel_s[expert] = end_s;
        buckets.push_back(std::move(bucket));
        bucket = {};
        open_bytes[expert] = 0;
      }
    }
    add_tensor(bucket, tensors, i);
    bucket.ready_share = done;
    open_bytes[expert] += bytes[i];
  }
  for (const bool expert : {true, false}) {
    if (open[expert].parameters > 0) buckets.push_back(std::move(open[expert]));
  }
  std::ranges::stable_sort(buckets, {}, &GradientBucket::ready_share);
  if (!buckets.empty()) buckets.back().ready_share = 1;
  return buckets;
}

std::vector<ScheduledPartition> priority_order(const std::vector<Partition>& partitions,
                                               double credit_bytes) {
  std::vector<int> by_time(partitions.size());
  std::iota(by_time.begin(), by_time.end(), 0);
  std::ranges::stable_sort(by_time, {}, [&](int i) { return partitions[i].ready_s; });
  std::vector<ScheduledPartition> order;
  std::priority_queue<int> ready;
  struct UnderWay {
    double end_s;
    double bytes;
  };
  std::deque<UnderWay> window;
  double window_bytes = 0;
  double channel_s = 0;  // end of all partitions issued so far
  double now_s = 0;
  std::size_t next = 0;
  while (order.size() < partitions.size()) {
    if (ready.empty()) now_s = std::max(now_s, partitions[by_time[next]].ready_s);
    const auto until_now = [&] {
      for (; next < by_time.size() && partitions[by_time[next]].ready_s <= now_s; ++next) {
        ready.push(by_time[next]);
      }
    };
    until_now();
    // There is room again when the oldest partition in flight has ended.
    while (!window.empty()) {
      if (window.front().end_s > now_s) {
        if (window_bytes + partitions[ready.top()].bytes <= credit_bytes) break;
        now_s = window.front().end_s;
        until_now();
      }
      window_bytes -= window.front().bytes;
      window.pop_front();
    }
    const int chosen = ready.top();
    ready.pop();
    channel_s = std::max(channel_s, now_s) + partitions[chosen].seconds;
    window.push_back({channel_s, partitions[chosen].bytes});
    window_bytes += partitions[chosen].bytes;
    order.push_back({chosen, now_s});
  }
  return order;
}

}  // namespace windtunnel
