# SPDX-License-Identifier: BSD-3-Clause
# Call sites in code that comes and goes: that a program makes, unloads, or replaces as it runs.
bats_require_minimum_version 1.5.0
load ../helpers
setup() {
    in_scratch
    grep -q '^#define HAVE_LIBDW 1' "$BUILD_DIR/config.h" || skip "built without libdw"
}

compile() { # FILE OUT flags…
    local file=$1 out=$2
    shift 2
    "$MPICC" -g -O1 "$@" "$file" -o "$out" -ldl -lpthread
}

# sites_of DIR: from where the calls of rank 0 come, in their order.
sites_of() {
    "$WEND" dump --sites --rank 0 "$1" | sed -n 's/.* \(MPI_[A-Za-z_]*\)(.*# from /\1 /p'
}

@test "modules: calls from code that the program has made have no site, and the others theirs" {
    [ "$(uname -m)" = x86_64 ] || skip "the code is x86-64's"
    cat >made.c <<'C'
#include <mpi.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
    static const uint8_t code[] = {0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
                                   0x48, 0x89, 0xf8,       /* mov %rdi, %rax */
                                   0x48, 0x89, 0xf7,       /* mov %rsi, %rdi */
                                   0xff, 0xd0,             /* call *%rax */
                                   0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
                                   0xc3};                  /* ret */
    void *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 77;
    memcpy(page, code, sizeof code);
    void (*call)(int (*)(MPI_Comm), MPI_Comm);
    memcpy(&call, &page, sizeof call);
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; i++) {
        call(MPI_Barrier, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_SELF);
    }
    MPI_Finalize();
    return 0;
}
C
    compile made.c made
    for option in --quiet --stacks; do
        rm -rf app.dir
        mpi 2 "$WEND" trace $option -o app.dir ./made 2>err
        # a stack ends there
        sites_of app.dir | sed 's/unknown < ...$/unknown/' >sites
        {
            echo 'MPI_Init main (made.c:20)'
            for i in 1 2 3; do
                printf 'MPI_Barrier %s\n' unknown 'main (made.c:23)'
            done
            echo 'MPI_Finalize main (made.c:25)'
        } | diff - sites
        "$WEND" show --sites --table app.dir >table 2>said
        grep -q "^the sites of 6 of 16 calls are unknown$" table
        line="some calls have unknown sites: their code is in no file, as a JIT's is, or the \
recorder's memory was short"
        diff said - <<<"wend show: $line"
        "$WEND" export --csv=calls -f -o calls.csv app.dir 2>said
        # a row of this table has no site
        [ "$(wc -l <said)" = 1 ]
        grep -q 'no time of each call' said
        [ "$(grep -c MPI_Barrier calls.csv)" = 12 ]
    done
}

@test "modules: one that is loaded where another one was has sites of its own" {
    cat >library.c <<'C'
#include <mpi.h>
void library_call(int n);
void library_call(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}
C
    cat >opening.c <<'C'
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
static void *open_and_call(void *path)
{
    void *library = dlopen(path, RTLD_NOW), *function = dlsym(library, "library_call");
    printf("%p\n", function);
    ((void (*)(int))function)(3);
    dlclose(library);
    return NULL;
}
int main(int argc, char **argv)
{
    int level;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    for (int i = 1; i < argc; i++)
        open_and_call(argv[i]);
    /* in another thread, which has known none of them */
    pthread_create(&thread, NULL, open_and_call, argv[1]);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
C
    compile opening.c opening
    for name in one two; do
        cp library.c $name.c
        compile $name.c $name.so -shared -fPIC
    done
    for option in --quiet --stacks; do
        rm -rf app.dir
        mpi 1 "$WEND" trace $option -o app.dir ./opening ./one.so ./two.so ./one.so >out 2>err
        [ "$(head -n 3 out | sort -u | wc -l)" = 1 ] || skip "the libraries have other addresses"
        sites_of app.dir | sed -n 's/^MPI_Barrier library_call (\([a-z]*.c\):6).*/\1/p' >sites
        [ "$(uniq -c sites | xargs)" = "3 one.c 3 two.c 6 one.c" ] || fail "$option: $(cat sites)"
    done
}

@test "modules: one that was unloaded before the end has names, and addresses without its file" {
    cat >library.c <<'C'
#include <mpi.h>
void library_call(int n);
void library_call(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
C
    cat >unloading.c <<'C'
#include <dlfcn.h>
#include <mpi.h>
int main(int argc, char **argv)
{
    void *library, *function, *left;
    MPI_Init(&argc, &argv);
    library = dlopen("./library.so", RTLD_NOW);
    function = dlsym(library, "library_call");
    ((void (*)(int))function)(3);
    dlclose(library);
    left = dlopen("./library.so", RTLD_NOW | RTLD_NOLOAD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return left ? 7 : 0;
}
C
    compile unloading.c unloading
    compile library.c library.so -shared -fPIC
    for option in --quiet --stacks; do
        rm -rf app.dir
        mpi 2 "$WEND" trace $option -o app.dir ./unloading >out 2>&1 || fail "$(cat out)"
        run --separate-stderr -0 "$WEND" show --sites --csv app.dir
        [ -z "$stderr" ] || fail "$stderr"
        grep -q '^MPI_Barrier,library_call,[^,]*/library.c,6,library.so,0x[0-9a-f]*,6,' \
            <<<"$output" || fail "$option: $output"
        grep -q '^MPI_Bcast,library_call,[^,]*/library.c,7,library.so,' <<<"$output" ||
            fail "$option: $output"
        grep -q '^MPI_Barrier,main,[^,]*/unloading.c,12,unloading,' <<<"$output" ||
            fail "$option: $output"
        # without its file it is its name and an address, in each table, and one line says why
        line="*library.so cannot be read: addresses in it have no names"
        mv library.so away.so
        for format in --csv --table --json; do
            run --separate-stderr -0 "$WEND" show --sites $format --all app.dir
            [ "${#stderr_lines[@]}" = 1 ] && [[ $stderr == "wend show: "$line ]] ||
                fail "$option $format: $stderr"
            [[ $output == *library.so* && $output != *library_call* ]] &&
                [[ $output == *unloading.c* ]] || fail "$option $format: $output"
        done
        mv away.so library.so
    done
}

@test "modules: files that are replaced while the program runs have addresses, and no names" {
    cat >library.c <<'C'
#include <mpi.h>
void library_call(void);
void library_call(void)
{
    MPI_Barrier(MPI_COMM_SELF);
}
C
    cat >replaced.c <<'C'
#include <mpi.h>
#include <stdio.h>
void library_call(void);
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    library_call();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 1; i + 1 < argc; i += 2)
            if (rename(argv[i], argv[i + 1]))
                perror(argv[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    library_call();
    MPI_Finalize();
    return 0;
}
C
    compile library.c library.so -shared -fPIC
    compile replaced.c replaced -Wl,--no-as-needed ./library.so
    sed 's/SELF);/&\n    MPI_Barrier(MPI_COMM_SELF);/' library.c >other.c
    compile other.c other.so -shared -fPIC
    echo 'not a program' >other
    "$WEND" trace --help | grep -q -- --symbols
    for option in --quiet --symbols; do
        rm -rf app.dir kept
        mkdir kept
        cp replaced library.so other other.so kept
        mpi 2 "$WEND" trace $option -o app.dir \
            ./replaced other.so library.so other replaced >out 2>&1 || fail "$(cat out)"
        run --separate-stderr "$WEND" dump --sites --rank 0 app.dir
        [ "$status" = 0 ] || fail "$stderr"
        [[ $output == *"# from library.so + 0x"* && $output == *"# from replaced + 0x"* ]] ||
            fail "$output"
        [[ $output != *" (library.c:"* && $output != *" (replaced.c:"* ]] || fail "$output"
        # one line for each file
        [ "$(grep -c 'library.so has changed since the recording' <<<"$stderr")" = 1 ]
        [ "$(grep -c '/replaced .*addresses in it have no names' <<<"$stderr")" = 1 ]
        [ "$(wc -l <<<"$stderr")" = 2 ] || fail "$stderr"
        cp --remove-destination kept/* .
    done
    # as they were, they have names again
    "$WEND" dump --sites --rank 0 app.dir | grep -q '# from library_call (library.c:5)$'
}

@test "modules: the recorder needs the C library, the unwinder, and no other library" {
    # libffi is linked into it where that has a static library for it
    readelf -d "$LIBWEND" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -v '^libffi\|^lib[a-z]*san' | sort >needed
    diff needed - <<<$'libc.so.6\nlibgcc_s.so.1'
}
