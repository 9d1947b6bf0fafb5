// The threads of a block on fibers: one runs until it waits for others or ends. Their order, and
// that of the blocks, differs from launch to launch, so that results which depend on it differ.
#include <cuda_runtime.h>

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

#include "models/base/random.hpp"

constinit thread_local uint3 threadIdx = {};
constinit thread_local uint3 blockIdx = {};
constinit thread_local dim3 blockDim = {};
constinit thread_local dim3 gridDim = {};

namespace cuda_host {
namespace {

constexpr std::size_t kStackBytes = 128 << 10;
constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kLanes = 32;

struct Runner;

// A group of threads that wait for each other, such as a warp or a block.
struct Place {
  unsigned needed = 0;
  unsigned arrived = 0;
  std::uint64_t turn = 0;  // how often all threads have met
  Meeting kind = Meeting::none;
  std::uint64_t given[2][kLanes] = {};  // in even and odd turns: a lane may be one turn ahead
  std::vector<Runner*> waiting;
};

// Runs threads of the block one after the other, until one of them waits.
struct Runner {
  boost::context::fiber fiber;
  unsigned thread = 0;
};

struct Block {
  std::vector<uint3> threads;  // by their place in the block
  std::vector<unsigned> order;
  std::size_t started = 0;
  Place all;
  std::vector<Place> warps;
  std::deque<Runner> runners;
  std::vector<Runner*> idle;
  std::vector<Runner*> ready;  // threads that continue after a wait
  Runner* now = nullptr;
  boost::context::fiber scheduler;
  const std::function<void()>* body = nullptr;
};

Block& block() {
  static thread_local Block one;
  return one;
}

void leave() {
  Block& here = block();
  here.scheduler = std::move(here.scheduler).resume();
}

boost::context::fiber make_fiber() {
  return boost::context::fiber(std::allocator_arg, boost::context::fixedsize_stack(kStackBytes),
                               [](boost::context::fiber&& scheduler) {
                                 Block& here = block();
                                 here.scheduler = std::move(scheduler);
                                 while (true) {
                                   Runner& self = *here.now;
                                   while (here.started < here.order.size()) {
                                     self.thread = here.order[here.started++];
                                     threadIdx = here.threads[self.thread];
                                     (*here.body)();
                                   }
                                   here.idle.push_back(&self);
                                   leave();
                                 }
                                 return boost::context::fiber();
                               });
}

void go_on(Runner& runner) {
  block().now = &runner;
  threadIdx = block().threads[runner.thread];
  runner.fiber = std::move(runner.fiber).resume();
}

Runner& idle_runner() {
  Block& here = block();
  if (here.idle.empty()) {
    here.idle.push_back(&here.runners.emplace_back());
    here.idle.back()->fiber = make_fiber();
  }
  Runner& runner = *here.idle.back();
  here.idle.pop_back();
  return runner;
}

void meet(Place& place, Meeting kind) {
  if (place.arrived == 0) place.kind = kind;
  if (place.kind != kind) fail("threads wait for each other in different places");
  if (++place.arrived == place.needed) {
    place.arrived = 0;
    ++place.turn;
    std::vector<Runner*>& ready = block().ready;
    ready.insert(ready.end(), place.waiting.begin(), place.waiting.end());
    place.waiting.clear();
    return;
  }
  place.waiting.push_back(block().now);
  leave();
}

// Runs threads that can continue before new ones, so that a warp gets as far ahead as it can.
void run_block() {
  Block& here = block();
  here.started = 0;
  while (true) {
    if (!here.ready.empty()) {
      Runner& next = *here.ready.back();
      here.ready.pop_back();
      go_on(next);
    } else if (here.started < here.order.size()) {
      go_on(idle_runner());
    } else if (here.idle.size() == here.runners.size()) {
      return;
    } else {
      fail("threads wait for others that have ended, or wait elsewhere");
    }
  }
}

void shuffle(std::vector<unsigned>& places, windtunnel::RandomStream& random) {
  for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random.below(i)]);
}

}  // namespace

void fail(const char* what) {
  std::fprintf(stderr, "cuda_host: thread %u,%u of block %u,%u: %s\n", threadIdx.x, threadIdx.y,
               blockIdx.x, blockIdx.y, what);
  std::abort();
}

void meet_block() {
  meet(block().all, Meeting::block);
}

const std::uint64_t* meet_warp(Meeting kind, unsigned lanes, std::uint64_t given) {
  if (lanes != 0xffffffffu) fail("a part of a warp meets, which cuda_host does not know");
  Block& here = block();
  Place& warp = here.warps[here.now->thread / kLanes];
  std::uint64_t* const all = warp.given[warp.turn % 2];
  all[here.now->thread % kLanes] = given;
  meet(warp, kind);
  return all;
}

void run_blocks(dim3 grid, dim3 size, const std::function<void()>& thread) {
  static std::uint64_t launches = 0;
  windtunnel::RandomStream random(1, windtunnel::RandomPurpose::test, ++launches);
  Block& here = block();
  const unsigned threads = size.x * size.y * size.z;
  here.body = &thread;
  here.all = {};
  here.all.needed = threads;
  here.warps.assign((threads + kLanes - 1) / kLanes, {});
  for (unsigned warp = 0; warp < here.warps.size(); ++warp) {
    here.warps[warp].needed = std::min(kLanes, threads - warp * kLanes);
  }
  here.threads.clear();
  for (unsigned i = 0; i < threads; ++i) {
    here.threads.push_back({i % size.x, i / size.x % size.y, i / size.x / size.y});
  }
  here.order.resize(threads);
  std::iota(here.order.begin(), here.order.end(), 0U);
  if (random.below(2) == 0) shuffle(here.order, random);  // else warps stay together
  std::vector<unsigned> blocks(grid.x * grid.y);
  std::iota(blocks.begin(), blocks.end(), 0U);
  shuffle(blocks, random);
  blockDim = size;
  gridDim = grid;
  for (const unsigned at : blocks) {
    blockIdx = {at % grid.x, at / grid.x, 0};
    run_block();
  }
}

void Launch::operator=(std::function<void()> thread) const {
  const dim3 size = block;
  const dim3 blocks = grid;
  if (shared != 0) fail("a launch with shared memory of its own, which cuda_host does not know");
  const bool valid = size.x * size.y * size.z >= 1 && size.x * size.y * size.z <= kMaxThreads &&
                     blocks.x >= 1 && blocks.x <= 0x7fffffffu && blocks.y >= 1 &&
                     blocks.y <= 65535 && blocks.z == 1;
  if (!valid) fail("a launch of no blocks or threads, or of too many");
  enqueue(stream, [=] { run_blocks(blocks, size, thread); });
}

}  // namespace cuda_host

unsigned __ballot_sync(unsigned lanes, bool vote) {
  const std::uint64_t* const all =
      cuda_host::meet_warp(cuda_host::Meeting::ballot, lanes, vote ? 1 : 0);
  unsigned votes = 0;
  for (unsigned i = 0; i < 32; ++i) votes |= static_cast<unsigned>(all[i]) << i;
  return votes;
}

unsigned __reduce_max_sync(unsigned lanes, unsigned value) {
  const std::uint64_t* const all = cuda_host::meet_warp(cuda_host::Meeting::reduce, lanes, value);
  return static_cast<unsigned>(*std::max_element(all, all + 32));
}
