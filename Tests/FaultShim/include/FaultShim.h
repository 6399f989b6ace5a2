// SPDX-License-Identifier: Apache-2.0
// Stands between a program and the system calls that change files: counts them, fails them, kills at them, records them.
//
// The program that links this target has its own open, write, fsync and so on. The dynamic linker prefers them to those of
// the C library, also for SQLite and Foundation. Nothing happens until a plan is armed.

#ifndef FAULT_SHIM_H
#define FAULT_SHIM_H

/// Kinds of calls, as bits.
enum {
    FAULT_OPEN = 1 << 0,      // open without O_CREAT
    FAULT_CREATE = 1 << 1,    // open with O_CREAT
    FAULT_WRITE = 1 << 2,     // write, pwrite, writev
    FAULT_SYNC = 1 << 3,      // fsync, fdatasync
    FAULT_TRUNCATE = 1 << 4,  // ftruncate, fallocate
    FAULT_RENAME = 1 << 5,    // rename, link
    FAULT_UNLINK = 1 << 6,    // unlink, rmdir
    FAULT_MKDIR = 1 << 7,     // mkdir
    FAULT_LOCK = 1 << 8,      // flock
    FAULT_MODE = 1 << 9,      // chmod, fchmod
    FAULT_READ = 1 << 10,     // read, pread
    FAULT_RANGE = 1 << 11,    // fcntl that locks a range, or unlocks it
};

/// What happens at the call.
enum {
    FAULT_NONE = 0,
    FAULT_KILL = 1,   // the process is killed
    FAULT_FAIL = 2,   // the call fails
    FAULT_SHORT = 3,  // a write takes half of the bytes, at least one
    FAULT_STOP = 4,   // the process stops itself, as SIGSTOP from outside would
    FAULT_CALL = 5,   // the callback runs, then the call
    FAULT_CLOCK = 6,  // the clock of the day jumps
};

typedef struct {
    /// Only calls on paths that begin with this count.
    const char *root;
    /// The kinds of calls that can be hit; all kinds are counted.
    unsigned kinds;
    /// The call that is hit, counted from 1; 0 counts only.
    long at;
    int action;
    int error;
    /// Whether all later calls are hit, too.
    int is_sticky;
    long long clock_jump;
    void (*callback)(void);
    /// Gets a line for each counted call; -1 for none.
    int trace;
    /// Gets a record of each change of a file; -1 for none.
    int record;
} fault_plan;

/// Follows the plan from the next call on; the strings have to stay.
void fault_arm(const fault_plan *plan);

/// Ends it.
///
/// Returns how many calls were hit.
long fault_disarm(void);

/// Notes in the record that a step was acknowledged.
void fault_record_acknowledgement(void);

/// Records begin with this, then the path (for a rename both, with a zero byte between) and the data.
typedef struct {
    unsigned operation;
    unsigned path_length;
    unsigned long long inode;
    long long offset;
    unsigned long long length;
} fault_record_head;

enum {
    FAULT_RECORD_CREATE = 1,
    FAULT_RECORD_WRITE = 2,
    FAULT_RECORD_TRUNCATE = 3,
    FAULT_RECORD_SYNC = 4,
    FAULT_RECORD_RENAME = 5,
    FAULT_RECORD_UNLINK = 6,
    FAULT_RECORD_MKDIR = 7,
    FAULT_RECORD_ACKNOWLEDGE = 8,
};

#endif
