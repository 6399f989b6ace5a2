// SPDX-License-Identifier: Apache-2.0
// The replaced functions. They make system calls by number, so that they do not call themselves.

#ifdef __linux__

#define _GNU_SOURCE
#include "SyncShim.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_long count;
static atomic_long delay;
static atomic_int is_holding;
static atomic_int held;

long sync_shim_count(void) { return atomic_load(&count); }
void sync_shim_delay(long nanoseconds) { atomic_store(&delay, nanoseconds); }
void sync_shim_hold(int holds) { atomic_store(&is_holding, holds); }
int sync_shim_held(void) { return atomic_load(&held); }

static void sleep_for(long nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) != 0) {}
}

static void meet(void) {
    atomic_fetch_add(&count, 1);
    if (atomic_load(&is_holding)) {
        atomic_fetch_add(&held, 1);
        while (atomic_load(&is_holding)) sleep_for(100000);
        atomic_fetch_sub(&held, 1);
    }
    long nanoseconds = atomic_load(&delay);
    if (nanoseconds > 0) sleep_for(nanoseconds);
}

int fsync(int descriptor) {
    meet();
    return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
    meet();
    return (int)syscall(SYS_fdatasync, descriptor);
}

#endif
