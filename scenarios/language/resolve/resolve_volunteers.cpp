// Volunteers from checked values: kinds of peers, and a trace of their number.
#include <fmt/format.h>

#include <set>

#include "models/results/fused_report.hpp"
#include "models/volunteers/volunteers.hpp"
#include "scenarios/language/library/time_series.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {
namespace {

constexpr int kMostPeers = 100'000;
constexpr int kMostKinds = 8;  // the search tries roles for each subset of the kinds that can
                               // compute

std::vector<Attendance> trace_of(const std::string& name, NamedFiles& files) {
  const Counts peers = read_counts(name, "peers", kMostPeers, files);
  std::vector<Attendance> trace;
  for (std::size_t i = 0; i < peers.seconds.size(); ++i) {
    trace.push_back({peers.seconds[i], peers.counts[i]});
  }
  return trace;
}

void resolve_peers(const Values& values, Volunteers& volunteers) {
  std::set<std::string> names;
  double computing = 0;
  for (const std::string& path : values.items("volunteers.peers")) {
    PeerKind& peer = volunteers.peers.emplace_back();
    values.fill(path, peer);
    if (!names.insert(peer.name).second) {
      values.fail(path + ".name", "there is already a kind of that name; take another");
    }
    refuse_unused(values, path,
                  {{!volunteers.trace.empty(),
                    {"leave", "join"},
                    "volunteers.trace already says when peers join and leave; keep one of them"}});
    if (peer.speed > 0) computing += peer.count;
  }
  if (values.length("volunteers.peers") > kMostKinds) {
    values.fail("volunteers.peers",
                fmt::format("at most {} kinds are possible; merge some", kMostKinds));
  }
  if (computing == 0) values.fail("volunteers.peers", "no peer computes at the start; add one");
}

}  // namespace

std::shared_ptr<const FusedJobs> resolve_fused(const Values& values) {
  if (!values.stated("fuse")) return nullptr;
  return std::make_shared<const FusedJobs>(FusedJobs{values.integer("fuse")});
}

std::shared_ptr<const Volunteers> resolve_volunteers(const Values& values, NamedFiles& files) {
  if (!values.stated("volunteers")) return nullptr;
  auto volunteers = std::make_shared<Volunteers>();
  values.fill("volunteers", *volunteers);
  if (volunteers->length_s <= 0) values.fail("volunteers.length", "must be above 0");
  if (values.has("volunteers.trace")) {
    values.about("volunteers.trace",
                 [&] { volunteers->trace = trace_of(values.text("volunteers.trace"), files); });
  }
  resolve_peers(values, *volunteers);
  if (values.stated("volunteers.calls")) {
    ExpertCalls& calls = volunteers->calls.emplace();
    values.fill("volunteers.calls", calls);
    if (calls.answers > calls.experts) {
      values.fail("volunteers.calls.answers",
                  fmt::format("is more than the {} experts that are called", calls.experts));
    }
  }
  return volunteers;
}

}  // namespace windtunnel
