// SPDX-License-Identifier: Apache-2.0
// Replaces `fsync` and `fdatasync` in the program that links this target: counts, delays or stops them.

#ifndef SYNC_SHIM_H
#define SYNC_SHIM_H

/// How often this process has asked the disk to sync so far.
long sync_shim_count(void);

/// Makes each sync take at least this much longer. 0: as long as the disk takes.
void sync_shim_delay(long nanoseconds);

/// 1: each sync waits before it begins. 0: those that wait continue.
void sync_shim_hold(int holds);

/// How many syncs wait now.
int sync_shim_held(void);

#endif
