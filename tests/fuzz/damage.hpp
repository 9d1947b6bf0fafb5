// Damage to a file: what editors, copies and attackers do to one.
#pragma once

#include <string>
#include <vector>

#include "models/base/random.hpp"

namespace windtunnel {

// One of the files with one to four damages: bits flipped, bytes cut out, doubled, swapped or put
// in the place of others, numbers replaced by extreme ones, lines lost or moved, the end cut off, a
// part of another file put in. The same stream gives the same bytes.
std::string damaged(const std::vector<std::string>& files, RandomStream& random);

}  // namespace windtunnel
