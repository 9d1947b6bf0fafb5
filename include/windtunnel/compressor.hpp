// A custom gradient compressor: a function that says what a GPU does for one buffer of gradients.
// Case::add_compressor gives it a name, which scenarios can use like any other.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>
#include <windtunnel/export.hpp>

namespace windtunnel_api {

// A gradient as held by a rank, or `count` of the same shape.
struct GradientTensor {
  double rows = 0;  // 0: a vector (bias, norm)
  double columns = 0;
  double count = 1;
  double filled = 1;  // share of its rows that are not zero (embeddings)

  double elements() const { return count * (rows > 0 ? rows : 1) * columns; }
};

// The input of a recipe: one buffer that is reduced among `ranks` members.
struct CompressorRequest {
  std::vector<GradientTensor> tensors;
  double elements() const {
    double sum = 0;
    for (const GradientTensor& tensor : tensors) sum += tensor.elements();
    return sum;
  }
  int ranks = 1;
  int nodes = 1;             // nodes that hold the members, equally many on each
  double element_bytes = 4;  // of a gradient
  // Values of "rank", "density", "bits", "block", "warmup" and "every": from the scenario,
  // otherwise the defaults in Compressor::numbers or of the warm-up.
  std::map<std::string, double> numbers = {};
  std::string feedback = "none";  // "none", "ef", "ef21" or "econtrol"
};

// One kernel on the GPU, or several equal ones in a row. Its time is that of a measured kernel of
// the calibration if there is one, otherwise a roofline's.
struct Kernel {
  double bytes = 0;  // of HBM, read and written
  double flops = 0;
  double starts = 1;      // number of kernels, one after the other
  double launches = 0;    // by the host; 0: one per kernel
  std::string like = {};  // the library's kernel whose share of the bandwidth it reaches
  std::string law = {};   // the measured kernel it corresponds to: a name in the calibration's laws
  std::string next_law = {};  // a second law, if it corresponds to two measured kernels
  // `count` products of m x k by k x n; no product if m is 0. product() also fills bytes and flops.
  double m = 0, n = 0, k = 0, count = 1;
};

// `count` products of an m x k by a k x n matrix whose elements have `element_bytes`.
WINDTUNNEL_API Kernel product(const std::string& like, double m, double n, double k, double count,
                              double element_bytes);

// send_recv: every member sends to the next one of a ring.
enum class Collective { all_reduce, reduce_scatter, all_gather, all_to_all, send_recv };

// Members that take part: all, those of each node, or those with the same position in their nodes.
enum class ReduceHop { all, node, across };

// A step runs the kernels in order, then the collective, for which the next step waits. Without
// bytes there is no collective, as in the last step, which decodes.
struct RecipeStep {
  std::vector<Kernel> kernels = {};
  Collective collective = Collective::all_reduce;
  double bytes = 0;  // the full buffer; all-gather: contributions of all members together
  ReduceHop hop = ReduceHop::all;
  // The step runs once in this many iterations; `bytes` is the mean per iteration.
  double every = 1;
};

struct Recipe {
  std::vector<RecipeStep> steps;
  double state_bytes = 0;   // kept between iterations: errors, factors
  double buffer_bytes = 0;  // while the buffer is in flight, in addition to the gradients
};

struct Compressor {
  // Called several times for each buffer of a simulation, and in a sweep from several threads:
  // equal requests must get equal recipes.
  std::function<Recipe(const CompressorRequest&)> recipe;
  // Parameters that a scenario can set at communication.compressor.*, with their defaults:
  // {{"rank", 4}}.
  std::map<std::string, double> numbers = {};
  std::string feedback = {};  // default of communication.compressor.feedback; empty: not supported
  // Whether members can sum what they send in compressed form. With sharded gradients the sum is
  // scattered.
  bool summable = false;
  bool fusible = false;  // sends by one all-reduce, so buckets may be fused by compressed bytes
  bool whole_tensors = false;  // works on whole matrices
};

}  // namespace windtunnel_api
