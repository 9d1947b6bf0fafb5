// A gradient compressor of one's own: a function that says what a GPU does for one buffer of
// gradients. Case::add_compressor gives it a name, which the scenario then uses like any other.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>
#include <windtunnel/export.hpp>

namespace windtunnel_api {

// A gradient as the rank holds it, or `count` of the same shape.
struct GradientTensor {
  double rows = 0;  // 0: a vector (bias, norm)
  double columns = 0;
  double count = 1;
  double filled = 1;  // of its rows the share that is not zero (embeddings)

  double elements() const { return count * (rows > 0 ? rows : 1) * columns; }
};

// What a recipe is made for: one buffer, which is reduced among `ranks` members.
struct CompressorRequest {
  std::vector<GradientTensor> tensors;
  double elements() const {
    double sum = 0;
    for (const GradientTensor& tensor : tensors) sum += tensor.elements();
    return sum;
  }
  int ranks = 1;
  int nodes = 1;             // of the members, as many on each
  double element_bytes = 4;  // of a gradient
  // "rank", "density", "bits", "block", "warmup", "every": those of Compressor::numbers and
  // the warm-up, as the scenario states them or else as they stand there.
  std::map<std::string, double> numbers = {};
  std::string feedback = "none";  // likewise: "none", "ef", "ef21" or "econtrol"
};

// One kernel on the GPU, or several equal ones in a row. Where the calibration has measured
// kernels, these say how long it takes; else a roofline does.
struct Kernel {
  double bytes = 0;  // of HBM, read and written
  double flops = 0;
  double starts = 1;          // it is so many kernels, one after the other
  double launches = 0;        // by the host; 0: as many
  std::string like = {};      // the library's kernel whose share of the bandwidth it reaches
  std::string law = {};       // the measured kernel that it is: a name of the calibration's laws
  std::string next_law = {};  // and one behind it, where it takes two
  // `count` products of m x k by k x n; m 0: it is none. product() fills bytes and flops, too.
  double m = 0, n = 0, k = 0, count = 1;
};

// `count` products of an m x k by a k x n matrix whose elements have `element_bytes`.
WINDTUNNEL_API Kernel product(const std::string& like, double m, double n, double k, double count,
                              double element_bytes);

// send_recv: every member sends to the next one of a ring.
enum class Collective { all_reduce, reduce_scatter, all_gather, all_to_all, send_recv };

// Among whom: all members, those of each node, or those of equal place in their nodes.
enum class ReduceHop { all, node, across };

// The kernels in their order, then the collective, which waits for them; the next step waits for
// it. Without bytes there is none: the last step decodes.
struct RecipeStep {
  std::vector<Kernel> kernels = {};
  Collective collective = Collective::all_reduce;
  double bytes = 0;  // the full buffer: of an all-gather what all members give together
  ReduceHop hop = ReduceHop::all;
  double every = 1;  // it runs once in so many iterations, with so many times `bytes` then
};

struct Recipe {
  std::vector<RecipeStep> steps;
  double state_bytes = 0;   // kept from iteration to iteration: errors, factors
  double buffer_bytes = 0;  // while the buffer is under way, beside the gradients
};

struct Compressor {
  // Called several times for each buffer of one simulation, in a sweep from several threads at
  // once: equal requests must get equal recipes.
  std::function<Recipe(const CompressorRequest&)> recipe;
  // Numbers that a scenario may state at communication.compressor.*, as they are where it does not:
  // {{"rank", 4}}.
  std::map<std::string, double> numbers = {};
  std::string feedback = {};  // likewise of communication.compressor.feedback; empty: it has none
  // All that is sent is sums of what was compressed, among all: sharded gradients scatter them.
  bool summable = false;
  bool fusible = false;        // one all-reduce: buckets may be fused by compressed bytes
  bool whole_tensors = false;  // works on whole matrices
};

}  // namespace windtunnel_api
