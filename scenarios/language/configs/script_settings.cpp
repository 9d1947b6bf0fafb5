// Reads launch scripts for sh and bash without running them: words of commands, variables and
// arrays with their values in place of "$NAME", products of whole numbers, and branches of an `if`
// or `case` that compares values set by the script itself. Text that only a run could evaluate
// ("$(hostname)", loops) stays as written; an `if` with such a condition contributes all of its
// branches.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "scenarios/language/configs/setting.hpp"
#include "scenarios/language/configs/shell_arithmetic.hpp"

namespace windtunnel {
namespace {

struct ScriptWord {
  std::string text;
  Location where;
  bool quoted = false;
};

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Evaluates a condition in brackets, given its words: "[", "8", "-gt", "1", "]". Nothing if only a
// run can tell.
std::optional<bool> value_of_condition(std::span<const ScriptWord> words) {
  const auto unknown = [](const ScriptWord& word) { return word.text.find('$') != word.text.npos; };
  if (words.size() < 3 || (words[0].text != "[" && words[0].text != "[[")) return {};
  if (!words.back().text.starts_with(']') || std::ranges::any_of(words, unknown)) return {};
  words = words.subspan(1, words.size() - 2);
  const std::string& first = words[0].text;
  if (first == "-z" || first == "-n") {
    if (words.size() > 2) return {};
    return (words.size() == 1 || words[1].text.empty()) == (first == "-z");
  }
  if (words.size() != 3) return {};
  const std::string& by = words[1].text;
  const std::string& second = words[2].text;
  if (by == "=" || by == "==" || by == "-eq") return first == second;
  if (by == "!=" || by == "-ne") return first != second;
  const auto number = [](const std::string& text) -> std::optional<int> {
    const bool digits = text.find_first_not_of("0123456789") == text.npos;
    if (text.empty() || text.size() > 8 || !digits) return {};
    return std::stoi(text);
  };
  const std::optional<int> left = number(first);
  const std::optional<int> right = number(second);
  if (!left || !right) return {};
  if (by == "-gt") return *left > *right;
  if (by == "-ge") return *left >= *right;
  if (by == "-lt") return *left < *right;
  if (by == "-le") return *left <= *right;
  return {};
}

// Returns the end of the variable's name. Nothing: `word` is not an assignment.
std::optional<std::size_t> end_of_assigned(std::string_view word) {
  std::size_t end = 0;
  while (end < word.size() && is_name_character(word[end])) ++end;
  if (end == 0 || std::isdigit(static_cast<unsigned char>(word[0])) != 0) return {};
  if (word.substr(end).starts_with("+=")) return end + 1;
  if (end == word.size() || word[end] != '=') return {};
  return end;
}

class ScriptReader {
 public:
  ScriptReader(std::string_view text, const std::string& path) : text_(text), at_{path, 1, 0} {}

  std::vector<Setting> settings() {
    while (!ended()) read_command();
    for (const auto& [name, variable] : variables_) {
      if (!variable.used && holds_arguments(variable.words)) add_arguments(variable.words);
    }
    return std::move(settings_);
  }

 private:
  struct ShellVariable {
    std::vector<ScriptWord> words;    // of an array, or of a text with arguments
    std::optional<std::string> text;  // missing for an array
    bool used = false;
  };
  // State of an `if` up to its `fi`, or of a `case` up to its `esac`.
  struct ShellBranch {
    bool asks = true;           // the reader is inside a condition or pattern
    std::optional<bool> holds;  // condition of the branch; nothing: unknown
    bool taken = false;         // an earlier branch surely applies
    bool counts() const { return asks || (!taken && holds.value_or(true)); }

    std::optional<std::string> subject = {};  // of a `case`
    std::optional<bool> matches = false;      // whether a pattern of "a|b)" matched so far

    void read_pattern(const std::string& pattern, bool last) {
      std::optional<bool> match = *subject == pattern;
      if (pattern == "*")
        match = true;
      else if (subject->find('$') != subject->npos || pattern.find_first_of("*?[$") != pattern.npos)
        match.reset();
      if (matches != true && match != false) matches = match;
      if (!last) return;
      taken = taken || holds == true;
      holds = matches;
      matches = false;
      asks = false;
    }
  };
  static constexpr int kDeepest = 20;  // nesting of variables
  static constexpr std::size_t kMostWords = 100'000;

  bool ended() const { return next_ == text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return next_ + ahead < text_.size() ? text_[next_ + ahead] : '\0';
  }
  char take() {
    const char c = text_[next_++];
    if (c == '\n') {
      at_ = {at_.file, at_.line + 1, 0};
    } else {
      ++at_.column;
    }
    return c;
  }
  Location here() const { return {at_.file, at_.line, at_.column + 1}; }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  static bool ends_word(char c) { return is_blank(c) || c == '\n' || c == ';'; }
  // Ask this only at the start of a word. Inside a word '|' is an ordinary character ("M*|M*" has
  // stages of a pipeline).
  static bool ends_command(char c) { return c == '\n' || c == ';' || c == '|' || c == '&'; }
  static bool is_argument(const ScriptWord& word) {
    return word.text.size() > 1 && word.text[0] == '-' &&
           std::isdigit(static_cast<unsigned char>(word.text[1])) == 0 && word.text[1] != '.';
  }
  static bool is_declaration(const ScriptWord& word) {
    return word.text == "export" || word.text == "local" || word.text == "declare";
  }
  static bool opens_branch(const ScriptWord& word) {
    return !word.quoted && (word.text == "then" || word.text == "else" || word.text == "do");
  }
  // Arguments of these shell commands are no settings.
  static bool launches_nothing(const ScriptWord& word) {
    constexpr std::string_view kCommands[] = {"echo", "printf", "mkdir", "set",  "unset", "cd",
                                              "rm",   "cp",     "[",     "[[",   "while", "for",
                                              "case", "source", "test",  "read", "exit",  "git"};
    return std::ranges::find(kCommands, word.text) != std::end(kCommands);
  }
  bool in_case() const { return !branches_.empty() && branches_.back().subject.has_value(); }
  static bool opens_case(const std::vector<ScriptWord>& words) {
    return words.size() >= 3 && words[0].text == "case" && !words[0].quoted;
  }
  void use(ShellVariable& variable) const { variable.used = variable.used || !skips(); }
  bool skips() const { return !std::ranges::all_of(branches_, &ShellBranch::counts); }
  static bool holds_arguments(const std::vector<ScriptWord>& words) {
    return std::ranges::any_of(words, is_argument);
  }

  // Skips the rest of a line after '#', but reads Slurm's directives as settings.
  void read_comment() {
    const Location where = here();
    std::string line;
    while (!ended() && peek() != '\n') line += take();
    constexpr std::string_view kDirective = "#SBATCH";
    if (!line.starts_with(kDirective)) return;
    ScriptReader directive(std::string_view(line).substr(kDirective.size()), where.file);
    std::vector<ScriptWord> words;
    while (!directive.ended()) directive.read_words(words);
    for (ScriptWord& word : words) {
      word.where = {where.file, where.line,
                    where.column + static_cast<int>(kDirective.size()) + word.where.column - 1};
    }
    const std::size_t first = settings_.size();
    add_arguments(words);
    for (std::size_t i = first; i < settings_.size(); ++i) {
      Setting& setting = settings_[i];
      setting.name = "sbatch." + setting.name;
      const bool nodes = setting.name == "sbatch.nodes" || setting.name == "sbatch.N";
      for (const char* name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES", "SLURM_NODES"}) {
        if (nodes) variables_[name].text = setting.value;
      }
    }
  }

  // Reads words up to the end of the command.
  void read_words(std::vector<ScriptWord>& words) {
    while (!ended()) {
      if (is_blank(peek())) {
        take();
      } else if (ends_command(peek())) {
        const bool ends_case = in_case() && peek() == ';' && peek(1) == ';';
        if (ends_case) branches_.back().asks = true;
        take();
        return;
      } else if (peek() == '#') {
        read_comment();
      } else if (words.size() > kMostWords) {
        throw Error(here(), "the command has more words than a launch command can have");
      } else {
        read_word(words);
        if (ends_pattern_ || (words.size() == 1 && opens_branch(words[0]))) return;
      }
    }
  }

  void read_command() {
    std::vector<ScriptWord> words;
    read_words(words);
    std::erase_if(words, is_declaration);
    if (words.empty()) ends_pattern_ = false;
    if (words.empty() || is_of_branches(words)) return;
    if (words[0].text == "cat") return skip_text_of(words);
    if (skips() || launches_nothing(words[0])) return;
    words = without_redirections(split_commands(words));
    const bool named = std::ranges::any_of(words, [](const ScriptWord& word) {
      return word.text.starts_with("--") || (!is_argument(word) && is_stated_by_name(word.text));
    });
    if (named) add_arguments(words);
  }

  // True if the command only controls which branch of an `if` or `case` applies.
  bool is_of_branches(const std::vector<ScriptWord>& words) {
    const std::string& first = words[0].text;
    const bool ends_pattern = std::exchange(ends_pattern_, false);
    if (words[0].quoted && !in_case()) return false;
    if (first == "if") {
      branches_.push_back({.holds = value_of_condition(std::span(words).subspan(1))});
      return true;
    }
    if (opens_case(words)) {
      branches_.push_back({.holds = false, .subject = words[1].text});
      if (ends_pattern) branches_.back().read_pattern(words.back().text, true);
      return true;
    }
    if (branches_.empty()) return false;
    ShellBranch& branch = branches_.back();
    if (first == "fi" || first == "esac") {
      branches_.pop_back();
    } else if (branch.subject) {
      if (branch.asks) branch.read_pattern(words.back().text, ends_pattern);
      return ends_pattern || branch.asks;
    } else if (first == "elif" || first == "else") {
      branch.taken = branch.taken || branch.holds == true;
      branch.asks = first == "elif";
      branch.holds = branch.asks ? value_of_condition(std::span(words).subspan(1)) : std::nullopt;
    } else if (first == "then") {
      branch.asks = false;
    } else if (branch.asks) {
      branch.holds.reset();  // "[ a ] || [ b ]" is not evaluated
    } else {
      return false;
    }
    return true;
  }

  // "cat <<EOT > file": skips the lines up to EOT, which are the file's content.
  void skip_text_of(const std::vector<ScriptWord>& words) {
    const auto begin = std::ranges::find_if(
        words, [](const ScriptWord& word) { return word.text.starts_with("<<"); });
    if (begin == words.end()) return;
    std::string end = begin->text.substr(2);
    if (end.starts_with('-')) end.erase(0, 1);
    if (end.empty() || text_.find("\n" + end, next_) == std::string_view::npos) return;
    for (std::string line; !ended() && line != end;) {
      line.clear();
      while (!ended() && peek() != '\n') line += take();
      if (!ended()) take();
    }
  }

  // Splits the text that another shell runs (bash -c "...") into words.
  static std::vector<ScriptWord> split_commands(const std::vector<ScriptWord>& words) {
    std::vector<ScriptWord> all;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i == 0 || words[i - 1].text != "-c") {
        all.push_back(words[i]);
        continue;
      }
      const std::vector<ScriptWord> inside = split(words[i].text, words[i].where);
      if (inside.size() > 1) all.pop_back();
      all.insert(all.end(), inside.begin(), inside.end());
    }
    return all;
  }

  // Drops "2>&1" and "> log".
  static std::vector<ScriptWord> without_redirections(const std::vector<ScriptWord>& words) {
    std::vector<ScriptWord> rest;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& text = words[i].text;
      const std::size_t arrow = text.find_first_not_of("0123456789&");
      const bool redirects = !words[i].quoted && arrow != std::string::npos &&
                             (text[arrow] == '>' || text[arrow] == '<');
      if (!redirects) rest.push_back(words[i]);
      if (redirects && text.find_first_not_of("<>", arrow) == std::string::npos) ++i;
    }
    return rest;
  }

  // Reads one word, or the several words of a variable with arguments. Inside an array no word is
  // an assignment.
  void read_word(std::vector<ScriptWord>& words, bool in_array = false) {
    ScriptWord word{{}, here()};
    char quote = 0;
    while (!ended()) {
      const char c = peek();
      if (quote == 0 && (ends_word(c) || (in_array && c == ')'))) break;
      if (c == '\\' && quote != '\'') {
        take();
        if (ended()) break;
        const bool line_goes_on = peek() == '\n' || peek() == '\r';
        const char escaped = take();
        if (line_goes_on && quote == 0) break;
        word.text += line_goes_on ? ' ' : escaped;
      } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
        quote = quote == 0 ? c : 0;
        word.quoted = true;
        take();
      } else if (c == '$' && quote != '\'') {
        if (expand(word, words, quote == '"')) return;
      } else if (quote == 0 && !in_array && (c == '(' || c == ')')) {
        if (c == '(' && end_of_assigned(word.text) == word.text.size() - 1) return read_array(word);
        ends_pattern_ = c == ')' && (in_case() ? branches_.back().asks : opens_case(words));
        take();
        break;
      } else {
        word.text += take();
      }
    }
    if (quote != 0) throw Error(word.where, fmt::format("the quote {} is not closed", quote));
    if (word.text.empty() && !word.quoted) return;
    if (in_array || !assign_if(word, words)) words.push_back(word);
  }

  // True if the word assigns a variable. Only words at the start of a command can.
  bool assign_if(const ScriptWord& word, const std::vector<ScriptWord>& before) {
    const std::optional<std::size_t> end = end_of_assigned(word.text);
    if (!end || !std::ranges::all_of(before, is_declaration)) return false;
    assign(word, *end);
    return true;
  }

  void assign(const ScriptWord& word, std::size_t end) {
    if (skips()) return;
    const bool adds = word.text[end - 1] == '+';
    ShellVariable& variable = variables_[word.text.substr(0, adds ? end - 1 : end)];
    const std::string value = word.text.substr(end + 1);
    // In "A=${A:-8}" the value is resolved already. It also gets words if it lists arguments.
    variable.text = adds ? variable.text.value_or("") + value : value;
    variable.used = false;
    std::vector<ScriptWord> parts = split(value, word.where);
    if (!adds) variable.words.clear();
    if (parts.size() > 1 || holds_arguments(parts)) {
      variable.words.insert(variable.words.end(), parts.begin(), parts.end());
    }
  }

  // Splits the value of a variable into words. Each gets its own line as its place.
  static std::vector<ScriptWord> split(const std::string& text, Location where) {
    std::vector<ScriptWord> parts;
    bool inside = false;
    char quote = 0;
    for (const char c : text) {
      const bool blank = quote == 0 && (is_blank(c) || c == '\n');
      if (!blank && !inside) parts.push_back({{}, where});
      if (c == quote || (quote == 0 && (c == '\'' || c == '"'))) {
        quote = quote == 0 ? c : 0;
      } else if (!blank) {
        parts.back().text += c;
      }
      inside = !blank;
      if (c == '\n') where = {where.file, where.line + 1, 1};
    }
    return parts;
  }

  void read_array(const ScriptWord& word) {
    take();  // the parenthesis
    std::vector<ScriptWord> items;
    while (!ended() && peek() != ')') {
      if (is_blank(peek()) || ends_command(peek())) {
        take();
      } else if (peek() == '#') {
        read_comment();
      } else {
        read_word(items, true);
      }
    }
    if (ended()) throw Error(word.where, "the parenthesis ( is not closed");
    take();
    if (skips()) return;
    const bool adds = word.text.ends_with("+=");
    ShellVariable& variable = variables_[word.text.substr(0, word.text.size() - (adds ? 2 : 1))];
    if (!adds) variable.words.clear();
    variable.words.insert(variable.words.end(), items.begin(), items.end());
    variable.used = false;
  }

  // The text from '$' to the end of the name or parentheses.
  std::string dollar() {
    std::string written(1, take());
    if (ended()) return written;
    if (peek() == '{' || peek() == '(') {
      const char open = peek();
      const char close = open == '{' ? '}' : ')';
      int depth = 0;
      do {
        if (peek() == open) ++depth;
        if (peek() == close) --depth;
        written += take();
      } while (depth > 0 && !ended());
      return written;
    }
    while (!ended() && is_name_character(peek())) {
      written += take();
      if (written.size() == 2 && std::isdigit(static_cast<unsigned char>(written[1])) != 0) break;
    }
    return written;
  }

  // Appends the value of '$...' to the word. True if the value has several words: they are added to
  // `words`, and the word ends.
  bool expand(ScriptWord& word, std::vector<ScriptWord>& words, bool quoted) {
    const std::string written = dollar();
    const auto found = variables_.find(variable_name(written));
    const bool whole = !quoted || written.find("[@]") != std::string::npos ||
                       written.find("[*]") != std::string::npos;
    if (found == variables_.end() || found->second.words.empty() || !word.text.empty() || !whole) {
      word.text += value_of_dollar(written, 0);
      return false;
    }
    use(found->second);
    for (const ScriptWord& each : found->second.words) {
      if (words.size() > kMostWords) {
        throw Error(word.where, "the command has more words than a launch command can have");
      }
      if (quoted || each.text.find(' ') == std::string::npos) {
        words.push_back(each);
        continue;
      }
      // An unquoted array item "--fp8-format hybrid" is two words.
      const std::vector<ScriptWord> parts = split(each.text, each.where);
      words.insert(words.end(), parts.begin(), parts.end());
    }
    if (quoted && peek() == '"') take();
    return true;
  }

  static std::string variable_name(std::string_view written) {
    written.remove_prefix(1);
    if (written.starts_with("{")) written.remove_prefix(1);
    std::size_t end = 0;
    while (end < written.size() && is_name_character(written[end])) ++end;
    return std::string(written.substr(0, end));
  }

  std::string value_of_dollar(const std::string& written, int depth) {
    if (depth > kDeepest) return written;
    if (written.starts_with("$((") && written.ends_with("))")) {
      const std::string inside = arithmetic_text(written.substr(3, written.size() - 5), depth);
      const std::optional<std::int64_t> value = shell_arithmetic(inside);
      return value ? std::to_string(*value) : written;
    }
    const std::string name = variable_name(written);
    const bool braces = written.starts_with("${");
    std::string_view rest =
        std::string_view(written).substr(std::min(written.size(), name.size() + (braces ? 2 : 1)));
    if (braces && rest.ends_with('}')) rest.remove_suffix(1);
    const bool or_empty = rest.starts_with(':');
    if (or_empty) rest.remove_prefix(1);
    const bool otherwise = rest.starts_with('-') || rest.starts_with('=');
    if (!rest.empty() && !otherwise) return written;  // such as "${X%.*}", which is not evaluated
    const auto found = variables_.find(name);
    if (found != variables_.end() && found->second.text &&
        !(or_empty && found->second.text->empty())) {
      use(found->second);
      return *found->second.text;
    }
    if (!otherwise) return written;
    std::string value = expanded(std::string(rest.substr(1)), depth + 1);
    std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
    return value;
  }

  // Replaces variables by their values.
  std::string expanded(const std::string& text, int depth) {
    if (text.find('$') == std::string::npos) return text;
    ScriptReader inside(text, at_.file);
    std::string result;
    while (!inside.ended()) {
      if (inside.peek() == '$') {
        result += value_of_dollar(inside.dollar(), depth);
      } else {
        result += inside.take();
      }
    }
    return result;
  }

  // Names in $((...)) may lack the '$'.
  std::string arithmetic_text(const std::string& text, int depth) {
    const std::string with_values = expanded(text, depth + 1);
    std::string result;
    for (std::size_t i = 0; i < with_values.size();) {
      if (!is_name_character(with_values[i])) {
        result += with_values[i++];
        continue;
      }
      const std::size_t begin = i;
      while (i < with_values.size() && is_name_character(with_values[i])) ++i;
      const std::string name = with_values.substr(begin, i - begin);
      const auto found = variables_.find(name);
      result += found == variables_.end() ? name : found->second.text.value_or(name);
    }
    return result;
  }

  // Adds the settings "--name value", "--name=value", "-N 4", "name=value" (Hydra), and a
  // configuration file that precedes them ("train.py base.yml steps=10") as "yaml_file".
  void add_arguments(const std::vector<ScriptWord>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const ScriptWord& word = words[i];
      if (is_stated_by_name(word.text)) {
        const std::size_t equals = word.text.find('=');
        const Location value{word.where.file, word.where.line,
                             word.where.column + static_cast<int>(equals) + 1};
        settings_.push_back(
            {setting_name(word.text.substr(0, equals)), word.text.substr(equals + 1), value});
      } else if (is_argument(word)) {
        const std::size_t first = i + 1;
        const bool module = word.text == "-m";  // Python's option, which takes one name
        while (i + 1 < words.size() && !(module && i + 1 > first) && !is_argument(words[i + 1]) &&
               !is_stated_by_name(words[i + 1].text)) {
          ++i;
        }
        add_argument(word, std::span(words).subspan(first, i + 1 - first));
      } else if (word.text.ends_with(".yml") || word.text.ends_with(".yaml")) {
        settings_.push_back({"yaml_file", word.text, word.where});
      }
    }
  }

  // True for "name=value" and "--name=value".
  static bool is_stated_by_name(std::string_view word) {
    const std::size_t equals = word.find('=');
    return equals != std::string_view::npos && is_path_of_names(word.substr(0, equals));
  }

  static bool is_path_of_names(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
      return is_name_character(c) || c == '.' || c == '+' || c == '~' || c == '-';
    });
  }

  // Adds one argument with its values in brackets ("--target-modules q_proj v_proj"). If one of
  // these words names the program to launch, only the first is a value.
  void add_argument(const ScriptWord& name, std::span<const ScriptWord> values) {
    if (values.empty()) {
      settings_.push_back({setting_name(name.text), "true", name.where});
      return;
    }
    std::string list;
    const bool program = std::ranges::any_of(values, [](const ScriptWord& value) {
      return value.text.ends_with(".py") || value.text.find('/') != std::string::npos ||
             value.text == "python" || value.text == "python3";
    });
    int listed = 0;
    for (const ScriptWord& value : values) {
      // An unset variable may be empty: "--bf16 $MORE".
      if (listed > 0 && value.text.starts_with('$')) continue;
      list += (list.empty() ? "" : ", ") + value.text;
      ++listed;
    }
    const bool one = program || listed == 1;
    settings_.push_back(
        {setting_name(name.text), one ? values[0].text : "[" + list + "]", values[0].where});
  }

  std::string_view text_;
  std::size_t next_ = 0;
  Location at_;
  std::map<std::string, ShellVariable> variables_;
  std::vector<ShellBranch> branches_;
  bool ends_pattern_ = false;  // the last word is a pattern of a `case`
  std::vector<Setting> settings_;
};

}  // namespace

std::vector<Setting> settings_of_script(const std::string& text, const std::string& path) {
  return ScriptReader(text, path).settings();
}

}  // namespace windtunnel
