#include "models/results/fused_report.hpp"
#include "report/figures/figure_parts.hpp"

namespace windtunnel {
namespace {

// A member of the point with the best number of jobs; nothing where there is none.
template <auto member>
FigureValue of_best(const Record& record) {
  const FusedPoint* best = record.fused == nullptr ? nullptr : record.fused->best();
  return best == nullptr ? FigureValue() : FigureValue(double(best->*member));
}

}  // namespace

std::vector<Figure> fused_figures() {
  constexpr const char* kOrigin = "closed form";
  return {
      {"fused.most_jobs", "jobs that fit", Unit::whole, Better::higher,
       "fused on one GPU, of those asked for",
       [](const Record& record) -> FigureValue {
         if (record.fused == nullptr) return {};
         return double(record.fused->most_jobs);
       },
       kOrigin},
      {"fused.jobs", "best together", Unit::whole, Better::neither,
       "of the numbers of jobs that were compared and fit", of_best<&FusedPoint::jobs>, kOrigin},
      {"fused.step_s", "step of these", Unit::seconds, Better::lower, "of all of them",
       of_best<&FusedPoint::step_s>, kOrigin, Follows::time},
      {"fused.speedup", "speed-up by fusion", Unit::events, Better::higher,
       "of these, over one job after the other", of_best<&FusedPoint::speedup>, kOrigin}};
}

}  // namespace windtunnel
