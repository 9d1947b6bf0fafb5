// A comment is plain English: a sentence with a subject and a finite verb. These rules find the
// breaches that a machine can see.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include "tests/house/source_rules.hpp"

namespace windtunnel {
namespace {

// These openings leave the subject out, or name it by a pronoun that refers to nothing.
constexpr auto kOpenings = std::to_array<std::string_view>(
    {"Of ", "Whose ", "Who ", "Whom ", "Whoever ", "Likewise", "Those ", "So many ", "So much ",
     "As many ", "As much ", "Beside ", "Besides ", "Therein "});

// A comment of fewer words is a label.
constexpr std::size_t kLeastWords = 6;

// These finite forms do not follow from kVerbs.
constexpr auto kForms = std::to_array<std::string_view>(
    {"is",    "are",    "was",   "were",   "be",      "has",     "have",  "had",    "does",
     "do",    "did",    "can",   "could",  "may",     "might",   "must",  "will",   "would",
     "shall", "should", "isn't", "aren't", "doesn't", "don't",   "can't", "cannot", "won't",
     "got",   "made",   "gave",  "took",   "went",    "came",    "said",  "ran",    "wrote",
     "began", "held",   "kept",  "left",   "met",     "sent",    "fell",  "grew",   "knew",
     "found", "built",  "meant", "stood",  "lay",     "thought", "chose"});

// These are the verbs of this code's comments; finite_verbs() adds their forms in -s and -ed.
constexpr auto kVerbs = std::to_array<std::string_view>(
    {"accept",   "add",     "agree",    "allow",     "answer",  "appear",  "apply",    "arrive",
     "ask",      "assume",  "avoid",    "be",        "become",  "begin",   "belong",   "bind",
     "break",    "bring",   "build",    "calculate", "call",    "carry",   "cause",    "change",
     "check",    "choose",  "close",    "come",      "compare", "compile", "complete", "compute",
     "consist",  "contain", "continue", "convert",   "copy",    "cost",    "count",    "cover",
     "create",   "cut",     "decide",   "decode",    "define",  "delay",   "depend",   "describe",
     "differ",   "divide",  "draw",     "drop",      "encode",  "end",     "enter",    "equal",
     "evaluate", "exceed",  "exchange", "expect",    "fail",    "fall",    "fill",     "find",
     "finish",   "fit",     "fold",     "follow",    "forbid",  "form",    "fuse",     "gather",
     "get",      "give",    "go",       "grow",      "happen",  "help",    "hide",     "hold",
     "ignore",   "improve", "include",  "keep",      "know",    "lack",    "last",     "lead",
     "leave",    "let",     "lie",      "limit",     "list",    "lose",    "make",     "match",
     "mean",     "measure", "meet",     "move",      "name",    "need",    "offer",    "open",
     "order",    "overlap", "pass",     "pay",       "place",   "play",    "predict",  "print",
     "produce",  "put",     "raise",    "reach",     "read",    "receive", "reduce",   "refuse",
     "remain",   "remove",  "repeat",   "replace",   "report",  "require", "return",   "round",
     "run",      "save",    "say",      "scale",     "see",     "send",    "separate", "set",
     "share",    "show",    "simulate", "sit",       "skip",    "sort",    "split",    "spread",
     "stand",    "start",   "state",    "stay",      "stop",    "store",   "sum",      "take",
     "tell",     "test",    "throw",    "train",     "travel",  "treat",   "try",      "turn",
     "use",      "vary",    "wait",     "want",      "work",    "write",   "win",      "yield",
     "double",   "halve",   "join",     "link",      "look",    "lower",   "map",      "mark",
     "scroll",   "swap",    "coincide", "matter",    "press",   "serve",   "survive",  "learn",
     "cross"});

const std::set<std::string, std::less<>>& finite_verbs() {
  static const std::set<std::string, std::less<>> words = [] {
    std::set<std::string, std::less<>> all(kForms.begin(), kForms.end());
    for (const std::string_view verb : kVerbs) {
      const std::string base(verb);
      const bool in_y = base.ends_with('y') && std::string_view("aeo").find(
                                                   base[base.size() - 2]) == std::string_view::npos;
      const bool hisses = base.ends_with("ss") || base.ends_with("sh") || base.ends_with("ch") ||
                          base.ends_with('x') || base == "go";
      all.insert(base);
      all.insert(in_y     ? base.substr(0, base.size() - 1) + "ies"
                 : hisses ? base + "es"
                          : base + "s");
      all.insert(base.ends_with('e') ? base + "d" : base + "ed");
    }
    return all;
  }();
  return words;
}

std::string_view trimmed_left(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

// Returns whether the comment addresses a tool and no reader.
bool is_directive(std::string_view text) {
  constexpr auto kDirectives = std::to_array<std::string_view>(
      {"NOLINT", "clang-format", "eslint", "!", "noqa", "type:", "----", "=="});
  return std::ranges::any_of(kDirectives, [&](auto each) { return text.starts_with(each); });
}

struct Comment {
  int line = 0;        // from 1
  bool alone = false;  // on lines of its own, not behind code
  std::string text;
};

std::vector<Comment> comments_of(const SourceFile& file) {
  const bool python = file.path.ends_with(".py");
  const std::string_view mark = python ? "#" : "//";
  const bool javascript = file.path.ends_with(".js") || file.path.ends_with(".mjs");
  const std::string_view behind_code = python ? "  # " : javascript ? " // " : "  // ";
  std::vector<Comment> comments;
  bool open = false;  // the next line may continue the comment
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string_view line = trimmed_left(file.lines[i]);
    const int number = static_cast<int>(i) + 1;
    if (line.starts_with(mark)) {
      const std::string text(trimmed_left(line.substr(mark.size())));
      const bool goes_on = open && !text.empty();
      open = !text.empty() && !is_directive(text);
      if (goes_on) {
        comments.back().text += " " + text;
      } else if (open) {
        comments.push_back({number, true, text});
      }
      continue;
    }
    const std::size_t at = line.find(behind_code);
    open = at != line.npos;
    if (!open) continue;
    const std::string text(line.substr(at + behind_code.size()));
    open = !is_directive(text);
    if (open) comments.push_back({number, false, text});
  }
  return comments;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '\'') {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// Returns the opening that a sentence of the text should not have; empty if there is none.
std::string_view bad_opening(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    for (const std::string_view opening : kOpenings) {
      if (text.substr(at).starts_with(opening))
        return opening.substr(0, opening.find_last_not_of(' ') + 1);
    }
    const std::size_t end = text.find(". ", at);
    if (end == text.npos) break;
    at = end + 2;
  }
  return {};
}

}  // namespace

std::vector<Breach> decoded_comments(const SourceFile& file) {
  std::vector<Breach> breaches;
  for (const Comment& comment : comments_of(file)) {
    const std::string_view opening = bad_opening(comment.text);
    const std::vector<std::string> words = words_of(comment.text);
    const auto finite = [](const std::string& word) { return finite_verbs().contains(word); };
    if (!opening.empty()) {
      breaches.push_back(
          {file.path, comment.line, fmt::format("a sentence begins with '{}'", opening)});
    } else if (comment.alone && words.size() >= kLeastWords &&
               std::ranges::none_of(words, finite)) {
      breaches.push_back({file.path, comment.line, "no finite verb"});
    }
  }
  return breaches;
}

}  // namespace windtunnel
