// SPDX-License-Identifier: Apache-2.0
// The system's SQLite.

#include <sqlite3.h>

/// Leaves the WAL and its index as they are when the last connection ends. Swift cannot call functions with a variable number
/// of arguments.
static inline int keychain_keep_wal(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
