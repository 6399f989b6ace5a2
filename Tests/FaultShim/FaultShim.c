// SPDX-License-Identifier: Apache-2.0
// The intercepted functions. They make system calls by number, so that they call no other function of the C library.

#ifdef __linux__

#define _GNU_SOURCE
#include "FaultShim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static fault_plan plan;
static atomic_long counted;
static atomic_long hits;
static atomic_int is_armed;
static atomic_llong clock_jump;
// Calls of the shim itself, and of its callback, are not counted.
static _Thread_local int is_inside;

void fault_arm(const fault_plan *next) {
    plan = *next;
    atomic_store(&counted, 0);
    atomic_store(&hits, 0);
    atomic_store(&is_armed, 1);
}

long fault_disarm(void) {
    atomic_store(&is_armed, 0);
    atomic_store(&clock_jump, 0);
    return atomic_load(&hits);
}

static void put(int descriptor, const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        long written = syscall(SYS_write, descriptor, next, count);
        if (written <= 0) abort();
        next += written;
        count -= (size_t)written;
    }
}

static const char *path_of(int descriptor, char *buffer) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, buffer, PATH_MAX - 1);
    buffer[length < 0 ? 0 : length] = 0;
    return buffer;
}

// The whole path of a name below an open folder.
static const char *whole(int folder, const char *path, char *buffer) {
    if (path == NULL || path[0] == '/' || folder == AT_FDCWD || !atomic_load(&is_armed)) return path;
    size_t length = strlen(path_of(folder, buffer));
    snprintf(buffer + length, PATH_MAX - length, "/%s", path);
    return buffer;
}

// Whether the path is the root or below it. The root ends in a slash. It counts too, because syncing it makes the folders in
// it durable.
static int is_below_root(const char *path) {
    if (path == NULL || plan.root == NULL) return 0;
    size_t length = strlen(plan.root);
    return strncmp(path, plan.root, length) == 0
           || (strncmp(path, plan.root, length - 1) == 0 && path[length - 1] == '\0');
}

enum { PROCEED, FAILED, HALF };

// Decides what happens to a call. `descriptor` is -1 if there is a path.
static int meet(unsigned kind, const char *name, int descriptor, const char *path) {
    if (!atomic_load(&is_armed) || is_inside) return PROCEED;
    char buffer[PATH_MAX];
    if (descriptor >= 0) path = path_of(descriptor, buffer);
    if (!is_below_root(path)) return PROCEED;
    if (plan.counts_kinds && (plan.kinds & kind) == 0) return PROCEED;
    long number = atomic_fetch_add(&counted, 1) + 1;
    if (plan.trace >= 0) {
        char line[PATH_MAX + 64];
        // The path of the root itself has no slash at the end.
        const char *below = strlen(path) < strlen(plan.root) ? "." : path + strlen(plan.root);
        int length = snprintf(line, sizeof line, "%ld %s %s\n", number, name, below);
        put(plan.trace, line, (size_t)length);
    }
    if (plan.at == 0 || number < plan.at || (number > plan.at && !plan.is_sticky)) return PROCEED;
    if ((plan.kinds & kind) == 0) return PROCEED;
    atomic_fetch_add(&hits, 1);
    switch (plan.action) {
    case FAULT_KILL: kill(getpid(), SIGKILL); return PROCEED;
    case FAULT_FAIL: errno = plan.error; return FAILED;
    case FAULT_SHORT: return HALF;
    case FAULT_STOP: kill(getpid(), SIGSTOP); return PROCEED;
    case FAULT_CLOCK: atomic_store(&clock_jump, plan.clock_jump); return PROCEED;
    case FAULT_CALL:
        is_inside = 1;
        plan.callback();
        is_inside = 0;
        return PROCEED;
    default: return PROCEED;
    }
}

static int is_watching(const char *path) { return atomic_load(&is_armed) && !is_inside && is_below_root(path); }

// MARK: - Records

static int is_recording(const char *path) { return plan.record >= 0 && is_watching(path); }

// Several threads may write: an exchange has more than one.
static atomic_flag is_writing_record = ATOMIC_FLAG_INIT;

static void record(
    unsigned operation, const char *path, size_t path_length, unsigned long long inode, long long offset,
    const void *data, size_t length) {
    int code = errno;
    fault_record_head head = {operation, (unsigned)path_length, inode, offset, length};
    while (atomic_flag_test_and_set(&is_writing_record)) sched_yield();
    put(plan.record, &head, sizeof head);
    put(plan.record, path, path_length);
    if (data != NULL) put(plan.record, data, length);
    atomic_flag_clear(&is_writing_record);
    errno = code;
}

static unsigned long long inode_of(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

static void record_descriptor(
    unsigned operation, int descriptor, long long offset, const void *data, size_t length) {
    char buffer[PATH_MAX];
    if (!atomic_load(&is_armed) || plan.record < 0 || !is_recording(path_of(descriptor, buffer))) return;
    record(operation, buffer, strlen(buffer), inode_of(descriptor), offset, data, length);
}

void fault_record_acknowledgement(void) {
    if (atomic_load(&is_armed) && plan.record >= 0) record(FAULT_RECORD_ACKNOWLEDGE, "", 0, 0, 0, NULL, 0);
}

// MARK: - Opening

static int open_at(int folder, const char *name, int flags, mode_t mode) {
    char buffer[PATH_MAX];
    const char *path = whole(folder, name, buffer);
    // An existing file is only opened, even with O_CREAT, and a full disk does not prevent that.
    int is_absent = (flags & O_CREAT) != 0 && is_watching(path) && syscall(SYS_faccessat, folder, path, F_OK) != 0;
    // A file without a name also needs an inode.
    int creates = is_absent || (flags & O_TMPFILE) == O_TMPFILE;
    if (meet(creates ? FAULT_CREATE : FAULT_OPEN, creates ? "create" : "open", -1, path) == FAILED) return -1;
    int is_new = is_absent && is_recording(path);
    int descriptor = (int)syscall(SYS_openat, folder, name, flags, mode);
    if (descriptor >= 0 && is_new) {
        record(FAULT_RECORD_CREATE, path, strlen(path), inode_of(descriptor), 0, NULL, 0);
    } else if (descriptor >= 0 && (flags & O_TRUNC) != 0) {
        record_descriptor(FAULT_RECORD_TRUNCATE, descriptor, 0, NULL, 0);
    }
    return descriptor;
}

static mode_t mode_from(int flags, va_list arguments) {
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

#define OPENING(name)                                  \
    int name(const char *path, int flags, ...) {       \
        va_list arguments;                             \
        va_start(arguments, flags);                    \
        mode_t mode = mode_from(flags, arguments);     \
        va_end(arguments);                             \
        return open_at(AT_FDCWD, path, flags, mode);   \
    }
OPENING(open)
OPENING(open64)

#define OPENING_AT(name)                                       \
    int name(int folder, const char *path, int flags, ...) {   \
        va_list arguments;                                     \
        va_start(arguments, flags);                            \
        mode_t mode = mode_from(flags, arguments);             \
        va_end(arguments);                                     \
        return open_at(folder, path, flags, mode);             \
    }
OPENING_AT(openat)
OPENING_AT(openat64)

// MARK: - Reading and writing

static size_t taken(int verdict, size_t count) { return verdict == HALF && count > 1 ? count / 2 : count; }

ssize_t write(int descriptor, const void *bytes, size_t count) {
    int verdict = meet(FAULT_WRITE, "write", descriptor, NULL);
    if (verdict == FAILED) return -1;
    int records = atomic_load(&is_armed) && plan.record >= 0 && !is_inside;
    long long offset = records ? syscall(SYS_lseek, descriptor, 0, SEEK_CUR) : 0;
    ssize_t written = syscall(SYS_write, descriptor, bytes, taken(verdict, count));
    if (records && written > 0 && offset >= 0) {
        record_descriptor(FAULT_RECORD_WRITE, descriptor, offset, bytes, (size_t)written);
    }
    return written;
}

static ssize_t write_at(int descriptor, const void *bytes, size_t count, off_t offset) {
    int verdict = meet(FAULT_WRITE, "pwrite", descriptor, NULL);
    if (verdict == FAILED) return -1;
    ssize_t written = syscall(SYS_pwrite64, descriptor, bytes, taken(verdict, count), offset);
    if (written > 0) record_descriptor(FAULT_RECORD_WRITE, descriptor, offset, bytes, (size_t)written);
    return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return write_at(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return write_at(descriptor, bytes, count, offset);
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    if (meet(FAULT_READ, "read", descriptor, NULL) == FAILED) return -1;
    return syscall(SYS_read, descriptor, bytes, count);
}

static ssize_t read_at(int descriptor, void *bytes, size_t count, off_t offset) {
    if (meet(FAULT_READ, "pread", descriptor, NULL) == FAILED) return -1;
    return syscall(SYS_pread64, descriptor, bytes, count, offset);
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    return read_at(descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
    return read_at(descriptor, bytes, count, offset);
}

// MARK: - Syncing and sizes

int fsync(int descriptor) {
    if (meet(FAULT_SYNC, "fsync", descriptor, NULL) == FAILED) return -1;
    int result = (int)syscall(SYS_fsync, descriptor);
    if (result == 0) record_descriptor(FAULT_RECORD_SYNC, descriptor, 0, NULL, 0);
    return result;
}

int fdatasync(int descriptor) {
    if (meet(FAULT_SYNC, "fdatasync", descriptor, NULL) == FAILED) return -1;
    int result = (int)syscall(SYS_fdatasync, descriptor);
    if (result == 0) record_descriptor(FAULT_RECORD_SYNC, descriptor, 0, NULL, 0);
    return result;
}

static int truncate_to(int descriptor, off_t size) {
    if (meet(FAULT_TRUNCATE, "ftruncate", descriptor, NULL) == FAILED) return -1;
    int result = (int)syscall(SYS_ftruncate, descriptor, size);
    if (result == 0) record_descriptor(FAULT_RECORD_TRUNCATE, descriptor, size, NULL, 0);
    return result;
}

int ftruncate(int descriptor, off_t size) { return truncate_to(descriptor, size); }
int ftruncate64(int descriptor, off64_t size) { return truncate_to(descriptor, size); }

static int allocate(int descriptor, int mode, off_t offset, off_t length) {
    if (meet(FAULT_TRUNCATE, "fallocate", descriptor, NULL) == FAILED) return -1;
    int result = (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
    struct stat status;
    if (result == 0 && fstat(descriptor, &status) == 0) {
        record_descriptor(FAULT_RECORD_TRUNCATE, descriptor, status.st_size, NULL, 0);
    }
    return result;
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    return allocate(descriptor, mode, offset, length);
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
    return allocate(descriptor, mode, offset, length);
}

int posix_fallocate(int descriptor, off_t offset, off_t length) {
    return allocate(descriptor, 0, offset, length) == 0 ? 0 : errno;
}

int posix_fallocate64(int descriptor, off64_t offset, off64_t length) {
    return allocate(descriptor, 0, offset, length) == 0 ? 0 : errno;
}

// MARK: - Names

static void record_pair(const char *from, const char *to) {
    if (!is_recording(to)) return;
    char both[2 * PATH_MAX];
    int length = snprintf(both, sizeof both, "%s%c%s", from, 0, to);
    record(FAULT_RECORD_RENAME, both, (size_t)length, 0, 0, NULL, 0);
}

static int move(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    char from_buffer[PATH_MAX], to_buffer[PATH_MAX];
    const char *from_path = whole(from_folder, from, from_buffer), *to_path = whole(to_folder, to, to_buffer);
    if (meet(FAULT_RENAME, "rename", -1, to_path) == FAILED) return -1;
    int result = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    if (result == 0) record_pair(from_path, to_path);
    return result;
}

int rename(const char *from, const char *to) { return move(AT_FDCWD, from, AT_FDCWD, to, 0); }

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return move(from_folder, from, to_folder, to, 0);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    return move(from_folder, from, to_folder, to, flags);
}

static int link_at(int from_folder, const char *from, int to_folder, const char *name, int flags) {
    char buffer[PATH_MAX];
    const char *to = whole(to_folder, name, buffer);
    if (meet(FAULT_RENAME, "link", -1, to) == FAILED) return -1;
    int result = (int)syscall(SYS_linkat, from_folder, from, to_folder, name, flags);
    // Another name for the same file is recorded as a new file.
    struct stat status;
    if (result == 0 && is_recording(to) && stat(to, &status) == 0) {
        record(FAULT_RECORD_CREATE, to, strlen(to), status.st_ino, 1, NULL, 0);
    }
    return result;
}

int link(const char *from, const char *to) { return link_at(AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    return link_at(from_folder, from, to_folder, to, flags);
}

static int remove_name(int folder, const char *name, int flags) {
    char buffer[PATH_MAX];
    const char *path = whole(folder, name, buffer);
    if (meet(FAULT_UNLINK, flags == 0 ? "unlink" : "rmdir", -1, path) == FAILED) return -1;
    int result = (int)syscall(SYS_unlinkat, folder, name, flags);
    if (result == 0 && is_recording(path)) record(FAULT_RECORD_UNLINK, path, strlen(path), 0, 0, NULL, 0);
    return result;
}

int unlink(const char *path) { return remove_name(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) { return remove_name(folder, path, flags); }
int rmdir(const char *path) { return remove_name(AT_FDCWD, path, AT_REMOVEDIR); }

static int make_folder(int folder, const char *name, mode_t mode) {
    char buffer[PATH_MAX];
    const char *path = whole(folder, name, buffer);
    if (meet(FAULT_MKDIR, "mkdir", -1, path) == FAILED) return -1;
    int result = (int)syscall(SYS_mkdirat, folder, name, mode);
    if (result == 0 && is_recording(path)) record(FAULT_RECORD_MKDIR, path, strlen(path), 0, 0, NULL, 0);
    return result;
}

int mkdir(const char *path, mode_t mode) { return make_folder(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) { return make_folder(folder, path, mode); }

int chmod(const char *path, mode_t mode) {
    if (meet(FAULT_MODE, "chmod", -1, path) == FAILED) return -1;
    return (int)syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}

int fchmod(int descriptor, mode_t mode) {
    if (meet(FAULT_MODE, "fchmod", descriptor, NULL) == FAILED) return -1;
    return (int)syscall(SYS_fchmod, descriptor, mode);
}

// MARK: - Locks

int flock(int descriptor, int operation) {
    if (meet(FAULT_LOCK, "flock", descriptor, NULL) == FAILED) return -1;
    return (int)syscall(SYS_flock, descriptor, operation);
}

static int control(int descriptor, int command, long argument) {
    int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
    if (locks && meet(FAULT_RANGE, "fcntl", descriptor, NULL) == FAILED) return -1;
    return (int)syscall(SYS_fcntl, descriptor, command, argument);
}

#define CONTROLLING(name)                              \
    int name(int descriptor, int command, ...) {       \
        va_list arguments;                             \
        va_start(arguments, command);                  \
        long argument = va_arg(arguments, long);       \
        va_end(arguments);                             \
        return control(descriptor, command, argument); \
    }
CONTROLLING(fcntl)
CONTROLLING(fcntl64)

// MARK: - Clocks

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += atomic_load(&clock_jump);
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    int result = (int)syscall(SYS_gettimeofday, time, zone);
    if (result == 0) time->tv_sec += atomic_load(&clock_jump);
    return result;
}

time_t time(time_t *result) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    if (result != NULL) *result = now.tv_sec;
    return now.tv_sec;
}

#else

#include "FaultShim.h"

void fault_arm(const fault_plan *plan) { (void)plan; }
long fault_disarm(void) { return 0; }
void fault_record_acknowledgement(void) {}

#endif
