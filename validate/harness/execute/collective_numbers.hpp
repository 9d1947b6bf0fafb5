// The numbers that a collective runs on, and what must come of them: whole and small, so that sums
// are exact in any order, and other ones in each collective, so that what is left of the last one
// does not pass for its result. Of each part the first, the middle and the last is set and looked
// at.
#pragma once

#include <cstddef>

#include "validate/harness/execute/collective_work.hpp"

namespace windtunnel {

struct CollectiveNumbers {
  CollectiveForm form = CollectiveForm::all_reduce;
  std::size_t members = 1;
  std::size_t own = 0;   // this member
  std::size_t part = 1;  // elements of a member
  std::size_t sequence = 0;

  std::size_t elements() const { return members * part; }
  // Whether what comes of them stands beside what is given; else in its place.
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
  // visit(at): elements that are looked at, before it and after it.
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
