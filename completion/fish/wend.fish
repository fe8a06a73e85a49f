# SPDX-License-Identifier: BSD-3-Clause
# fish completion for wend. It asks --help for commands and options, so they are those of the
# commands.

function __wend_words --description 'the words before the cursor, without the one that it is in'
    commandline -opc
end

# The command, if there is one: the first word that is no option.
function __wend_command
    for word in (__wend_words)[2..-1]
        if not string match -q -- '-*' $word
            echo $word
            return
        end
    end
    return 1
end

function __wend_commands
    set -l words (__wend_words)
    $words[1] --help 2>/dev/null | string replace -rf '^  wend ([a-z]+) +(.*)$' '$1\t$2'
end

function __wend_options --description 'options of WORDS…, and what --help says of each'
    $argv --help 2>/dev/null |
        string replace -rf '^ +(?:-[a-zA-Z], )?(--[a-z][a-z0-9-]*)(=[^ ]+)? +(.*)$' '$1\t$3'
end

# The value of an option: the next word, or behind "=" in the same word.
function __wend_values
    set -l word (commandline -ct)
    set -l option (__wend_words)[-1]
    set -l before
    if string match -qr -- '^--[a-z0-9-]+=' $word
        set option (string replace -r -- '=.*' '' $word)
        set before $option=
    end
    switch $option
        case -F --format
            printf "$before%s\n" text csv jsonl
        case --from --to
        case --mpi --target
            printf "$before%s\n" mpich openmpi
        case -t
            test (__wend_words)[1] = proxygen; or return 1
            printf "$before%s\n" mpich openmpi
        case -o --output
            __fish_complete_path (string replace -- "$before" '' $word) |
                string replace -r -- '^' "$before"
        case --times # of trace and replay; that of dump has no value
            contains -- (__wend_command) trace replay; or return 1
            printf "$before%s\n" lossless 10%
        case --on-divergence
            printf "$before%s\n" stop free warn
        case --then
            printf "$before%s\n" stop free
        case --wait --checkpoint --disk --shard-ranks --max-memory --max-size --until --debug \
            --patience --exec --site-tolerance --site-ignore
        case '*'
            return 1
    end
end

function __wend_complete
    set -l words (__wend_words)
    set -l word (commandline -ct)
    set -l command (__wend_command)
    if test -z "$command"; or test "$command" = help
        __wend_commands
        string match -q -- '-*' $word; and __wend_options $words[1]
        return
    end
    set -l recording no # a replay has one before the application
    test "$command" = replay; and set recording yes
    if contains -- "$command" trace replay # words after the application's name belong to it
        set -l at (math (contains -i -- $command $words) + 1)
        while test $at -le (count $words)
            switch $words[$at]
                case -o --output --mpi --times --wait --checkpoint --disk --shard-ranks \
                    --max-memory --on-divergence --then --until --debug --patience --exec
                    set at (math $at + 1)
                case '-*'
                case '*'
                    if test $recording = yes
                        set recording no
                        set at (math $at + 1)
                        continue
                    end
                    complete -C "$words[$at..-1] $word"
                    return
            end
            set at (math $at + 1)
        end
    end
    __wend_values; and return
    if string match -q -- '-*' $word
        __wend_options $words[1] $command
    else if test "$command" = trace; or test "$command" = replay -a $recording = no
        __fish_complete_command
        __fish_complete_path $word
    else
        __fish_complete_directories $word # a recording is a folder
    end
end

function __wend_complete_proxygen
    set -l word (commandline -ct)
    __wend_values; and return
    if string match -q -- '-*' $word
        __wend_options (__wend_words)[1]
    else
        __fish_complete_directories $word
    end
end

complete -c wend -f -a '(__wend_complete)'
complete -c proxygen -f -a '(__wend_complete_proxygen)'
