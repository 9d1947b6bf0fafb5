// Identifies the program that made a result.
#pragma once

#include <string>

namespace windtunnel {

const char* program_version();  // "0.1.0"

// The first twelve digits of the commit that the program was built from, followed by "-changed" if
// files differed from it (without saying how); empty: built from a tarball.
const char* program_commit();

// Version and commit: "0.1.0 (402225afff4e)". Results of programs that differ here are not mixed.
std::string program_build();
std::string build_text(const std::string& version, const std::string& commit);  // of any program

}  // namespace windtunnel
