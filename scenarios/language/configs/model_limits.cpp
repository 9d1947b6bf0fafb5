#include "scenarios/language/configs/model_limits.hpp"

#include <fmt/format.h>

#include <string_view>

#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {
namespace {

template <class Spec>
void check_sizes(std::string_view path, const Spec& spec, const Location& where) {
  for (const BoundRow& row : bound_rows<Spec>(path)) {
    const Field& field = *row.field;
    if (field.scalar != ScalarType::integer || field.in_entry == InEntry::never) continue;
    const double value = value_in(spec, field)->number;
    if ((value == 0 && zero_is_open(field)) || field.admits(value)) continue;
    throw Error(where, fmt::format("{}: {} must be from {:.0f} to {:.0f}", field.path, value,
                                   field.low, field.high));
  }
}

}  // namespace

void check_limits(const TransformerSpec& model, const Location& where) {
  check_sizes("model", model, where);
  if (model.moe.experts > 0) check_sizes("model.moe", model.moe, where);
  if (model.latent.kv_rank > 0) check_sizes("model.latent", model.latent, where);
  if (model.sparse.heads > 0) check_sizes("model.sparse", model.sparse, where);
  if (model.mamba.state > 0) check_sizes("model.mamba", model.mamba, where);
  if (model.heads % model.kv_heads != 0) {
    throw Error(where, fmt::format("{} heads are no multiple of {} key and value heads",
                                   model.heads, model.kv_heads));
  }
  if (model.head_width == 0 && model.hidden % model.heads != 0) {
    throw Error(where,
                fmt::format("the hidden width {} is not a multiple of {} heads, and the width of "
                            "a head is not stated",
                            model.hidden, model.heads));
  }
  try {
    check_model(model);
  } catch (const Error& error) {
    throw Error(where, error.what());
  }
}

}  // namespace windtunnel
