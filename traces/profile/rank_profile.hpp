// A profiler's recording of one rank: the work of its GPU with launch times, its collectives with
// their sizes, and the steps. Readers of PyTorch's profiler and of Nsight Systems make it
// (profile_reader.hpp); captured_steps.hpp and profile_tasks.hpp use it. Times are seconds since
// the first event of the file.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/collectives/collective.hpp"
#include "models/plan/plan.hpp"
#include "traces/chakra/rank_trace.hpp"
#include "traces/profile/program_names.hpp"

namespace windtunnel {

// The class of a GPU's work by the name of its kernel, so that a captured step can be compared with
// a predicted one. Names are those of cuBLAS, CUTLASS, cuDNN, FlashAttention, Transformer Engine,
// Apex, PyTorch, Triton (as torch.compile names them), NCCL and RCCL.
enum class WorkKind : std::uint8_t {
  product,        // matrix products and convolutions
  attention,      // fused attention
  norm,           // normalisation layers and softmax
  element_wise,   // all other kernels, bound by memory bandwidth
  optimizer,      // updates of weights, and norms of gradients
  copy,           // copies and fills of memory by a copy engine
  communication,  // collectives and messages
};
inline constexpr int kWorkKinds = 7;
// Names in reports, in this order.
const std::vector<std::string>& names_of(WorkKind);

// Accepts kernels only: copies and fills of memory are identified by their event.
WorkKind kind_of_kernel(std::string_view name);

inline constexpr double kNotLaunched = std::numeric_limits<double>::infinity();

// A kernel, copy or fill. The struct is small, because a file of 1 GB contains a million of them.
struct GpuWork {
  double start_s = 0;
  double end_s = 0;
  double launched_s = kNotLaunched;  // start of the launch by the host; infinite: not recorded
  std::int32_t name = 0;             // in RankProfile::names
  std::int32_t call = -1;            // in RankProfile::calls; -1: not a known communication
  std::int32_t stream = 0;
  WorkKind kind = WorkKind::element_wise;
  std::int16_t thread = -1;  // host thread of the launch, from 0; -1: not recorded
};

enum class CallKind : std::uint8_t { collective, send, receive };

// A collective, or a message, as one rank calls it.
struct CommunicationCall {
  CallKind kind = CallKind::collective;
  CollectiveKind collective = CollectiveKind::all_reduce;
  double bytes = 0;                            // the full buffer (Task::bytes); a barrier's is 0
  std::string group;                           // name of the group; "": all ranks
  int group_size = 0;                          // 0: not known
  RankId peer = -1;                            // of a message, in its group; -1: not known
  std::vector<CommunicationCall> beside = {};  // further messages of the same kernel
  bool operator==(const CommunicationCall&) const = default;
};

struct StepSpan {
  std::string name;  // "ProfilerStep#12"
  double start_s = 0;
  double end_s = 0;
  std::int16_t thread = -1;  // as in GpuWork
};

// A range of the program around a pass, on the host's clock.
struct PassSpan {
  NamedPass pass;
  double start_s = 0;
  double end_s = 0;
};

struct RankProfile {
  std::string file;
  RankId rank = -1;  // -1: neither in the file nor in its name
  int ranks = 0;     // of the job; 0: not in the file
  std::string gpu;   // "NVIDIA H100 80GB HBM3"; "" if not in the file
  std::vector<std::string> names;
  std::vector<GpuWork> work;             // by start_s
  std::vector<CommunicationCall> calls;  // each call once
  std::vector<ProcessGroup> groups;
  // The program marks its steps with these spans, in the host's time; empty: it marks none.
  std::vector<StepSpan> steps;
  std::vector<PassSpan> passes;  // annotated passes
};

// Sorts work, steps and passes by start, and removes steps and passes inside of others. Throws
// Error if the profile has no work of a GPU.
void finish_profile(RankProfile& profile);

}  // namespace windtunnel
