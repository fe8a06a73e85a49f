# SPDX-License-Identifier: BSD-3-Clause
# common.bash: round trips and replays of other projects' applications. They are fetched with
# apt-get source or git, and built in a cache folder outside the sources.
# Each NAME.bash beside this file defines
#   build             in the cache: fetches and builds, once
#   cases             prints lines "CASE RANKS" of what can be run
#   run_case CASE N   sets the array "command", in the new folder where the program is about to run.
#                     It may write files and set
#                       INPUT           standard input
#                       replays=3       the number of replays; 0 (default): none
#                       trace_options=(--values)  for the recording
#                       last_step=dump  no proxy of this case
#                       runs=4          the number of runs of the proxy
#                       delays=7        ranks sleep at times (YIELD_DELAYS); the proxy at others
#   comparable FILE   optional: the parts of an output, or of a file that the program wrote, that
#                     are the same in each run
# and is run by run.bash. A code base whose test programs run one by one takes a few lines:
# pnetcdf.bash.

CACHE=${WEND_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/wend}
cache_setting=$CACHE
source "$(dirname "${BASH_SOURCE[0]}")/../helpers.bash" # clears WEND_*
CACHE=$cache_setting
MPIRUN_DIR=$(dirname "$MPICC")

# fetch PACKAGE: the upstream tarball of a Debian source package, unpacked to $CACHE/PACKAGE without
# its first folder. If ELSEWHERE_SOURCES has a folder PACKAGE, its sources instead.
fetch() {
    local package=$1 tarball
    [ ! -d "$CACHE/$package" ] || return 0
    if [ -n "${ELSEWHERE_SOURCES:-}" ] && [ -d "$ELSEWHERE_SOURCES/$package" ]; then
        cp -R "$ELSEWHERE_SOURCES/$package" "$CACHE/$package"
        return
    fi
    mkdir -p "$CACHE/download"
    (
        cd "$CACHE/download" || exit
        ls "${package}"_*.orig.tar.* >/dev/null 2>&1 && exit
        chmod 755 .
        apt-get source -q --tar-only --download-only "$package" && exit
        # no source lists on this machine: use a list in the cache, and change nothing outside it
        mkdir -p lists/partial
        suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
        echo "deb-src http://deb.debian.org/debian $suite main" >sources.list
        own=(-o "Dir::Etc::SourceList=$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null \
            -o "Dir::State::Lists=$PWD/lists")
        apt-get -q "${own[@]}" update &&
            apt-get source -q --tar-only --download-only "${own[@]}" "$package"
    ) >"$CACHE/$package.log" 2>&1
    tarball=$(find "$CACHE/download" -maxdepth 1 -name "${package}_*.orig.tar.*" ! -name '*.asc' |
        head -n 1)
    [ -n "$tarball" ] ||
        { echo "cannot fetch the source of $package: $(tail -n 1 "$CACHE/$package.log")" \
        >&2; return 1; }
    rm -rf "$CACHE/$package.new"
    mkdir -p "$CACHE/$package.new"
    tar -xf "$tarball" -C "$CACHE/$package.new" --strip-components=1 || return
    mv "$CACHE/$package.new" "$CACHE/$package"
}

# fetch_repository NAME OWNER/REPOSITORY: a repository of GitHub's in $CACHE/NAME. If
# ELSEWHERE_SOURCES names a folder, the sources are in its folder REPOSITORY instead.
fetch_repository() {
    local name=$1 repository=$2 sources=${ELSEWHERE_SOURCES:+$ELSEWHERE_SOURCES/${2#*/}}
    [ ! -d "$CACHE/$name" ] || return 0
    rm -rf "$CACHE/$name.new"
    if [ -n "$sources" ]; then
        cp -R "$sources" "$CACHE/$name.new"
    else
        git clone -q --depth 1 "https://github.com/$repository" "$CACHE/$name.new"
    fi >"$CACHE/$name.log" 2>&1 || {
        rm -rf "$CACHE/$name.new"
        echo "cannot fetch $repository: ELSEWHERE_SOURCES may name a folder that has it" >&2
        return 1
    }
    mv "$CACHE/$name.new" "$CACHE/$name"
}

# built FILE command…: runs the command unless FILE is already there; its output goes to a log.
built() {
    local file=$1 log=$CACHE/build.log
    shift
    [ -e "$file" ] && return 0
    "$@" >"$log" 2>&1
    [ -e "$file" ] || { echo "building ${file##*/} failed:" >&2; tail -n 15 "$log" >&2; return 1; }
}

# words <FILE: its words in a fixed order. Ranks write in any, also within a line.
words() {
    tr -s '[:space:]' '\n' | sort
}

# without_fractions FILE: its words, without numbers that have a decimal point.
without_fractions() {
    sed -E 's/[0-9]+\.[0-9]+(e[-+]?[0-9]+)?//g' "$1" | words
}

# programs N FILE…: prints a line "FOLDER/NAME N" for each FILE that is a program, for "cases".
# FOLDER is relative to the code base.
programs() {
    local n=$1 file
    shift
    for file; do
        [ -f "$file" ] && [ -x "$file" ] && [[ ${file##*/} != *.* ]] &&
            echo "${file#"$CACHE"/*/} $n"
    done
    return 0
}
