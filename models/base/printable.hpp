// Text from outside (a file, the command line) as it may stand in a message, in a table on the
// console or in a comment of a written file. Whatever could end a text, move a terminal's cursor or
// is no UTF-8 is written as its bytes: \x1b for ESC. Text that is printable already stays the same.
#pragma once

#include <string>
#include <string_view>

namespace windtunnel {

// One line, unless `kept` names control characters that stay, as "\n\t" for a message of several.
std::string printable(std::string_view text, std::string_view kept = {});

// One line for a message, and not more than some 60 characters of it.
std::string excerpt(std::string_view text);

}  // namespace windtunnel
