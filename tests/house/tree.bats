# SPDX-License-Identifier: BSD-3-Clause
# The source tree itself: licence lines, the version, line lengths, packages, documents.
load ../helpers
setup() {
    cd "$SOURCE_DIR"
}

# The files of the tree: those of git or, without git, those of a release. What a build has made
# since is newer than what configure made.
tree() {
    if [ -e .git ] && git ls-files --cached --others --exclude-standard 2>/dev/null; then return; fi
    find . -type d \( -name 'build*' -o -name autom4te.cache -o -name .git \) -prune -o \
        -type f ! -newer "$BUILD_DIR/config.status" ! -name 'config*' ! -name 'Makefile*' \
        ! -name '*.log' ! -name aclocal.m4 ! -name '*.gen.[ch]' ! -name '*.m4' -print |
        sed 's,^\./,,'
}

# Files that cannot have a comment, and documents; LICENSE covers them as well.
without_comments() {
    case $1 in
    *.md | *.txt | *.csv | *.jsonl | *.zst | LICENSE | NEWS | *.gitkeep | *.gitignore) ;;
    debian/rules | debian/control) return 1 ;;
    debian/*) ;;
    tests/fuzz/seeds-*/*) ;;
    *) return 1 ;;
    esac
}

@test "each file says its licence in its first lines" {
    local licence='SPDX-License-Identifier: BSD-3-Clause' files=() file
    while read -r file; do
        [ -f "$file" ] && ! without_comments "$file" || continue
        files+=("$file")
    done < <(tree)
    [ ${#files[@]} -gt 100 ] || fail "only ${#files[@]} files found"
    awk -v "licence=$licence" 'FNR <= 3 && index($0, licence) {print FILENAME} FNR > 3 {nextfile}' \
        "${files[@]}" >"$BATS_TEST_TMPDIR/licensed"
    others=$(printf '%s\n' "${files[@]}" | grep -vxFf "$BATS_TEST_TMPDIR/licensed" || :)
    [ -z "$others" ] || fail "add a comment with $licence to:" "$others"
}

@test "the version is that of configure.ac wherever it is repeated" {
    version=$(sed -n 's/^AC_INIT(\[wend\], \[\(.*\)\])$/\1/p' configure.ac)
    [ "$version" = "$PACKAGE_VERSION" ] || fail "configured as $PACKAGE_VERSION: $version"
    [ "$(grep -m 1 -oE '^Wend [0-9.]+' NEWS)" = "Wend $version" ] || fail "NEWS begins otherwise"
    [[ "$(head -n 1 debian/changelog)" == "wend ($version) "* ]] || fail "debian/changelog"
    tree | grep -vE '^(configure\.ac|NEWS|debian/changelog)$' |
        xargs -d '\n' grep -slIF "$version" >"$BATS_TEST_TMPDIR/others" || :
    [ ! -s "$BATS_TEST_TMPDIR/others" ] ||
        fail "$version is stated again in:" "$(cat "$BATS_TEST_TMPDIR/others")"
}

@test "the suite runs each file of tests" {
    grep -hv '^ *#' tests/*.mk tests/*/*.mk | tr -s ' \t\\=' '\n' | sort -u >"$BATS_TEST_TMPDIR/run"
    tree | grep '\.bats$' | sort >"$BATS_TEST_TMPDIR/all"
    [ -s "$BATS_TEST_TMPDIR/all" ]
    others=$(comm -13 "$BATS_TEST_TMPDIR/run" "$BATS_TEST_TMPDIR/all")
    [ -z "$others" ] || fail "no list in tests/*.mk has:" "$others"
    others=$(sed 's,.*/,,' "$BATS_TEST_TMPDIR/all" | sort | uniq -d)
    [ -z "$others" ] || fail "two files have this name, which script/test takes:" "$others"
}

# over_wide FILE…: the lines with more than 100 columns, without those of binary files.
over_wide() {
    LC_ALL=C.UTF-8 grep -nIHE '^.{101}' "$@" | cut -c 1-120
}

# Left out: documents, whose tables and figures may be wide (the test of the documentation checks
# the rest); mpi.spec, which has a line for each function; outputs that are compared byte by byte;
# the licence and the picture.
@test "lines have at most 100 columns" {
    mapfile -t files < <(tree |
        grep -vE '\.(md|svg)$|^(LICENSE|spec/mpi\.spec|tests/decoder/golden\.[a-z]*)$' |
        while read -r file; do
            [ ! -f "$file" ] || echo "$file"
        done)
    [ ${#files[@]} -gt 700 ] || fail "only ${#files[@]} files found"
    long=$(over_wide "${files[@]}") || true
    [ -z "$long" ] || fail "lines of more than 100 columns:" "$long"

    printf '%s\n' "$(printf 'ä%.0s' {1..100})" "$(printf 'x%.0s' {1..101})" \
        >"$BATS_TEST_TMPDIR/wide.mk"
    [[ $(over_wide "$BATS_TEST_TMPDIR/wide.mk") == *"wide.mk:2:xxx"* ]]
    [ "$(over_wide "$BATS_TEST_TMPDIR/wide.mk" | wc -l)" = 1 ]
}

@test "C is laid out as .clang-format says" {
    mapfile -t files < <(tree | grep -E '\.[ch]$' | grep -v '\.gen\.' | while read -r file; do
        [ ! -f "$file" ] || echo "$file"
    done)
    [ ${#files[@]} -gt 400 ] || fail "only ${#files[@]} files found"
    run script/format --check "${files[@]}"
    [ "$status" = 0 ] || fail "run script/format:" "$(grep -m 9 error: <<<"$output")"

    mkdir "$BATS_TEST_TMPDIR/c"
    cp .clang-format "$BATS_TEST_TMPDIR"
    printf 'int  main(void) { return 0; }\n' >"$BATS_TEST_TMPDIR/c/wide.c"
    run script/format --check "$BATS_TEST_TMPDIR/c/wide.c"
    [ "$status" = 1 ] || fail "the check says nothing"
}

@test "a proxy states its licence" {
    in_scratch
    "$PROXYGEN" -o proxy.c "$SOURCE_DIR/tests/decoder/golden.dir"
    tr -s ' *\n' ' ' <proxy.c | head -c 800 | grep -q "licence does not extend to this program"
    ! grep -q SPDX proxy.c || false
}

@test "the Spack recipe is Python, and takes the version from configure.ac" {
    in_scratch
    mkdir -p stub/spack
    cat >stub/spack/package.py <<'END'
class AutotoolsPackage:
    pass
def version(number): print("version", number)
def license(name): print("license", name)
def depends_on(what, **more): pass
END
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=stub "${PYTHON:-python3}" \
        "$SOURCE_DIR/packaging/spack/packages/wend/package.py" >said
    grep -qx "version $PACKAGE_VERSION" said
    grep -qx "license BSD-3-Clause" said
}

@test "lines and sentences of the documentation are short, and its links lead to files" {
    "${PYTHON:-python3}" tests/house/prose.py README.md CONTRIBUTING.md SECURITY.md docs/*.md \
        lib/README.md lib/*/README.md src/*/README.md src/*/*/README.md tests/README.md
    # and the check finds a fault of each kind
    in_scratch
    printf '%s\n' "- $(printf 'a %.0s' {1..20})" "  $(printf 'a %.0s' {1..21})." >long.md
    printf '%s\n' "$(printf 'x%.0s' {1..101})" '' '```' "$(printf 'x%.0s' {1..101})" '```' >wide.md
    printf '%s\n' '[a](b.md), [c](https://example.org/d), [e](long.md#f)' >dead.md
    run "${PYTHON:-python3}" "$SOURCE_DIR/tests/house/prose.py" long.md wide.md dead.md
    [ "$status" = 1 ]
    [ "${#lines[@]}" = 3 ]
    [[ "${lines[0]}" == "long.md:1: a sentence of 41 words"* ]]
    [[ "${lines[1]}" == "wide.md:1: 101 columns"* ]]
    [[ "${lines[2]}" == "dead.md:1: there is no b.md" ]]
}

@test "no assertion of a test is without effect" {
    in_scratch
    cd "$SOURCE_DIR"
    "${PYTHON:-python3}" tests/house/assertions.py tests/*/*.bats
    printf '%s\n' '@test "x" {' '    ! true' '    true && false' '    ! true || false' '}' \
        >"$BATS_TEST_TMPDIR/bad.bats"
    run "${PYTHON:-python3}" tests/house/assertions.py "$BATS_TEST_TMPDIR/bad.bats"
    [ "$status" = 1 ]
    [ "${#lines[@]}" = 2 ]
}

@test "sections that comments and pages refer to are there" {
    mapfile -t files < <(tree | grep -E '\.([ch]|py|md|mk|bats|bash|spec)$' | while read -r file; do
        [ ! -f "$file" ] || echo "$file"
    done)
    [ ${#files[@]} -gt 700 ] || fail "only ${#files[@]} files found"
    "${PYTHON:-python3}" tests/house/references.py docs "${files[@]}"
    # and the check finds what is not there
    in_scratch
    printf '/* docs/format.md,\n * %s, docs/format.md, %s */\n' '"Shards"' '"Shreds"' >a.c
    run "${PYTHON:-python3}" "$SOURCE_DIR/tests/house/references.py" "$SOURCE_DIR/docs" a.c
    [ "$status" = 1 ]
    [ "$output" = "a.c: format.md, \"Shreds\"" ]
}

@test "the README has at most 150 lines" {
    [ "$(wc -l <README.md)" -le 150 ]
}
