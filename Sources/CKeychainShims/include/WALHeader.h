// SPDX-License-Identifier: Apache-2.0
// The header of the index of SQLite's WAL, in memory that processes share.

#ifndef KEYCHAIN_WAL_HEADER_H
#define KEYCHAIN_WAL_HEADER_H

#include <stdint.h>

/// The fields that each commit changes, among them a counter of commits.
typedef struct {
    uint64_t words[6];
    /// Incremented by each commit.
    uint32_t change;
} keychain_wal_header_t;

/// Reads the header from the first page of the index ("WAL-Index Header" in SQLite's "WAL-mode File Format"), as SQLite does:
/// both copies, which are equal unless a commit is being published. Returns 0 if they differ or were never written.
int keychain_read_wal_header(const void *page, keychain_wal_header_t *header);

#endif
