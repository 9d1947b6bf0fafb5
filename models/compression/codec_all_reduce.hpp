// An all-reduce inside one node whose messages are quantised by the kernel that sends them
// (QuickReduce, github.com/mk1-project/quickreduce; vLLM pull request 19744): two shots, each part
// to the rank that sums it and from there to all, packed before and unpacked behind each.
//
//   T(S) = start + S w packed + codec_start + S kernel_bytes / codec_rate
// start, w: of the plain all-reduce, T = start + S w. packed: share of its bytes on the links, bits
// and a scale a block. kernel_bytes: what packing, summing and unpacking move in HBM for a byte of
// S: 2 (b + q) + q (1 + 1/P) of b, q = bits/8 + scale/block, as the recipe of int8 counts it. The
// codec's kernel shares few thread blocks with the communication and waits for it, so its rate is
// far below the memory's.
#pragma once

namespace windtunnel {

struct CodecAllReduce {
  double start_s = 0;  // plain: latency
  double s_per_byte = 0;
  double codec_start_s = 0;  // what a codec adds to the shortest message
  double codec_Bps = 0;      // HBM bytes per second of packing and unpacking
  double ranks = 2;
  double element_bytes = 2;
  double block = 32;
  double scale_bytes = 2;

  double plain_s(double bytes) const { return start_s + s_per_byte * bytes; }
  double seconds(double bits, double bytes) const;
  // From this size on it is faster than plain; infinite where it never is.
  double crossover_bytes(double bits) const;

 private:
  double s_per_byte_of(double bits) const;
};

}  // namespace windtunnel
