/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.c: limits of made-up control groups of both versions, as machines, batch systems and
 * containers have them. */
#include "process/system.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

static char *root; /* of the files of a case */

static void put(const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(root, name, NULL);
    g_autofree char *folder = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void remove_all(const char *path)
{
    g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
    const char *name;
    while (folder && (name = g_dir_read_name(folder))) {
        g_autofree char *entry = g_build_filename(path, name, NULL);
        remove_all(entry);
    }
    g_assert_cmpint(g_remove(path), ==, 0);
}

/* Ends a case: the least limit, and the least of what is left. */
static void expect(guint64 limit, guint64 left)
{
    static Cgroups groups;
    memset(&groups, 'x', sizeof groups);
    cgroup_find(&groups, root);
    g_assert_cmpuint(cgroup_memory(&groups, false), ==, limit);
    g_assert_cmpuint(cgroup_memory(&groups, true), ==, left);
    remove_all(root);
    put("proc/self/x", "");
}

/* -- what the kernel says of mounts -- */

#define OTHERS                                                \
    "22 28 0:21 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n" \
    "30 22 0:26 / /sys/fs/cgroup/cpu rw shared:9 master:2 - cgroup cgroup rw,cpu,cpuacct\n"
#define MOUNT_1(root, point) "31 22 0:27 " root " " point " rw shared:9 - cgroup cgroup rw,memory\n"
#define MOUNT_2(root, point) "32 22 0:28 " root " " point " rw - cgroup2 cgroup rw,nsdelegate\n"
#define POINT_1 "/sys/fs/cgroup/memory"
#define POINT_2 "/sys/fs/cgroup"
#define NONE_1 "9223372036854771712\n"

static void say(const char *groups, const char *mounts)
{
    put("proc/self/cgroup", groups);
    put("proc/self/mountinfo", mounts);
}

/* USED with FILES among it, of version 1 and 2. NULL: the file is not there. */
static void group(int version, const char *folder, const char *limit, const char *used,
                  const char *stat)
{
    const char *names[] = {version == 1 ? "memory.limit_in_bytes" : "memory.max",
                           version == 1 ? "memory.usage_in_bytes" : "memory.current",
                           "memory.stat"};
    const char *texts[] = {limit, used, stat};
    for (int i = 0; i < 3; i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        if (texts[i])
            put(path, texts[i]);
    }
}

static void test_first(void)
{
    say("4:memory:/job/step\n1:cpu:/job\n0::/\n", MOUNT_1("/", POINT_1) OTHERS);
    group(1, POINT_1, NONE_1, "90000000\n", "");
    group(1, POINT_1 "/job", "8000000\n", "7000000\n",
          "cache 1\ninactive_file 5\n"
          "total_inactive_file 400000\ntotal_active_file 200000\n");
    group(1, POINT_1 "/job/step", "5000000\n", "1000000\n", "total_inactive_file 500000\n");
    expect(5000000, 1600000); /* of the job, 8 - 7 + 0.6 */
    /* with others in one hierarchy */
    say("4:cpu,memory,hugetlb:/job\n", "31 22 0:27 / /some/where rw - cgroup none rw,cpu,memory\n");
    group(1, "/some/where/job", "300\n", "100\n", NULL);
    expect(300, 200);
    /* nor is every name that has its name in it the controller */
    say("4:memoryless:/job\n3:unmemory:/job\n", MOUNT_1("/", POINT_1));
    group(1, POINT_1 "/job", "300\n", "100\n", NULL);
    expect(G_MAXUINT64, G_MAXUINT64);
    /* a group around it that cannot be seen */
    say("4:memory:/docker/1234\n", MOUNT_1("/docker/1234", POINT_1));
    group(1, POINT_1, NONE_1, "100\n", "hierarchical_memory_limit 700\ntotal_active_file 50\n");
    expect(700, 650);
}

static void test_second(void)
{
    say("0::/user.slice/job:1/step\n", OTHERS MOUNT_2("/", POINT_2));
    group(2, POINT_2 "/user.slice", "max\n", "5\n", "");
    group(2, POINT_2 "/user.slice/job:1", "9000\n", "8000\n",
          "inactive_file 500\nactive_file 300\n");
    group(2, POINT_2 "/user.slice/job:1/step", "max\n", "10\n", "");
    expect(9000, 1800);
    /* all have none */
    say("0::/a/b\n", MOUNT_2("/", POINT_2));
    group(2, POINT_2 "/a", "max\n", "5\n", "");
    group(2, POINT_2 "/a/b", "max\n", "5\n", "");
    expect(G_MAXUINT64, G_MAXUINT64);
    /* held up before it is killed */
    say("0::/a\n", MOUNT_2("/", POINT_2));
    group(2, POINT_2 "/a", "9000\n", "100\n", "");
    put(POINT_2 "/a/memory.high", "4000\n");
    expect(4000, 3900);
    /* nothing at all, more than that, and more files than anything */
    say("0::/a\n", MOUNT_2("/", POINT_2));
    group(2, POINT_2 "/a", "0\n", "0\n", "");
    expect(0, 0);
    say("0::/a\n", MOUNT_2("/", POINT_2));
    group(2, POINT_2 "/a", "9000\n", "10000\n", "inactive_file 200\n");
    expect(9000, 0);
    say("0::/a\n", MOUNT_2("/", POINT_2));
    group(2, POINT_2 "/a", "9000\n", "500\n", "inactive_file 600\nactive_file 600\n");
    expect(9000, 9000);
}

static void test_containers(void)
{
    /* a namespace of its own: its group is "/" */
    say("0::/\n", MOUNT_2("/", POINT_2));
    group(2, POINT_2, "9000\n", "1000\n", "");
    put("sys/fs/memory.max", "1\n");
    expect(9000, 8000);
    /* the machine's names, and only the container's groups mounted */
    say("4:memory:/docker/1234/job\n", MOUNT_1("/docker/1234", POINT_1));
    group(1, POINT_1, "9000\n", "1000\n", "");
    group(1, POINT_1 "/job", "5000\n", "1000\n", "");
    group(1, POINT_1 "/docker/1234/job", "1\n", "1\n", "");
    expect(5000, 4000);
    /* a name that only begins as the mount's root */
    say("0::/pod12\n", MOUNT_2("/pod1", POINT_2));
    group(2, POINT_2, "1\n", "1\n", "");
    group(2, POINT_2 "2", "1\n", "1\n", "");
    expect(G_MAXUINT64, G_MAXUINT64);
    /* mounted from further out, and outside of what is mounted */
    say("0::/../pod2/a\n", MOUNT_2("/..", POINT_2));
    group(2, POINT_2 "/pod2/a", "9000\n", "1000\n", "");
    expect(9000, 8000);
    say("0::/../pod2\n", MOUNT_2("/", POINT_2));
    group(2, POINT_2, "1\n", "1\n", "");
    put("sys/fs/pod2/memory.max", "1\n");
    expect(G_MAXUINT64, G_MAXUINT64);
    /* mounted twice: the one that shows more, whatever their order */
    for (int i = 0; i < 2; i++) {
        say("0::/a/b\n", i ? MOUNT_2("/a", "/inner") MOUNT_2("/", POINT_2)
                           : MOUNT_2("/", POINT_2) MOUNT_2("/a", "/inner"));
        group(2, "/inner/b", "9000\n", "1000\n", "");
        group(2, POINT_2 "/a/b", "9000\n", "1000\n", "");
        group(2, POINT_2 "/a", "5000\n", "1000\n", "");
        expect(5000, 4000);
    }
}

/* A machine with both: the limits are where the memory controller is, or on both sides. */
static void test_both(void)
{
    const char *mounts = MOUNT_1("/", POINT_1) MOUNT_2("/", "/sys/fs/cgroup/unified");
    say("4:memory:/job\n0::/session\n", mounts);
    group(1, POINT_1 "/job", "9000\n", "1000\n", "");
    put("/sys/fs/cgroup/unified/session/cgroup.procs", "1\n");
    expect(9000, 8000);
    say("4:cpu:/job\n0::/session\n", mounts);
    group(1, POINT_1 "/job", "1\n", "1\n", "");
    group(2, "/sys/fs/cgroup/unified/session", "7000\n", "1000\n", "");
    expect(7000, 6000);
}

static void test_missing(void)
{
    expect(G_MAXUINT64, G_MAXUINT64);
    put("proc/self/cgroup", "0::/a\n");
    group(2, POINT_2 "/a", "1\n", "1\n", "");
    expect(G_MAXUINT64, G_MAXUINT64);
    say("", MOUNT_2("/", POINT_2));
    expect(G_MAXUINT64, G_MAXUINT64);
    say("0::/a\n", "");
    expect(G_MAXUINT64, G_MAXUINT64);
    say("nonsense\n:\n0:\n0::/a\n", "\n 1 2\n1 2 3 / /x - \n" MOUNT_2("/", POINT_2));
    group(2, POINT_2 "/a", "70\n", NULL, NULL);
    expect(70, 70);
    say("0::/a", MOUNT_2("/", POINT_2)); /* the group is gone, those around it are not */
    group(2, POINT_2, "70\n", "10\n", NULL);
    expect(70, 60);
}

static void test_names(void)
{
    /* as mountinfo writes spaces and backslashes */
    say("0::/a b\\c\n", MOUNT_2("/", "/a\\040mount\\134x"));
    group(2, "/a mount\\x/a b\\c", "70\n", "10\n", "");
    expect(70, 60);
    /* many mounts, and two that are longer than anything; the end of one looks like a mount */
    g_autoptr(GString) mounts = g_string_new(NULL);
    for (int i = 0; i < 2000; i++)
        g_string_append_printf(mounts, "%d 1 0:%d / /mnt/%d rw - tmpfs tmpfs rw\n", i, i, i);
    g_string_append(mounts, "1 1 0:1 / / rw - overlay overlay rw,lowerdir=");
    for (int i = 0; i < 3000; i++)
        g_string_append_printf(mounts, "/layer/%d:", i);
    g_string_append(mounts, "\n" MOUNT_2("/", POINT_2) "1 1 0:1 / /");
    for (int i = 0; i < 20000; i++)
        g_string_append_c(mounts, 'y');
    g_string_append(mounts, " 1 0:1 / /evil rw - cgroup2 cgroup rw\n");
    for (int i = 0; i < 2000; i++)
        g_string_append_printf(mounts, "%d 1 0:%d / /net/%d rw - nfs host:/x rw\n", i, i, i);
    say("0::/a\n", mounts->str);
    group(2, "/evil/a", "1\n", "1\n", "");
    group(2, POINT_2 "/a", "70\n", "10\n", "");
    expect(70, 60);
    /* longer than a path may be */
    g_autofree char *part = g_strnfill(200, 'x');
    g_autoptr(GString) path = g_string_new("0::");
    for (int i = 0; i < 30; i++)
        g_string_append_printf(path, "/%s", part);
    say(path->str, MOUNT_2("/", POINT_2));
    g_autofree char *first = g_strdup_printf(POINT_2 "/%s", part);
    group(2, first, "70\n", "10\n", "");
    expect(70, 60);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    root = g_dir_make_tmp("wend-cgroup-XXXXXX", NULL);
    g_assert_nonnull(root);
    g_test_add_func("/cgroup/version 1", test_first);
    g_test_add_func("/cgroup/version 2", test_second);
    g_test_add_func("/cgroup/containers", test_containers);
    g_test_add_func("/cgroup/both versions", test_both);
    g_test_add_func("/cgroup/missing files", test_missing);
    g_test_add_func("/cgroup/names", test_names);
    int status = g_test_run();
    remove_all(root);
    g_free(root);
    return status;
}
