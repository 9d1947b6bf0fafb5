// Order statistics: the k-th smallest of n independent variables of one law. If F is the law's
// distribution function, F of the k-th smallest has a beta law with parameters k and n - k + 1
// (David and Nagaraja, Order Statistics, 2003, section 2.1).
#pragma once

#include <functional>

namespace windtunnel {

struct Moments {
  double mean = 0;
  double variance = 0;
};

// The quantile below which a share `below` of the law lies, with `above` = 1 - below. Both are
// passed because the one near 1 has lost digits.
using Quantile = std::function<double(double below, double above)>;

// Integrates by the trapezoidal rule over the logarithm of below / above, where the integrand is
// smooth and decays exponentially on both sides, so that convergence is exponential.
Moments moments_of_order(double n, double k, const Quantile& quantile);

double normal_quantile(double below, double above);
// Expected k-th smallest of n standard normal variables.
double expected_normal_order(double n, double k);
// The same for exponential variables of mean 1: H(n) - H(n - k), with harmonic numbers H.
double expected_exponential_order(double n, double k);
// The same for variables >= 1 with P(X > x) = x^-exponent: a quotient of gamma functions; infinite
// if the largest have no mean.
double expected_pareto_order(double n, double k, double exponent);
double binomial_chance(double n, double k, double share);  // of k successes in n

}  // namespace windtunnel
