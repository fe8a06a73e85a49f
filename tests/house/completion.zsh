# SPDX-License-Identifier: BSD-3-Clause
# completion.zsh FILE WORD…: prints the words that zsh's completion in FILE offers for the last
# WORD, one a line. zsh's own functions exist only at a prompt, so their arguments are printed.
file=$1
shift
words=("$@")
CURRENT=$#words
service=${words[1]:t}
rest=${words[CURRENT]}                # of the word: what is completed
compset() { rest=${rest#${~2}} }      # -P PATTERN
compadd() {
    local -a fit=("${(@M)@:#${(b)rest}*}")
    (($#fit == 0)) || print -rl -- $fit
}
_describe() { # [-o] TEXT ARRAY [-- ARRAY OPTION…]
    local name
    for name in "$@"; do
        [[ ${(Pt)name} = array* ]] && print -rl -- "${(@)${(P)name}%%:*}"
    done
    return 0
}
_message() { print -r -- "($1)" }
_files() { print -r -- "(files)" }
_directories() { print -r -- "(directories)" }
_command_names() { print -r -- "(commands)" }
_normal() { print -r -- "(as by itself: $words)" }
source $file
