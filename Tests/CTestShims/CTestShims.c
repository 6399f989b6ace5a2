// SPDX-License-Identifier: Apache-2.0
// fork, parts of keyctl, and a search for secrets, that only tests need.

#define _GNU_SOURCE
#include "CTestShims.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

pid_t test_fork(void) { return fork(); }

long long test_core_dump_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) == 0 ? (long long)limit.rlim_max : -1;
}

// The chain in which a window is found by its first four bytes.
static uint32_t chain(const unsigned char *bytes) {
    uint32_t first;
    memcpy(&first, bytes, sizeof first);
    return first * 2654435761u >> 16;
}

static int begins_with_eight_zeros(const unsigned char *bytes) {
    uint64_t first;
    memcpy(&first, bytes, sizeof first);
    return first == 0;
}

size_t test_find_windows(const unsigned char *bytes, size_t length, const unsigned char *windows, size_t count,
                         size_t width, unsigned int *hits) {
    size_t found = 0;
    // Entries are one more than the index of their window, so that zero ends a chain.
    uint32_t *first = calloc(1 << 16, sizeof(uint32_t)), *next = calloc(count + 1, sizeof(uint32_t));
    if (!first || !next) abort();
    for (size_t index = 0; index < count; index++) {
        uint32_t *head = first + chain(windows + index * width);
        next[index + 1] = *head;
        *head = (uint32_t)(index + 1);
    }
    for (size_t at = 0; at + width <= length; at++) {
        if (begins_with_eight_zeros(bytes + at)) {
            at += 6;  // No window begins with two of them.
            continue;
        }
        for (uint32_t entry = first[chain(bytes + at)]; entry; entry = next[entry]) {
            if (memcmp(bytes + at, windows + (entry - 1) * width, width) != 0) continue;
            hits[entry - 1]++;
            found++;
        }
    }
    free(first);
    free(next);
    return found;
}

#define STORE(instruction, kind, number, offset) instruction " %%" kind #number ", " #offset "(%0)\n"

// In assembly, since the compiler would use registers to copy others.
size_t test_vector_registers(unsigned char *bytes) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        __asm__ volatile(
            STORE("vmovdqu64", "zmm", 0, 0) STORE("vmovdqu64", "zmm", 1, 64) STORE("vmovdqu64", "zmm", 2, 128)
            STORE("vmovdqu64", "zmm", 3, 192) STORE("vmovdqu64", "zmm", 4, 256) STORE("vmovdqu64", "zmm", 5, 320)
            STORE("vmovdqu64", "zmm", 6, 384) STORE("vmovdqu64", "zmm", 7, 448) STORE("vmovdqu64", "zmm", 16, 512)
            STORE("vmovdqu64", "zmm", 17, 576) STORE("vmovdqu64", "zmm", 18, 640) STORE("vmovdqu64", "zmm", 19, 704)
            STORE("vmovdqu64", "zmm", 20, 768) STORE("vmovdqu64", "zmm", 21, 832) STORE("vmovdqu64", "zmm", 22, 896)
            STORE("vmovdqu64", "zmm", 23, 960)
            :
            : "r"(bytes)
            : "memory");
        return 1024;
    }
    __asm__ volatile(
        STORE("movups", "xmm", 0, 0) STORE("movups", "xmm", 1, 16) STORE("movups", "xmm", 2, 32)
        STORE("movups", "xmm", 3, 48) STORE("movups", "xmm", 4, 64) STORE("movups", "xmm", 5, 80)
        STORE("movups", "xmm", 6, 96) STORE("movups", "xmm", 7, 112)
        :
        : "r"(bytes)
        : "memory");
    return 128;
#elif defined(__aarch64__)
    __asm__ volatile(
        "stp q0, q1, [%0]\n stp q2, q3, [%0, #32]\n stp q4, q5, [%0, #64]\n stp q6, q7, [%0, #96]\n"
        :
        : "r"(bytes)
        : "memory");
    return 128;
#else
    return 0;
#endif
}

void test_overwrite_stack(void) {
    volatile unsigned char bytes[64 << 10];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = 0;
}

#ifdef __linux__

#include <errno.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <stddef.h>
#include <sys/syscall.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

static int install(struct sock_filter *filter, unsigned short length) {
    struct sock_fprog program = {.len = length, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int test_refuse_secret_memory(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_secret, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(filter, sizeof filter / sizeof filter[0]);
}

int test_kill_at_key_timeout(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_keyctl, 0, 3),
        // The lower half of the first argument, on the machines that this runs on.
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, KEYCTL_SET_TIMEOUT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return install(filter, sizeof filter / sizeof filter[0]);
}

long test_join_new_session_keyring(void) { return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL); }

long test_unlink_from_user_keyring(int serial) {
    return syscall(SYS_keyctl, KEYCTL_UNLINK, serial, KEY_SPEC_USER_KEYRING);
}

long test_revoke_key(int serial) { return syscall(SYS_keyctl, KEYCTL_REVOKE, serial); }

int test_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

#else

long test_join_new_session_keyring(void) { return -1; }

long test_unlink_from_user_keyring(int serial) {
    (void)serial;
    return -1;
}

long test_revoke_key(int serial) {
    (void)serial;
    return -1;
}

int test_is_dumpable(void) { return -1; }

int test_refuse_secret_memory(void) { return -1; }

int test_kill_at_key_timeout(void) { return -1; }

#endif
