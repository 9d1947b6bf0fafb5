#include "policies/exchange/job_geometry.hpp"

#include "models/plan/pipeline_stages.hpp"

namespace windtunnel {
namespace {

bool ties_ends(const Job& job) {
  return job.model.tied_embeddings && job.layout.pp > 1;
}

std::optional<GroupShape> shape_of_ends(const Job& job, const LinkTable& links) {
  if (!ties_ends(job)) return std::nullopt;
  return StridedShapes(links).worst(stage_pairs(job.layout, 0, job.layout.pp - 1), 0);
}

}  // namespace

JobGeometry::JobGeometry(const Job& job)
    : layout_(without_stages(job.layout)),
      cluster_(job.cluster),
      links_(LinkTable::keeping_reference(cluster_)),
      network_(job, links_),
      world_(world_shape(layout_, links_)),
      ends_(shape_of_ends(job, links_)) {
  const int ranks = layout_.pp;
  for (int pp = 0; pp < ranks; ++pp) {
    up_.push_back(message_way(layout_, links_, pp, (pp + 1) % ranks));
    down_.push_back(message_way(layout_, links_, pp, (pp + ranks - 1) % ranks));
  }
}

bool JobGeometry::is_of(const Job& job) const {
  return without_stages(job.layout) == layout_ && job.cluster == cluster_ && network_.is_of(job) &&
         ties_ends(job) == ends_.has_value();
}

MessageWay JobGeometry::way(int from_pp, int to_pp) const {
  const int ranks = layout_.pp;
  if (to_pp == (from_pp + 1) % ranks) return up_[from_pp];
  if (from_pp == (to_pp + 1) % ranks) return down_[from_pp];
  return message_way(layout_, links_, from_pp, to_pp);
}

SharedGeometry geometry_of(const Job& job, SharedGeometry known) {
  if (known != nullptr && known->is_of(job)) return known;
  return std::make_shared<const JobGeometry>(job);
}

}  // namespace windtunnel
