#include "tests/docs/printed_commands.hpp"

#include <algorithm>
#include <sstream>

namespace windtunnel {
namespace {

constexpr const char* kFence = "```";
constexpr const char* kPrompt = "$ ";
constexpr const char* kAnything = "...";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Holds a command of the page and the lines of its output.
struct Place {
  PrintedCommand command;
  std::size_t begin = 0, end = 0;  // of the output
};

std::vector<Place> places_of(const std::vector<std::string>& lines) {
  std::vector<Place> places;
  bool inside = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with(kFence)) {
      inside = !inside;
      continue;
    }
    if (!inside || !lines[i].starts_with(kPrompt)) continue;
    Place place;
    place.command.line = static_cast<int>(i) + 1;
    place.command.command = lines[i].substr(2);
    while (place.command.command.ends_with("\\") && i + 1 < lines.size()) {
      place.command.command.pop_back();
      place.command.command += lines[++i];
    }
    place.begin = i + 1;
    while (i + 1 < lines.size() && !lines[i + 1].starts_with(kFence) &&
           !lines[i + 1].starts_with(kPrompt)) {
      place.command.printed.push_back(lines[++i]);
    }
    place.end = i + 1;
    // Blank lines between a command's output and the next command belong to the page.
    while (!place.command.printed.empty() && place.command.printed.back().empty()) {
      place.command.printed.pop_back();
      --place.end;
    }
    places.push_back(std::move(place));
  }
  return places;
}

std::vector<std::string> shortened(const std::vector<std::string>& printed,
                                   const std::vector<std::string>& lines) {
  const auto gap = std::ranges::find(printed, kAnything);
  if (gap == printed.end()) return lines;
  const auto before = std::min<std::size_t>(gap - printed.begin(), lines.size());
  const auto behind = std::min<std::size_t>(printed.end() - gap - 1, lines.size() - before);
  std::vector<std::string> shorter(lines.begin(), lines.begin() + static_cast<long>(before));
  shorter.emplace_back(kAnything);
  shorter.insert(shorter.end(), lines.end() - static_cast<long>(behind), lines.end());
  return shorter;
}

}  // namespace

std::vector<PrintedCommand> printed_commands(const std::string& page) {
  std::vector<PrintedCommand> commands;
  for (Place& place : places_of(lines_of(page))) commands.push_back(std::move(place.command));
  return commands;
}

std::vector<PrintedCommand> named_commands(const std::string& page) {
  constexpr const char* kProgram = "windtunnel ";
  constexpr const char* kIndent = "    ";
  const std::vector<std::string> lines = lines_of(page);
  std::vector<PrintedCommand> commands;
  bool inside = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with(kFence)) inside = !inside;
    const bool indented = !inside && lines[i].starts_with(kIndent);
    const std::string line = indented ? lines[i].substr(4) : lines[i];
    if (!(inside || indented) || !line.starts_with(kProgram)) continue;
    PrintedCommand command{static_cast<int>(i) + 1, line, {}};
    while (command.command.ends_with("\\") && i + 1 < lines.size()) {
      command.command.pop_back();
      command.command += lines[++i];
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

bool as_printed(const std::vector<std::string>& printed, const std::vector<std::string>& lines) {
  const auto gap = std::ranges::find(printed, kAnything);
  if (gap == printed.end()) return printed == lines;
  return std::ranges::equal(shortened(printed, lines), printed) &&
         lines.size() + 1 >= printed.size();
}

std::string with_outputs(const std::string& page,
                         const std::vector<std::vector<std::string>>& outputs) {
  std::vector<std::string> lines = lines_of(page);
  const std::vector<Place> places = places_of(lines);
  for (std::size_t i = places.size(); i-- > 0;) {
    const Place& place = places[i];
    const std::vector<std::string> output = shortened(place.command.printed, outputs[i]);
    lines.erase(lines.begin() + static_cast<long>(place.begin),
                lines.begin() + static_cast<long>(place.end));
    lines.insert(lines.begin() + static_cast<long>(place.begin), output.begin(), output.end());
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace windtunnel
