# SPDX-License-Identifier: BSD-3-Clause
# common.bash: applications that are not ours: fetched with apt-get source, built in a cache folder outside the sources, sent through the round trip.
# Each NAME.bash beside this file defines
#   build             in the cache: fetches and builds, once
#   cases             prints lines "CASE RANKS" of what can be run
#   run_case CASE N   in the folder where the program is about to run, which is a new one each time: sets the array "command", and may set
#                     INPUT and write files; "last_step=dump": no proxy of this one; "runs=4": so many runs of the proxy;
#                     "delays=7": ranks sleep now and then, as that number says (YIELD_DELAYS), and in each run of the proxy otherwise
#   comparable FILE   if there is such a function: what of an output, or of a file that the program wrote, is the same in each run
# and is run by run.bash. For a code base whose test programs are run one by one that is a few lines: pnetcdf.bash.

CACHE=${WEND_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/wend}
cache_setting=$CACHE
source "$(dirname "${BASH_SOURCE[0]}")/../helpers.bash" # clears WEND_*
CACHE=$cache_setting
MPIRUN_DIR=$(dirname "$MPICC")

# fetch PACKAGE: the upstream tarball of a Debian source package, unpacked to $CACHE/PACKAGE without its first folder.
fetch() {
    local package=$1 tarball
    [ ! -d "$CACHE/$package" ] || return 0
    mkdir -p "$CACHE/download"
    (
        cd "$CACHE/download" || exit
        ls "${package}"_*.orig.tar.* >/dev/null 2>&1 && exit
        chmod 755 .
        apt-get source -q --tar-only --download-only "$package" && exit
        # no source lists on this machine: use a list of our own, which changes nothing outside the cache
        mkdir -p lists/partial
        suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
        echo "deb-src http://deb.debian.org/debian $suite main" >sources.list
        own=(-o "Dir::Etc::SourceList=$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$PWD/lists")
        apt-get -q "${own[@]}" update && apt-get source -q --tar-only --download-only "${own[@]}" "$package"
    ) >"$CACHE/$package.log" 2>&1
    tarball=$(find "$CACHE/download" -maxdepth 1 -name "${package}_*.orig.tar.*" ! -name '*.asc' | head -n 1)
    [ -n "$tarball" ] || { echo "cannot fetch the source of $package: $(tail -n 1 "$CACHE/$package.log")" >&2; return 1; }
    rm -rf "$CACHE/$package.new"
    mkdir -p "$CACHE/$package.new"
    tar -xf "$tarball" -C "$CACHE/$package.new" --strip-components=1 || return
    mv "$CACHE/$package.new" "$CACHE/$package"
}

# built FILE command…: runs the command unless FILE is there afterwards already; its output goes to a log.
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

# programs N FILE…: a line "FOLDER/NAME N" for each of the files that is a program, for "cases"; without what is above the code base.
programs() {
    local n=$1 file
    shift
    for file; do
        [ -f "$file" ] && [ -x "$file" ] && [[ $file != *.* ]] && echo "${file#"$CACHE"/*/} $n"
    done
    return 0
}
