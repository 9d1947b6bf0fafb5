// Text as it comes from files and users.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "models/base/error.hpp"

namespace windtunnel {

// The whole file, as InputFile reads it, up to kLargestWhole_bytes.
std::string read_file(const std::string& path);

// Of a byte of the file's text.
Location place_of(std::string_view text, const std::string& file, std::size_t offset);

// Whether `part` stands somewhere in `text`, upper and lower case alike (ASCII).
bool contains_text(std::string_view text, std::string_view part);

// Letters and digits in lower case: "Qwen3_30B_a3B" and "qwen3-30b-a3b" are the same name.
std::string plain_name(std::string_view text);

std::string_view trimmed(std::string_view text);  // without blanks and tabs at both ends

// Puts a finished file in another one's place, so that a reader sees the old or the new one; where
// the storage cannot rename (buckets mounted as folders), by a copy in one go. Throws Error
// (failed) with the system's reason, and leaves nothing of `finished`.
void put_in_place(const std::string& finished, const std::string& path);

}  // namespace windtunnel
