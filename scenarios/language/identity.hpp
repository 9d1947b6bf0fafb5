// Hashes of exact values that tell cases apart. The `scope` of a key's row
// (scenarios/language/text/fields.hpp) says where the key counts: tables of iterations depend only
// on keys of iterations, campaigns also on keys that of_campaign() marks
// (scenarios/language/fields/field_rows.hpp); labels never count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/case.hpp"

namespace windtunnel {

struct Volunteers;

// 16 hexadecimal digits that hash the values of `scope` and of narrower scopes. For campaigns these
// are all values that decide a result; for iterations those that a table of iterations is made
// from, without the time between snapshots, failure rates and recovery times. Scenarios have equal
// hashes if they differ only in comments, order of keys, name, spelling of a unit, or in whether a
// default is written out. Hashes differ if a value or the content of a named file differs, or the
// origin of a number about hardware, calibration, failures or recovery, which results name. A
// number of the library that is written out counts as assumed unless `origins` says otherwise.
std::string identity_of(const std::vector<ResolvedValue>& values, const Job& job, Scope scope,
                        const Volunteers* volunteers = nullptr);

// Converts a hash to a number, which takes less memory, and back; "" becomes 0. Returns nothing for
// a text that is neither a hash nor "".
std::optional<std::uint64_t> key_number(std::string_view text);
std::string key_text(std::uint64_t number);

}  // namespace windtunnel
