// SPDX-License-Identifier: Apache-2.0
// What each contender in C provides, and the commands with which contender.c calls it.
//
// A contender is started as `PROGRAM STORE [INDEX]`. With an index it reads that item and ends, as a process of its own. Without
// one it writes `ready` and then answers one line after the other:
//
//     read N | again N | add N | update N | delete N     ok NANOSECONDS      one call
//     list N                                             ok NANOSECONDS      all items of the service of item N
//     fill FROM TO SECONDS                               ok 0 REACHED [WHY]  in the fastest way, until the time is over
//     run OPERATION FIRST SIZE SECONDS                   ok NANOSECONDS COUNT
//
// or `error` and a reason. `again` reads an item that this process has read before.

#ifndef CONTENDER_H
#define CONTENDER_H

#include <stdbool.h>

// An item's service has the number of its thousand, so that 1,000 items can be listed in a store of any size.
enum { ITEMS_PER_SERVICE = 1000, SECRET_LENGTH = 39, NAME_LENGTH = 64 };

// The names of an item.
void name_service(int index, char name[NAME_LENGTH]);
void name_account(int index, char name[NAME_LENGTH]);

// A secret that no item has yet: SQLite writes nothing if a row stays the same.
void new_secret(char value[SECRET_LENGTH + 1]);

// Ends the call that is running; the reason is the answer to its line.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// A contender's own part. Each call fails with `fail`.
void peer_open(const char *store);
void peer_read(int index);
void peer_add(int index);
void peer_update(int index);
void peer_delete(int index);
int peer_list(int index);

// Around a series of additions that need not be durable one by one.
void peer_begin(void);
void peer_commit(void);

#endif
