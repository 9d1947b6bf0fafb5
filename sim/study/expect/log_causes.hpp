// Compares a measured curve of a collective with the expected one, and looks for causes of the
// difference.
//
// A log is modelled as a Gaussian process around a curve: log(measured / expected) has at each size
// the standard deviation of the interval, and errors at different sizes are correlated: the share
// kTogether of the variance is common to the curve, the share kNear decays over kReach powers of
// two, and the rest is independent. These shares are the autocorrelation of that quotient over the
// 94 curves of published nccl-tests from specification (docs/results/validation-collectives.md). A
// cause gives another curve. The evidence for it is the likelihood of the log with its curve over
// that with the healthy curve, averaged over the strengths tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/library/facts/causes.hpp"
#include "sim/study/expect/expect.hpp"

namespace windtunnel {

// Shares of the variance, and the reach of kNear in powers of two.
inline constexpr double kTogether = 0.1, kNear = 0.65, kReach = 4;

// A log is normal for such machines if this share of its sizes is inside the 90 % interval.
inline constexpr double kHealthyShare = 0.9;
// Least evidence with which a cause explains a log (Jeffreys: strong).
inline constexpr double kStrongEvidence = 10;
// Least evidence with which a cause fits better than the healthy curve (Jeffreys: substantial).
inline constexpr double kSomeEvidence = 3;

struct MeasuredSize {
  double bytes = 0;
  double seconds = 0;
};

struct TriedCause {
  const CollectiveCause* cause = nullptr;
  double strength = 1;        // the strength that fits best
  std::string strength_text;  // "0.5 of the NICs' bandwidth is left"
  double log_evidence = 0;    // natural logarithm of the evidence
  double rms_log = 0;         // root mean square of log(measured / expected with the cause)
  double mended = 1;          // speed-up without the cause, median from kLargeCollective_bytes on
};

struct LogReading {
  ExpectedCurve expected;              // at the log's sizes
  std::vector<MeasuredSize> measured;  // [size], as in `expected`
  int inside = 0;                      // sizes inside the 90 % interval
  double rms_log = 0;                  // root mean square of log(measured / expected)
  std::vector<TriedCause> causes;      // causes that change the curve, most evidence first

  bool healthy() const;
  // Returns the cause that explains the log; null: the log is healthy, or no cause fits better.
  const TriedCause* explained_by() const;
  // Returns causes that cannot be distinguished from this: with at least a third of its evidence.
  std::vector<const TriedCause*> as_likely() const;
};

// `request.sizes` is ignored. Throws Error if nothing was measured.
LogReading read_log(ExpectRequest request, std::vector<MeasuredSize> measured);

// Returns the machine with a cause; empty if the cause does not apply to it.
std::optional<ExpectRequest> with_cause(const ExpectRequest& request, const CollectiveCause& cause,
                                        double strength);

}  // namespace windtunnel
