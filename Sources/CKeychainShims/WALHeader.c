// SPDX-License-Identifier: Apache-2.0
// The header of the index of SQLite's WAL, in memory that processes share.

#include "WALHeader.h"

#include <string.h>

// Each copy has 48 bytes. Its first field is the version of this layout, the third one the counter of commits; byte 12 tells
// whether the index is in use.
enum { word_count = 6, known_version = 3007000, change_offset = 8, is_used_offset = 12 };

int keychain_read_wal_header(const void *page, keychain_wal_header_t *header) {
    const uint64_t *first = page;
    const uint64_t *second = first + word_count;
    uint64_t other[word_count];
    // A writer publishes the second copy first, so the first one is read first.
    for (int i = 0; i < word_count; i++) header->words[i] = __atomic_load_n(first + i, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    for (int i = 0; i < word_count; i++) other[i] = __atomic_load_n(second + i, __ATOMIC_RELAXED);
    const unsigned char *bytes = (const unsigned char *)header->words;
    uint32_t version;
    memcpy(&version, bytes, sizeof version);
    if (memcmp(header->words, other, sizeof other) != 0) return 0;
    if (version != known_version || bytes[is_used_offset] != 1) return 0;
    memcpy(&header->change, bytes + change_offset, sizeof header->change);
    return 1;
}
