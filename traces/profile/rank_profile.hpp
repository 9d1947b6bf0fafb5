// What a profiler recorded of one rank: the work of its GPU with the time at which the host
// launched it, the collectives among it with their sizes, and the steps. Readers of PyTorch's
// profiler (kineto.hpp) and of Nsight Systems (nsight.hpp) make it; captured_steps.hpp and
// profile_tasks.hpp read it. Times are seconds since the first event of the file.
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

// What a GPU did, told by the name of its kernel: the classes by which a captured step is held
// against a predicted one. Names are those of cuBLAS, CUTLASS, cuDNN, FlashAttention, Transformer
// Engine, Apex, PyTorch, Triton (as torch.compile names them), NCCL and RCCL.

enum class WorkKind : std::uint8_t {
  product,        // matrix products and convolutions
  attention,      // fused
  norm,           // of layers, and softmax
  element_wise,   // all other kernels: what memory bandwidth bounds
  optimizer,      // updates of weights, norms of gradients
  copy,           // of memory by a copy engine, and its filling
  communication,  // collectives and messages
};
inline constexpr int kWorkKinds = 7;
// As reports have them, in this order.
const std::vector<std::string>& names_of(WorkKind);

// Of a kernel; a copy or a fill of memory is told by its event and not by its name.
WorkKind kind_of_kernel(std::string_view name);

inline constexpr double kNotLaunched = std::numeric_limits<double>::infinity();

// A kernel, a copy or a fill. Kept small: a file of 1 GB holds a million.
struct GpuWork {
  double start_s = 0;
  double end_s = 0;
  double launched_s = kNotLaunched;  // when the host began to launch it; infinite: not recorded
  std::int32_t name = 0;             // in RankProfile::names
  std::int32_t call = -1;            // in RankProfile::calls; -1: it communicates nothing known
  std::int32_t stream = 0;
  WorkKind kind = WorkKind::element_wise;
  std::int16_t thread = -1;  // of the host, that launched it, counted from 0; -1: not recorded
};

enum class CallKind : std::uint8_t { collective, send, receive };

// A collective, or a message, as one rank calls it.
struct CommunicationCall {
  CallKind kind = CallKind::collective;
  CollectiveKind collective = CollectiveKind::all_reduce;
  double bytes = 0;                            // the full buffer (Task::bytes); a barrier's is 0
  std::string group;                           // its name; "": all ranks
  int group_size = 0;                          // 0: not known
  RankId peer = -1;                            // of a message, in its group; -1: not known
  std::vector<CommunicationCall> beside = {};  // the other messages of the same kernel
  bool operator==(const CommunicationCall&) const = default;
};

struct StepSpan {
  std::string name;  // "ProfilerStep#12"
  double start_s = 0;
  double end_s = 0;
  std::int16_t thread = -1;  // as GpuWork's
};

// A range of the program around a pass, on the host's clock.
struct PassSpan {
  NamedPass pass;
  double start_s = 0;
  double end_s = 0;
};

struct RankProfile {
  std::string file;
  RankId rank = -1;  // -1: neither file nor name says
  int ranks = 0;     // of the job; 0: the file does not say
  std::string gpu;   // "NVIDIA H100 80GB HBM3"; "" where the file does not say
  std::vector<std::string> names;
  std::vector<GpuWork> work;             // by start_s
  std::vector<CommunicationCall> calls;  // different ones
  std::vector<ProcessGroup> groups;
  // By the program's annotations, on the host's clock; none: it has none.
  std::vector<StepSpan> steps;
  std::vector<PassSpan> passes;  // the same
};

// Work, steps and passes by their start, without those that lie in another one. Throws Error where
// the profile has no work of a GPU.
void finish_profile(RankProfile& profile);

}  // namespace windtunnel
