// The parts of an orthonormalisation that are not matrix products. A team of threads processes one
// matrix: a block of a device, or one thread of the host, where tests compare the result with the
// definition (also with larger teams). A Team has `thread`, `size`, and sync(), which all of its
// threads call.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstddef>

#include "kernels/device/host_device.cuh"
#include "kernels/product/low_rank.hpp"

namespace windtunnel {

constexpr int kMaxTeam = 256;
constexpr float kMaxCondition = 1e3F;
// Gram matrices are summed in fp32 over kGramRows rows, then over the rows of a part, and over
// parts in fp64: one long sum of equal terms would have an error above 1e-5.
constexpr int kGramRows = 32;
constexpr int kGramPartRows = 256;

WINDTUNNEL_BOTH inline int gram_parts(int m) {
  return (m + kGramPartRows - 1) / kGramPartRows;
}

// Sums one part of the Gram matrix of `matrix` (m x r, r <= kSide * kTile) with a team of kSide^2
// threads, each for a square of kTile^2 elements. The team shares `rows`, which has kGramRows *
// kSide * kTile elements.
template <int kSide, int kTile, typename Team>
WINDTUNNEL_BOTH void sum_gram_part(const Team& team, int m, int r, int part, const float* matrix,
                                   float* gram, float* rows) {
  constexpr int kColumns = kSide * kTile;
  const int top = team.thread / kSide * kTile;
  const int left = team.thread % kSide * kTile;
  const int begin = part * kGramPartRows;
  const int end = m < begin + kGramPartRows ? m : begin + kGramPartRows;
  float sum[kTile][kTile] = {};
  for (int first = begin; first < end; first += kGramRows) {
    for (int i = team.thread; i < kGramRows * kColumns; i += kSide * kSide) {
      const int row = first + i / kColumns;
      const int column = i % kColumns;
      rows[i] = row < end && column < r ? matrix[static_cast<std::size_t>(row) * r + column] : 0;
    }
    team.sync();
    float some[kTile][kTile] = {};
    for (int row = 0; row < kGramRows; ++row) {
      for (int i = 0; i < kTile; ++i) {
        for (int j = 0; j < kTile; ++j) {
          some[i][j] += rows[row * kColumns + top + i] * rows[row * kColumns + left + j];
        }
      }
    }
    for (int i = 0; i < kTile; ++i) {
      for (int j = 0; j < kTile; ++j) sum[i][j] += some[i][j];
    }
    team.sync();
  }
  for (int i = 0; i < kTile; ++i) {
    for (int j = 0; j < kTile; ++j) {
      if (top + i < r && left + j < r) gram[(top + i) * r + left + j] = sum[i][j];
    }
  }
}

// Shared memory of a team.
struct GramMemory {
  float gram[kMaxRank * kMaxRank];
  float left[kMaxRank * kMaxRank];
  float scale[kMaxRank];
  float partial[kMaxTeam];
};
struct ReflectionMemory {
  float partial[kMaxTeam];
  float dot[kMaxRank];
  float inverse[kMaxRank], tau[kMaxRank], sign[kMaxRank];  // of each reflection
};

// Given A^T A (r x r) as the sum of `count` consecutive parts, finds the upper triangular X such
// that the columns of A X are orthonormal. Returns false, and X = 0, if |R|_F |R^-1|_F, a bound of
// the condition of R = X^-1 with A's columns scaled to one length, exceeds kMaxCondition.
template <typename Team>
WINDTUNNEL_BOTH bool invert_gram(const Team& team, int r, int count, const float* parts,
                                 float* inverse, GramMemory& memory) {
  float* const g = memory.gram;
  float* const x = memory.left;
  for (int i = team.thread; i < r * r; i += team.size) {
    double sum = 0;
    for (int part = 0; part < count; ++part) {
      sum += parts[static_cast<std::size_t>(part) * r * r + i];
    }
    g[i] = static_cast<float>(sum);
  }
  team.sync();
  for (int i = team.thread; i < r; i += team.size) {
    memory.scale[i] = 1 / std::sqrt(g[i * r + i]);  // not finite for a zero column
  }
  team.sync();
  for (int i = team.thread; i < r * r; i += team.size) {
    g[i] = g[i] * memory.scale[i / r] * memory.scale[i % r];
    x[i] = i / r == i % r ? 1.0F : 0.0F;
    inverse[i] = 0;
  }
  team.sync();
  // Elimination of [G | I]: G becomes R in its upper half, I becomes R^-T.
  for (int k = 0; k < r; ++k) {
    const float pivot = g[k * r + k];
    // All threads see the same pivot. Below this bound the condition is too large.
    if (!(pivot > 1 / (kMaxCondition * kMaxCondition) && pivot <= FLT_MAX)) return false;
    const float root = 1 / std::sqrt(pivot);
    team.sync();
    for (int j = team.thread; j < r; j += team.size) {
      if (j <= k) x[k * r + j] *= root;
      if (j >= k) g[k * r + j] *= root;
    }
    team.sync();
    for (int cell = (k + 1) * r + team.thread; cell < r * r; cell += team.size) {
      const int i = cell / r;
      const int j = cell % r;
      if (j <= k) x[cell] -= g[k * r + i] * x[k * r + j];
      if (j >= i) g[cell] -= g[k * r + i] * g[k * r + j];
    }
    team.sync();
  }
  float squares = 0;
  for (int i = team.thread; i < r * r; i += team.size) squares += x[i] * x[i];
  memory.partial[team.thread] = squares;
  team.sync();
  squares = 0;
  for (int i = 0; i < team.size; ++i) squares += memory.partial[i];
  // |R|_F^2 is the trace of G, which is r.
  if (!(static_cast<float>(r) * squares <= kMaxCondition * kMaxCondition)) return false;
  for (int i = team.thread; i < r * r; i += team.size) {
    const int row = i / r;
    inverse[i] = memory.scale[row] * x[(i % r) * r + row];
  }
  return true;
}

// Reduces each of r columns. Several groups of threads share a column: `of_rows` reduces the rows
// `start`, start + step, ... into memory.partial, and `together` combines these into memory.dot.
template <typename Team, typename OfRows, typename Together>
WINDTUNNEL_BOTH void reduce_columns(const Team& team, int r, ReflectionMemory& memory,
                                    OfRows of_rows, Together together) {
  const int groups = team.size > r ? team.size / r : 1;
  for (int cell = team.thread; cell < groups * r; cell += team.size) {
    memory.partial[cell] = of_rows(cell / r, groups, cell % r);
  }
  team.sync();
  for (int column = team.thread; column < r; column += team.size) {
    float all = 0;
    for (int group = 0; group < groups; ++group) {
      all = together(all, memory.partial[group * r + column]);
    }
    memory.dot[column] = all;
  }
  team.sync();
}

// Computes, for each column of `x`, its product with column j of `a` over the rows below j; both
// are m x r.
template <typename Team>
WINDTUNNEL_BOTH void dot_with_column(const Team& team, int m, int r, int j, const float* a,
                                     const float* x, ReflectionMemory& memory) {
  reduce_columns(
      team, r, memory,
      [=](int start, int step, int column) {
        float sum = 0;
        for (int i = j + 1 + start; i < m; i += step) {
          const std::size_t row = static_cast<std::size_t>(i) * r;
          sum += a[row + j] * x[row + column];
        }
        return sum;
      },
      [](float sum, float part) { return sum + part; });
}

// Applies H = I - tau v v^T from the left to the columns of `x` from `first` on; v is 1 in row j
// and inverse * a below. memory.dot comes from dot_with_column().
template <typename Team>
WINDTUNNEL_BOTH void reflect(const Team& team, int m, int r, int j, int first, const float* a,
                             float* x, ReflectionMemory& memory) {
  const float inverse = memory.inverse[j];
  const float tau = memory.tau[j];
  for (int column = first + team.thread; column < r; column += team.size) {
    float& top = x[static_cast<std::size_t>(j) * r + column];
    const float part = tau * (top + inverse * memory.dot[column]);
    memory.dot[column] = part;
    top -= part;
  }
  team.sync();
  const int groups = team.size > r ? team.size / r : 1;
  for (int cell = team.thread; cell < groups * r; cell += team.size) {
    const int column = cell % r;
    for (int i = j + 1 + cell / r; column >= first && i < m; i += groups) {
      const std::size_t row = static_cast<std::size_t>(i) * r;
      x[row + column] -= inverse * a[row + j] * memory.dot[column];
    }
  }
  team.sync();
}

// Scales each column by a power of two so that its largest element is in [1, 2): squares then
// neither overflow nor vanish. False if a column is not finite.
template <typename Team>
WINDTUNNEL_BOTH bool scale_columns(const Team& team, int m, int r, float* a,
                                   ReflectionMemory& memory) {
  reduce_columns(
      team, r, memory,
      [=](int start, int step, int column) {
        float most = 0;
        for (int i = start; i < m; i += step) {
          const float size = std::fabs(a[static_cast<std::size_t>(i) * r + column]);
          if (!(size <= most)) most = size <= FLT_MAX ? size : INFINITY;  // also for NaN
        }
        return most;
      },
      [](float most, float part) { return part > most ? part : most; });
  bool finite = true;
  for (int column = 0; column < r; ++column) finite = finite && memory.dot[column] <= FLT_MAX;
  const std::size_t size = static_cast<std::size_t>(m) * r;
  for (std::size_t i = team.thread; finite && i < size; i += team.size) {
    const float most = memory.dot[i % r];
    if (most > 0) a[i] = std::scalbn(a[i], -std::ilogb(most));
  }
  team.sync();
  return finite;
}

// Makes the columns of `a` (m x r, r <= m; destroyed) orthonormal, into `q`, by Householder's
// reflections (Golub and Van Loan, "Matrix computations", section 5.1), with the signs that
// Gram-Schmidt would give.
template <typename Team>
WINDTUNNEL_BOTH void reflect_to_orthonormal(const Team& team, int m, int r, float* a, float* q,
                                            ReflectionMemory& memory) {
  const bool finite = scale_columns(team, m, r, a, memory);
  for (int j = 0; finite && j < r; ++j) {
    dot_with_column(team, m, r, j, a, a, memory);
    const float top = a[static_cast<std::size_t>(j) * r + j];
    const float below = memory.dot[j];  // sum of squares
    const float length = std::copysign(std::sqrt(top * top + below), top);
    if (team.thread == 0) {
      // A column with only zeros below needs no reflection.
      memory.inverse[j] = below > 0 ? 1 / (top + length) : 0;
      memory.tau[j] = below > 0 ? (top + length) / length : 0;
      memory.sign[j] = (below > 0) != (top < 0) ? -1.0F : 1.0F;
    }
    team.sync();
    reflect(team, m, r, j, j + 1, a, a, memory);
  }
  const std::size_t size = static_cast<std::size_t>(m) * r;
  for (std::size_t i = team.thread; i < size; i += team.size) {
    const bool diagonal = i / r == i % r;
    q[i] = finite ? (diagonal ? memory.sign[i % r] : 0.0F) : NAN;
  }
  team.sync();
  for (int j = r - 1; finite && j >= 0; --j) {
    dot_with_column(team, m, r, j, a, q, memory);
    reflect(team, m, r, j, j, a, q, memory);
  }
}

// The first half of an orthonormalisation. If the Gram matrix of `given`, in parts, is well
// conditioned, sets `inverse` to the X for which given * X has orthonormal columns. Otherwise
// replaces `given` by its orthonormalisation with reflections, using `other`, and sets X = I.
template <typename Team>
WINDTUNNEL_BOTH void invert_or_reflect(const Team& team, int m, int r, const float* parts,
                                       float* given, float* other, float* inverse,
                                       GramMemory& gram_memory,
                                       ReflectionMemory& reflection_memory) {
  if (invert_gram(team, r, gram_parts(m), parts, inverse, gram_memory)) return;
  reflect_to_orthonormal(team, m, r, given, other, reflection_memory);
  const std::size_t size = static_cast<std::size_t>(m) * r;
  for (std::size_t i = team.thread; i < size; i += team.size) given[i] = other[i];
  for (int i = team.thread; i < r * r; i += team.size) inverse[i] = i / r == i % r ? 1.0F : 0.0F;
}

// Divides the workspace of an orthonormalisation into its arrays.
struct OrthonormalWorkspace {
  float* other;    // batch matrices of m x r
  float* gram;     // batch * gram_parts(m) matrices of r x r
  float* inverse;  // batch matrices of r x r
  std::size_t size_bytes;

  OrthonormalWorkspace(int batch, int m, int r, std::byte* memory) {
    const std::size_t count = static_cast<std::size_t>(batch);
    const std::size_t columns = static_cast<std::size_t>(r);
    const std::size_t others = count * static_cast<std::size_t>(m) * columns;
    const std::size_t squares = count * columns * columns;
    const std::size_t grams = squares * static_cast<std::size_t>(gram_parts(m));
    other = reinterpret_cast<float*>(memory);
    gram = other + others;
    inverse = gram + grams;
    size_bytes = sizeof(float) * (others + grams + squares);
  }
};

}  // namespace windtunnel
