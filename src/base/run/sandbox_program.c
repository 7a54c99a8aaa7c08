/*
 * Files hidden from a program: by Landlock, or by a name space of mounts in which nothing else is.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/run/sandbox.h"
#include "base/str.h"

/* Compilers, their libraries and what the loader reads. */
static const char *const system_files[] = {
    "/usr",           "/bin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache",
    "/etc/ld.so.conf"};

/* Devices that a compiler opens. */
static const char *const devices[] = {"/dev/null", "/dev/urandom"};

/* ---- Landlock ---- */

/* Later kernels have more rights; headers of Debian 12 have those of the second version. */
#define RIGHTS_FILE  (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE)
#define RIGHTS_READ  (RIGHTS_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define RIGHTS_FIRST ((uint64_t)(LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)
#define RIGHT_REFER  ((uint64_t)1 << 13)
#define RIGHT_CUT    ((uint64_t)1 << 14)
#define RIGHT_DEVICE ((uint64_t)1 << 15)

static int landlock_version(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static uint64_t landlock_rights(void)
{
    int version = landlock_version();

    return RIGHTS_FIRST | (version >= 2 ? RIGHT_REFER : 0) | (version >= 3 ? RIGHT_CUT : 0) |
           (version >= 5 ? RIGHT_DEVICE : 0);
}

static int landlock_allow(int rules, const char *path, uint64_t rights)
{
    struct landlock_path_beneath_attr rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
    struct stat st;

    if (rule.parent_fd < 0)
        return errno == ENOENT || errno == EACCES || errno == ENOTDIR ? 0 : errno;
    if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rights &= RIGHTS_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | RIGHT_CUT | RIGHT_DEVICE;
    rule.allowed_access = rights;
    int error = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0
                    ? 0
                    : errno;
    close(rule.parent_fd);
    return error;
}

/* What is named may be read, the own folder written; all else is closed. 0, or an errno. */
static int by_landlock(const struct sandbox_program *s)
{
    struct landlock_ruleset_attr all = {.handled_access_fs = landlock_rights()};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
    int error = rules < 0 ? errno : 0;

    for (size_t i = 0; error == 0 && i < ARRAY_LEN(system_files); i++)
        error = landlock_allow(rules, system_files[i], RIGHTS_READ);
    for (size_t i = 0; error == 0 && i < ARRAY_LEN(devices); i++)
        error = landlock_allow(rules, devices[i],
                               LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
    for (size_t i = 0; error == 0 && i < s->read.n; i++)
        error = landlock_allow(rules, s->read.at[i], RIGHTS_READ);
    if (error == 0 && s->folder != NULL)
        error = landlock_allow(rules, s->folder, all.handled_access_fs & ~RIGHT_DEVICE);
    if (error == 0 && syscall(SYS_landlock_restrict_self, rules, 0) != 0)
        error = errno;
    if (rules >= 0)
        close(rules);
    return error;
}

/* ---- a name space of mounts ---- */

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

    if (fd >= 0)
        close(fd);
    return n < 0 ? errno : 0;
}

/* A user who is not root is root of a name space of users, in which mounts are allowed. */
static int own_mounts(void)
{
    char map[64];
    unsigned user = geteuid(), group = getegid();

    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return errno;
        (void)write_file("/proc/self/setgroups", "deny");
        snprintf(map, sizeof(map), "%u %u 1", user, user);
        int error = write_file("/proc/self/uid_map", map);
        snprintf(map, sizeof(map), "%u %u 1", group, group);
        if (error == 0)
            error = write_file("/proc/self/gid_map", map);
        if (error != 0)
            return error;
    }
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ? 0 : errno;
}

/* Shows `path`, which is absolute, at the same place below `root`. */
static int show(const char *root, const char *path, bool is_written)
{
    char at[4096];
    struct stat st;
    size_t n = strlen(root);

    if (stat(path, &st) != 0)
        return 0;
    if (path[0] != '/' || n + strlen(path) >= sizeof(at))
        return ENAMETOOLONG;
    snprintf(at, sizeof(at), "%s%s", root, path);
    for (char *slash = strchr(at + n + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(at, 0700);
        *slash = '/';
    }
    if (S_ISDIR(st.st_mode))
        (void)mkdir(at, 0700);
    else
        close(open(at, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (mount(path, at, NULL, MS_BIND | MS_REC, NULL) != 0)
        return errno;
    /* Flags that a mount has already may not be dropped in a name space of users. */
    unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID;
    if (!is_written && S_ISDIR(st.st_mode) && mount(NULL, at, NULL, flags, NULL) != 0)
        (void)mount(NULL, at, NULL, flags | MS_NODEV, NULL);
    return 0;
}

/* A folder that exists and has none of the files that are shown. */
static const char *free_root(const struct sandbox_program *s)
{
    static const char *const roots[] = {"/mnt", "/srv", "/media", "/opt"};

    for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
        struct str root = str_of(roots[i]);
        struct stat st;
        bool is_free = stat(roots[i], &st) == 0;
        for (size_t k = 0; s != NULL && k < s->read.n; k++)
            is_free = is_free && !str_starts(str_of(s->read.at[k]), root);
        if (s != NULL && s->folder != NULL)
            is_free = is_free && !str_starts(str_of(s->folder), root);
        if (is_free)
            return roots[i];
    }
    return NULL;
}

static int empty_root(const char *root)
{
    int error = root != NULL ? own_mounts() : ENOENT;

    if (error == 0 && mount("none", root, "tmpfs", MS_NOSUID, "mode=755") != 0)
        error = errno;
    return error;
}

/* Relative paths stay what they are: the folder we are in exists there, too. */
static int by_mounts(const struct sandbox_program *s)
{
    const char *root = free_root(s);
    char here[4096];
    const char *cwd = getcwd(here, sizeof(here));
    int error = empty_root(root);

    for (size_t i = 0; error == 0 && i < ARRAY_LEN(system_files); i++)
        error = show(root, system_files[i], false);
    for (size_t i = 0; error == 0 && i < ARRAY_LEN(devices); i++)
        error = show(root, devices[i], true);
    for (size_t i = 0; error == 0 && i < s->read.n; i++)
        error = show(root, s->read.at[i], false);
    if (error == 0 && s->folder != NULL)
        error = show(root, s->folder, true);
    if (error == 0 && (chdir(root) != 0 || chroot(".") != 0))
        error = errno;
    if (error == 0 && cwd != NULL)
        (void)!chdir(cwd);
    return error;
}

/* ---- which ---- */

static bool mounts_work(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(empty_root(free_root(NULL)) == 0 ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

enum sandbox_way sandbox_way(void)
{
    if (landlock_version() >= 1)
        return SANDBOX_LANDLOCK;
    return mounts_work() ? SANDBOX_MOUNTS : SANDBOX_NONE;
}

static void program_limit(int what, int64_t value)
{
    struct rlimit l = {(rlim_t)value, (rlim_t)value};

    if (value > 0)
        (void)setrlimit(what, &l);
}

int sandbox_confine(const struct sandbox_program *s, enum sandbox_way way)
{
    struct rlimit none = {0, 0};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)setrlimit(RLIMIT_CORE, &none);
    program_limit(RLIMIT_CPU, s->seconds);
    program_limit(RLIMIT_AS, s->bytes);
    program_limit(RLIMIT_FSIZE, s->file_bytes);
    int error = way == SANDBOX_MOUNTS ? by_mounts(s) : 0;
    if (error == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        error = errno;
    if (error == 0 && way == SANDBOX_LANDLOCK)
        error = by_landlock(s);
    if (error == 0 && s->runs_code)
        error = sandbox_filter();
    return error;
}
