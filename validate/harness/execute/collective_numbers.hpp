// The input numbers of a collective and the expected result. Numbers are small and whole, so that
// sums are exact in any order, and differ between collectives, so that a stale result is noticed.
// Only the first, middle and last element of each part are set and checked.
#pragma once

#include <cstddef>

#include "validate/harness/execute/collective_work.hpp"

namespace windtunnel {

struct CollectiveNumbers {
  CollectiveForm form = CollectiveForm::all_reduce;
  std::size_t members = 1;
  std::size_t own = 0;   // index of this member
  std::size_t part = 1;  // elements per member
  std::size_t sequence = 0;

  std::size_t elements() const { return members * part; }
  // Whether the result has its own memory; else it replaces the input.
  bool beside() const {
    return form == CollectiveForm::reduce_scatter || form == CollectiveForm::all_to_all;
  }
  float given(std::size_t member, std::size_t at) const {
    return static_cast<float>(1 + (member * 31 + at + sequence) % 1021);
  }
  float expected(std::size_t at) const {
    const std::size_t member = at / part;
    if (form == CollectiveForm::all_gather) return given(member, at);
    if (form == CollectiveForm::all_to_all) return given(member, own * part + at % part);
    float sum = 0;
    for (std::size_t m = 0; m < members; ++m) sum += given(m, at);
    return sum;
  }
  // Calls visit(at) for the elements that are checked, before and after the collective.
  template <typename Visit>
  void before(const Visit& visit) const {
    for (std::size_t m = 0; m < members; ++m) visit_part(m, visit);
  }
  template <typename Visit>
  void after(const Visit& visit) const {
    if (form == CollectiveForm::reduce_scatter) return visit_part(own, visit);
    before(visit);
  }

 private:
  template <typename Visit>
  void visit_part(std::size_t member, const Visit& visit) const {
    for (const std::size_t at : {std::size_t{0}, part / 2, part - 1}) visit(member * part + at);
  }
};

}  // namespace windtunnel
