// Order statistics: the k-th smallest of n independent variables of one law (David and Nagaraja,
// Order Statistics, 2003, section 2.1: the law of F(x) is a beta law of k and n - k + 1).
#pragma once

#include <functional>

namespace windtunnel {

struct Moments {
  double mean = 0;
  double variance = 0;
};

// The value that a share `below` of a law lies below, `above` = 1 - below of it above; both are
// given because the one near 1 has lost its digits.
using Quantile = std::function<double(double below, double above)>;

// By the trapezoidal rule over the logarithm of below / above, where the integrand is smooth and
// falls off exponentially on both sides, so that it converges exponentially.
Moments moments_of_order(double n, double k, const Quantile& quantile);

double normal_quantile(double below, double above);
// Mean 0, variance 1.
double expected_normal_order(double n, double k);
// For variables of mean 1: H(n) - H(n - k), harmonic numbers.
double expected_exponential_order(double n, double k);
// For variables of 1 and more, P(X > x) = x^-exponent: a quotient of gamma functions; infinite
// where the largest have no mean.
double expected_pareto_order(double n, double k, double exponent);
double binomial_chance(double n, double k, double share);  // of k in n

}  // namespace windtunnel
