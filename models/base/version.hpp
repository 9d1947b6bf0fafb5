// Which program a result is of.
#pragma once

#include <string>

namespace windtunnel {

const char* program_version();  // "0.1.0"

// Twelve digits of the commit that it was built from, "-changed" behind them where files differed
// (in what is not said: two such programs look alike); empty: built from a tarball.
const char* program_commit();

// Both in one text: "0.1.0 (402225afff4e)". Results of programs in which it differs are not mixed.
std::string program_build();
std::string build_text(const std::string& version, const std::string& commit);  // of any program

}  // namespace windtunnel
