#include <string_view>

#include "cli/shell/completion.hpp"

namespace windtunnel {
namespace {

// Each script runs the program that is being typed. The first line of the answer has the kind of
// files to offer and, after a tab, the prefix; each further line a word and, after a tab, its help.

constexpr const char* kBash =
    R"sh(# bash completion for PROGRAM. To load it: source <(PROGRAM completion bash)
_PROGRAM() {
  local cur files prefix shown word i
  local -a words=()
  COMPREPLY=()
  # bash takes "key=value" for three words.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if ((i > 1)) && [[ ${COMP_WORDS[i]} == = || ${COMP_WORDS[i - 1]} == = ]]; then
      words[${#words[@]} - 1]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  cur=${words[${#words[@]} - 1]#[\"\']}
  cur=${cur/=[\"\']/=}  # an open quote is no part of the word
  words[${#words[@]} - 1]=$cur
  {
    IFS=$'\t' read -r files prefix
    cur=${cur:${#prefix}}
    shown=$prefix
    [[ $COMP_WORDBREAKS == *=* ]] && shown=${prefix##*=}  # a word of its own begins behind each =
    while IFS=$'\t' read -r word _; do
      [[ $word == "$cur"* ]] || continue
      [[ $word == *= ]] && compopt -o nospace 2>/dev/null
      COMPREPLY+=("$shown$word")
    done
  } < <("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
  local -a kinds=()
  case $files in
    scenario) kinds=('-d' '-f -X !*.yaml' '-f -X !*.json') ;;
    folder) kinds=('-d') ;;
    file) kinds=('-f') ;;
  esac
  ((${#kinds[@]})) && compopt -o filenames 2>/dev/null
  for i in "${kinds[@]}"; do
    while IFS= read -r word; do COMPREPLY+=("$shown$word"); done < <(
      set -f
      compgen $i -- "$cur"
    )
  done
}
complete -F _PROGRAM PROGRAM
)sh";

constexpr const char* kZsh = R"sh(#compdef PROGRAM
# zsh completion for PROGRAM. To load it: source <(PROGRAM completion zsh), or as a file _PROGRAM
# in a folder of $fpath.
_PROGRAM() {
  local line word prefix ret=1
  local -a asked lines plain keys
  asked=("${words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT-1]}" "$PREFIX")
  lines=("${(@f)$("${asked[@]}" 2>/dev/null)}")
  prefix=${lines[1]#*$'\t'}
  [[ -n $prefix ]] && compset -P "${(b)prefix}"
  for line in $lines[2,-1]; do
    word=${line%%$'\t'*}
    line=${word//:/\\:}:${line#*$'\t'}
    if [[ $word == *= ]]; then keys+=("${line%:}"); else plain+=("${line%:}"); fi
  done
  (($#plain)) && _describe word plain && ret=0
  (($#keys)) && _describe key keys -S '' && ret=0
  case ${lines[1]%%$'\t'*} in
    scenario) _files -g '*.(yaml|json)' && ret=0 ;;
    folder) _files -/ && ret=0 ;;
    file) _files && ret=0 ;;
  esac
  return ret
}
if [[ $funcstack[1] == _PROGRAM ]]; then
  _PROGRAM "$@"
else
  compdef _PROGRAM PROGRAM
fi
)sh";

constexpr const char* kFish =
    R"sh(# fish completion for PROGRAM. To load it: PROGRAM completion fish | source
function __PROGRAM_complete
  set -l words (commandline -opc)
  set -l current (string replace -r '^["\']' '' -- (commandline -ct))
  set -l program (string replace -r '^~' $HOME -- $words[1])
  set -l lines ($program __complete $words[2..-1] "$current" 2>/dev/null)
  set -l head (string split \t -- $lines[1])
  set -l rest (string sub -s (math 1 + (string length -- "$head[2]")) -- "$current")
  for line in $lines[2..-1]
    printf '%s\n' "$head[2]$line"
  end
  set -l files
  switch "$head[1]"
    case scenario
      set files '(\.yaml|\.json|/)(\t|$)'
    case folder
      set files '/(\t|$)'
    case file
      set files '.'
  end
  if set -q files[1]
    for path in (__fish_complete_path "$rest" | string match -er $files)
      printf '%s\n' "$head[2]$path"
    end
  end
end
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
)sh";

}  // namespace

std::string completion_script(const std::string& shell, const std::string& program) {
  std::string script = shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
  constexpr std::string_view kMark = "PROGRAM";
  for (std::size_t at = 0; (at = script.find(kMark, at)) != script.npos; at += program.size()) {
    script.replace(at, kMark.size(), program);
  }
  return script;
}

}  // namespace windtunnel
