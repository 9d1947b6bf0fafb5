#include "policies/exchange/gradient_partners.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/plan/state_shares.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {
namespace {

void join(std::vector<GradientPartner>& partners, int a, int b, const Schedule& schedule) {
  for (const auto& [rank, other] : {std::pair(a, b), std::pair(b, a)}) {
    int& partner = partners[rank].rank;
    if (partner != rank && partner != other) {
      throw Error::of_key(
          "schedule", "'{}': pipeline rank {} shares stages with ranks {} and {}; it may with one",
          schedule.name, rank, partner, other);
    }
    partner = other;
  }
}

}  // namespace

std::vector<GradientPartner> gradient_partners(const Job& job, const Schedule& schedule,
                                               const DataParallel& data) {
  std::vector<GradientPartner> partners(schedule.ranks);
  for (int rank = 0; rank < schedule.ranks; ++rank) partners[rank].rank = rank;
  const int stages = schedule.model_stages();
  for (int stage = stages; stage < schedule.stages(); ++stage) {
    const int rank = schedule.rank_of_stage[stage];
    const int other = schedule.rank_of_stage[stage % stages];
    if (rank != other) join(partners, rank, other, schedule);
  }
  const int first = schedule.rank_of_stage.front();
  const int last = schedule.rank_of_stage[stages - 1];
  const Training* training = job.training.get();
  const bool trained = !is_zeroth_order(training) &&
                       part_training(training, kEmbeddingPart, job.model.layers).weights;
  if (job.model.tied_embeddings && trained && first != last && partners[first].rank != last) {
    join(partners, first, last, schedule);
    partners[first].embedding = partners[last].embedding = true;
  }
  const int members = job.layout.ranks() / job.layout.pp;
  StridedShapes shapes(data.geometry().links());
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    GradientPartner& partner = partners[rank];
    if (partner.rank == rank) continue;
    const double parameters = partner.embedding
                                  ? double(padded_vocabulary(job.model.vocabulary, job.layout.tp)) *
                                        job.model.hidden / job.layout.tp
                                  : data.updated_parameters(rank) * largest_state_factor(job, rank);
    partner.bytes = parameters * reduce_bytes_per_parameter(job);
    if (is_zeroth_order(training)) partner.bytes = std::min(partner.bytes, 1.0);  // one number
    const auto [low, high] = std::minmax(rank, partner.rank);
    partner.groups = stage_pairs(job.layout, low, high);
    const bool ends = low == 0 && high + 1 == schedule.ranks && data.geometry().ends();
    partner.shape = ends ? *data.geometry().ends() : shapes.worst(partner.groups, low * members);
  }
  return partners;
}

}  // namespace windtunnel
