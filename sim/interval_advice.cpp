#include "sim/interval_advice.hpp"

namespace windtunnel {

std::optional<IntervalReport> interval_advice(const CampaignInputs&, const CampaignReport&, int) {
  return std::nullopt;
}

}  // namespace windtunnel
