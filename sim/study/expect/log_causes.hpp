// A measured curve of a collective beside the expected one, and what would explain how they differ.
//
// A log is read as a Gaussian process around a curve: the logarithm of measured / expected has at
// each size the standard deviation that the interval states, and sizes of one curve are off
// together, by kTogether of the variance over all of it and kNear over a distance of kReach powers
// of two; the rest is each size's own. These shares are the autocorrelation of that quotient over
// the 94 curves of published nccl-tests from specification
// (docs/results/validation-collectives.md). A cause is another curve, and its evidence is the
// likelihood of the log with it over that with the healthy one, averaged over the strengths that
// were tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/library/facts/causes.hpp"
#include "sim/study/expect/expect.hpp"

namespace windtunnel {

// Shares of the variance.
inline constexpr double kTogether = 0.1, kNear = 0.65, kReach = 4;

// With so many of its sizes inside of the 90 % interval a log is what such machines are.
inline constexpr double kHealthyShare = 0.9;
// Evidence from which a cause is said to explain a log (Jeffreys: strong).
inline constexpr double kStrongEvidence = 10;
// From which it fits better than health does, but not beyond doubt (Jeffreys: substantial).
inline constexpr double kSomeEvidence = 3;

struct MeasuredSize {
  double bytes = 0;
  double seconds = 0;
};

struct TriedCause {
  const CollectiveCause* cause = nullptr;
  double strength = 1;        // which fits best of all tried
  std::string strength_text;  // "0.5 of the NICs' bandwidth is left"
  double log_evidence = 0;    // natural logarithm of its evidence over health's
  double rms_log = 0;         // of measured / expected with it, root of the mean square
  double mended = 1;  // times as fast from kLargeCollective_bytes on where it is mended, median
};

struct LogReading {
  ExpectedCurve expected;              // at the log's sizes
  std::vector<MeasuredSize> measured;  // as many
  int inside = 0;                      // of the 90 % interval
  double rms_log = 0;                  // of measured / expected
  std::vector<TriedCause> causes;      // that change the curve, the most evidence first

  bool healthy() const;
  // The cause that explains the log; null: it is healthy, or none does better than health.
  const TriedCause* explained_by() const;
  // Further causes that can't be told from it: a third of its evidence or more.
  std::vector<const TriedCause*> as_likely() const;
};

// `request.sizes` are ignored. Throws Error where nothing was measured.
LogReading read_log(ExpectRequest request, std::vector<MeasuredSize> measured);

// The machine with a cause. Null where the cause is none of it.
std::optional<ExpectRequest> with_cause(const ExpectRequest& request, const CollectiveCause& cause,
                                        double strength);

}  // namespace windtunnel
