#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/expert_parallel.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/spec_fields.hpp"

namespace windtunnel {
namespace {

constexpr std::array kExpertTokens{Choice<ExpertTokens>{"divided", ExpertTokens::divided},
                                   Choice<ExpertTokens>{"all", ExpertTokens::all},
                                   Choice<ExpertTokens>{"dropped", ExpertTokens::dropped}};
constexpr std::array kEmbeddings{
    Choice<EmbeddingExchange>{"dense", EmbeddingExchange::dense},
    Choice<EmbeddingExchange>{"all-gather", EmbeddingExchange::all_gather},
    Choice<EmbeddingExchange>{"all-to-all", EmbeddingExchange::all_to_all}};

}  // namespace

void resolve_parallel(const Values& values, Job& job) {
  Layout& layout = job.layout;
  const auto form = std::ranges::find(kContextForms, values.text("layout.context"));
  layout.context = static_cast<ContextForm>(form - kContextForms.begin());
  layout.ulysses = static_cast<int>(values.number_or("layout.ulysses", 0));
  layout.ep_tokens = value_of(std::span<const Choice<ExpertTokens>>(kExpertTokens),
                              values.text("layout.ep_tokens"));
  job.communication.embeddings = value_of(std::span<const Choice<EmbeddingExchange>>(kEmbeddings),
                                          values.text("communication.embeddings"));
  if (job.network && job.communication.embeddings != EmbeddingExchange::dense) {
    values.fail("communication.embeddings",
                fmt::format("model '{}' has none; leave it at dense", job.model.name));
  }
  MixtureOfExperts& moe = job.model.moe;
  moe.zipf = values.number_or("model.moe.zipf", moe.zipf);
  moe.hot_experts = static_cast<int>(values.number_or("model.moe.hot_experts", moe.hot_experts));
  if (values.has("model.moe.locality")) moe.locality = values.number("model.moe.locality");
  if (values.has("model.moe.shortcut")) moe.shortcut = values.flag("model.moe.shortcut");
  check_expert_routing(job);
}

}  // namespace windtunnel
