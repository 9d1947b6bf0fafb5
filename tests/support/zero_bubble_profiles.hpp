// The twelve profiles of the Zero Bubble paper as requests (tests/data/zero_bubble_*.csv).
// Activations are in units of a micro-batch on a whole rank.
#pragma once

#include <string>
#include <vector>

#include "policies/schedules/schedules.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {

struct ZeroBubbleProfile {
  std::string model;
  ScheduleRequest request;
  double zb_1p_rate = 0;  // published
  double zb_2p_rate = 0;

  double work_s() const {
    const StageCost& cost = request.costs.front();
    return request.microbatches * (cost.forward_s + cost.backward_s()) * request.chunks;
  }
};

inline std::vector<ZeroBubbleProfile> zero_bubble_profiles() {
  const std::string folder = WINDTUNNEL_SOURCE_DIR "/tests/data/";
  const CsvTable rates = CsvTable::read(folder + "zero_bubble_rates.csv");
  const CsvTable models = CsvTable::read(folder + "zero_bubble_models.csv");
  std::vector<ZeroBubbleProfile> profiles;
  for (size_t row = 0; row < rates.rows(); ++row) {
    ZeroBubbleProfile profile;
    profile.model = rates.text(row, rates.column("model"));
    const auto number = [&](const char* column) { return rates.number(row, rates.column(column)); };
    StageCost cost{number("T_F_ms") * 1e-3, number("T_B_ms") * 1e-3, number("T_W_ms") * 1e-3};
    cost.activation = 1;
    for (size_t at = 0; at < models.rows(); ++at) {
      if (models.text(at, models.column("model")) != profile.model) continue;
      const double hidden = models.number(at, models.column("hidden"));
      const double scores =
          models.number(at, models.column("heads")) * models.number(at, models.column("sequence"));
      cost.weight_activation = 32 * hidden / (34 * hidden + 5 * scores);
    }
    profile.request.ranks = rates.integer(row, rates.column("p"));
    profile.request.microbatches = rates.integer(row, rates.column("m"));
    profile.request.costs.assign(profile.request.ranks, cost);
    profile.request.message_s = number("T_comm_ms") * 1e-3;
    profile.zb_1p_rate = number("bubble_ZB_1p");
    profile.zb_2p_rate = number("bubble_ZB_2p");
    profiles.push_back(profile);
  }
  return profiles;
}

}  // namespace windtunnel
