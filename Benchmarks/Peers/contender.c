// SPDX-License-Identifier: Apache-2.0
// Takes the commands of contender.h and times the calls, so that what is measured is the peer's call and not the pipe.

#include "contender.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static jmp_buf after_failure;
static char reason[512];

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    for (char *place = reason; *place; place++)
        if (*place == '\n') *place = ' ';
    longjmp(after_failure, 1);
}

void name_service(int index, char name[NAME_LENGTH]) {
    snprintf(name, NAME_LENGTH, "com.example.service-%d", index / ITEMS_PER_SERVICE);
}

void name_account(int index, char name[NAME_LENGTH]) { snprintf(name, NAME_LENGTH, "account-%d", index); }

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

void new_secret(char value[SECRET_LENGTH + 1]) {
    snprintf(value, SECRET_LENGTH + 1, "a token of about forty bytes: %09u", (unsigned)(now() % 1000000000) % 1000000000u);
}

static void perform(const char *operation, int index) {
    if (strcmp(operation, "read") == 0 || strcmp(operation, "again") == 0) peer_read(index);
    else if (strcmp(operation, "add") == 0) peer_add(index);
    else if (strcmp(operation, "update") == 0) peer_update(index);
    else if (strcmp(operation, "delete") == 0) peer_delete(index);
    else if (strcmp(operation, "list") != 0) fail("there is no operation '%s'", operation);
    else if (peer_list(index) < 100) fail("fewer than 100 items were listed");
}

// Commits every thousand items. If an addition fails, those before it count.
static void fill(int from, int to, double seconds) {
    static volatile int next;
    int64_t end = now() + (int64_t)(seconds * 1e9);
    next = from;
    if (setjmp(after_failure)) {
        if (next == from) printf("error %s\n", reason);
        else printf("ok 0 %d %s\n", next, reason);
        return;
    }
    while (next < to && now() < end) {
        int last = (next / ITEMS_PER_SERVICE + 1) * ITEMS_PER_SERVICE;
        peer_begin();
        for (; next < to && next < last && now() < end; next++) peer_add(next);
        peer_commit();
    }
    printf("ok 0 %d\n", next);
}

static void run(const char *operation, int first, int size, double seconds) {
    int64_t start = now(), end = start + (int64_t)(seconds * 1e9);
    int count = 0;
    for (; now() < end; count++) perform(operation, (int)(((int64_t)first + count * 7919LL) % size));
    printf("ok %lld %d\n", (long long)(now() - start), count);
}

static void answer(const char *line) {
    char operation[16];
    int first, second;
    double seconds;
    if (sscanf(line, "fill %d %d %lf", &first, &second, &seconds) == 3) {
        fill(first, second, seconds);
    } else if (sscanf(line, "run %15s %d %d %lf", operation, &first, &second, &seconds) == 4) {
        run(operation, first, second, seconds);
    } else if (sscanf(line, "%15s %d", operation, &first) == 2) {
        int64_t start = now();
        perform(operation, first);
        printf("ok %lld\n", (long long)(now() - start));
    } else {
        fail("the line is not a command");
    }
}

int main(int count, char **arguments) {
    if (count < 2) return 64;
    if (setjmp(after_failure)) {
        printf("error %s\n", reason);
        return 1;
    }
    peer_open(arguments[1]);
    if (count > 2) {
        peer_read(atoi(arguments[2]));
        return 0;
    }
    puts("ready");
    fflush(stdout);
    for (char line[256]; fgets(line, sizeof line, stdin);) {
        if (setjmp(after_failure)) printf("error %s\n", reason);
        else answer(line);
        fflush(stdout);
    }
}
