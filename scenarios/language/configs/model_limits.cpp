#include "scenarios/language/configs/model_limits.hpp"

#include <fmt/format.h>

#include <span>
#include <string_view>

#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

template <class Spec>
void check_sizes(std::span<const SizeField<Spec>> sizes, std::string_view path, const Spec& spec,
                 const Location& where) {
  for (const SizeField<Spec>& size : sizes) {
    const std::string key = join_path(path, size.key);
    const int value = spec.*size.member;
    // 0 is none, or left to the scenario: the length of training.
    const bool open = value == 0 && (!size.required || size.key == "sequence");
    const Field* field = find_field(key);
    CHECK(field != nullptr, "'{}' is not in the field table", key);
    if (open || field->admits(value)) continue;
    throw Error(where, fmt::format("{}: {} is not from {:.0f} to {:.0f}", key, value, field->low,
                                   field->high));
  }
}

}  // namespace

void check_limits(const TransformerSpec& model, const Location& where) {
  check_sizes(model_sizes(), "model", model, where);
  if (model.moe.experts > 0) check_sizes(moe_sizes(), "model.moe", model.moe, where);
  if (model.latent.kv_rank > 0) check_sizes(latent_sizes(), "model.latent", model.latent, where);
  if (model.mamba.state > 0) check_sizes(mamba_sizes(), "model.mamba", model.mamba, where);
  if (model.heads % model.kv_heads != 0) {
    throw Error(where, fmt::format("{} heads do not share {} key and value heads evenly",
                                   model.heads, model.kv_heads));
  }
  if (model.head_width == 0 && model.hidden % model.heads != 0) {
    throw Error(where,
                fmt::format("a hidden width of {} does not divide by {} heads, and none of a "
                            "head is stated",
                            model.hidden, model.heads));
  }
  try {
    check_model(model);
  } catch (const Error& error) {
    throw Error(where, error.what());
  }
}

}  // namespace windtunnel
