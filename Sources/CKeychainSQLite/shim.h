// SPDX-License-Identifier: Apache-2.0
// The system's SQLite.

#include <sqlite3.h>
