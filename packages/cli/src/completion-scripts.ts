/**
 * What each shell runs on Tab. The program answers with `files`, or with `words` and a word in each line. None of the scripts puts
 * anything into the line that does not begin with what was typed.
 */
export const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_binnacle() {
  local IFS=$'\\n' answer
  COMPREPLY=()
  answer=($(binnacle __complete bash "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null))
  if [ "\${answer[0]}" = files ]; then
    compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
    return
  fi
  COMPREPLY=("\${answer[@]:1}")
  case "\${#COMPREPLY[@]} \${COMPREPLY[0]}" in 1\\ *[=/]) compopt -o nospace 2>/dev/null ;; esac
}
complete -F _binnacle binnacle
`,
  zsh: `#compdef binnacle
_binnacle() {
  local -a answer open closed
  answer=("\${(@f)$(binnacle __complete zsh "\${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  if [[ $answer[1] == files ]]; then
    _files
    return
  fi
  shift answer
  open=("\${(@M)answer:#*[=/]}")
  closed=("\${(@)answer:#*[=/]}")
  (( $#open )) && compadd -S '' -- $open
  (( $#closed )) && compadd -- $closed
}
if [[ $funcstack[1] == _binnacle ]]; then
  _binnacle "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
  compdef _binnacle binnacle
fi
`,
  fish: `function __binnacle_complete
    set -l answer (binnacle __complete fish (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
    if test "$answer[1]" = files
        __fish_complete_path (commandline -ct)
    else if test (count $answer) -gt 1
        printf '%s\\n' $answer[2..-1]
    end
end
complete -c binnacle -f -a '(__binnacle_complete)'
`,
};
