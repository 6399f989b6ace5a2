// SPDX-License-Identifier: Apache-2.0
// Intercepts the system calls that change files. It counts them, makes them fail, kills the process at them, and records them.
//
// A program that links this target has its own open, write, fsync and so on. The dynamic linker prefers them to the functions
// of the C library, also for calls from SQLite and Foundation. The shim does nothing until a plan is armed.

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
    FAULT_RANGE = 1 << 11,    // fcntl that locks or unlocks a range
};

/// The action at the call.
enum {
    FAULT_NONE = 0,
    FAULT_KILL = 1,   // the process is killed
    FAULT_FAIL = 2,   // the call fails
    FAULT_SHORT = 3,  // a write writes half of the bytes, at least one
    FAULT_STOP = 4,   // the process stops itself, as by SIGSTOP from another process
    FAULT_CALL = 5,   // the callback runs before the call
    FAULT_CLOCK = 6,  // the real-time clock jumps
};

typedef struct {
    /// Only calls with paths that begin with this prefix are counted.
    const char *root;
    /// The kinds of calls that the action applies to; all kinds are counted unless ``counts_kinds``.
    unsigned kinds;
    /// Whether only calls of these kinds are counted, so that a process that reads more or less often has the same numbers.
    int counts_kinds;
    /// The number of the call that the action applies to, counted from 1. 0: only count.
    long at;
    int action;
    int error;
    /// Whether the action also applies to all later calls.
    int is_sticky;
    long long clock_jump;
    void (*callback)(void);
    /// A descriptor that gets a line for each counted call; -1 for none.
    int trace;
    /// A descriptor that gets a record of each change of a file; -1 for none.
    int record;
} fault_plan;

/// Applies the plan from the next call on. The plan's strings must stay valid until it ends.
void fault_arm(const fault_plan *plan);

/// Ends the plan.
///
/// Returns how many calls the action applied to.
long fault_disarm(void);

/// Records that a step was acknowledged.
void fault_record_acknowledgement(void);

/// The header of a record. The path follows (for a rename both paths, with a zero byte between), and then the data.
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
