// What tells cases apart: hashes of their exact values. Which keys count is the `scope` of their
// row (scenarios/language/text/fields.hpp): for tables of iterations only keys that iterations
// depend on, for campaigns also those that of_campaign() marks
// (scenarios/language/fields/field_rows.hpp), labels never.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/case.hpp"

namespace windtunnel {

struct Volunteers;

// 16 hexadecimal digits, of the values of `scope` and of narrower ones: of campaigns all that
// decides a result, of iterations what tables of iterations are made from (the time between
// snapshots, rates of failures and what recovery takes are not). Equal for scenarios that differ in
// comments, the order of keys, their name, the spelling of a unit or whether a default is written
// out; different if a value or the content of a file that the scenario names differs, or the origin
// of a number whose origin the results name (of hardware, calibration, failures and recovery): a
// number of the library that is written out counts as assumed unless `origins` says otherwise.
std::string identity_of(const std::vector<ResolvedValue>& values, const Job& job, Scope scope,
                        const Volunteers* volunteers = nullptr);

// These digits as a number, for those who keep many of them, and back; 0 of "". Nothing where a
// text is neither.
std::optional<std::uint64_t> key_number(std::string_view text);
std::string key_text(std::uint64_t number);

}  // namespace windtunnel
