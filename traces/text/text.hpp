// Reads files, takes text apart, and puts finished files in place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {

// Reads a whole file of up to kLargestWhole_bytes.
std::string read_file(const std::string& path);

// Converts a byte offset into a line and column.
Location place_of(std::string_view text, const std::string& file, std::size_t offset);

// Whether `text` contains `part`, ignoring case (ASCII).
bool contains_text(std::string_view text, std::string_view part);

// Keeps letters and digits in lower case: "Qwen3_30B_a3B" and "qwen3-30b-a3b" become equal.
std::string plain_name(std::string_view text);

std::string_view trimmed(std::string_view text);  // without blanks and tabs at both ends

// The parts between separators: "a,,b" has three, and an empty text has an empty one.
std::vector<std::string_view> split(std::string_view text, char separator);
// The lines without their ends, which are "\n" or "\r\n".
std::vector<std::string_view> lines_of(std::string_view text);

// Replaces the file at `path` by a finished one, so that a reader sees either the old or the new
// file. If the storage cannot rename (buckets mounted as folders), copies it in one go. Throws
// Error (failed) with the system's reason, and removes `finished`.
void put_in_place(const std::string& finished, const std::string& path);

}  // namespace windtunnel
