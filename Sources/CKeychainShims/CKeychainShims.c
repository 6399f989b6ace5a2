// SPDX-License-Identifier: Apache-2.0
// The user's kernel keyring, secret memory and process attributes.

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "CKeychainShims.h"

#include <errno.h>

#ifdef __linux__

#include <fcntl.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Newer than some libc headers; the number is the same on every architecture.
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

static const char *const key_type = "user";

static long result_or_error(long result) { return result < 0 ? -errno : result; }

long keychain_key_add(const char *description, const void *payload, size_t length) {
    return result_or_error(syscall(SYS_add_key, key_type, description, payload, length, KEY_SPEC_THREAD_KEYRING));
}

long keychain_key_share(int32_t serial) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_LINK, serial, KEY_SPEC_USER_KEYRING));
}

long keychain_key_drop(int32_t serial) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_UNLINK, serial, KEY_SPEC_THREAD_KEYRING));
}

long keychain_key_update(int32_t serial, const void *payload, size_t length) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_UPDATE, serial, payload, length));
}

long keychain_key_link_user_keyring(void) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_PROCESS_KEYRING));
}

long keychain_key_search(const char *description) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, key_type, description, 0));
}

long keychain_key_read(int32_t serial, void *buffer, size_t length) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_READ, serial, buffer, length));
}

// Intended to look up a keyring, this call accepts any key, and checks its state and the search permission. No other
// call does less.
long keychain_key_probe(int32_t serial) {
    long result = result_or_error(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, serial, 0));
    return result < 0 ? result : 0;
}

long keychain_key_set_timeout(int32_t serial, uint32_t seconds) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, serial, seconds));
}

long keychain_key_invalidate(int32_t serial) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_INVALIDATE, serial));
}

long keychain_key_unlink(int32_t serial) {
    return result_or_error(syscall(SYS_keyctl, KEYCTL_UNLINK, serial, KEY_SPEC_USER_KEYRING));
}

long keychain_key_describe(int32_t serial, void *buffer, size_t length) {
    long size = result_or_error(syscall(SYS_keyctl, KEYCTL_DESCRIBE, serial, buffer, length));
    return size > (long)length ? -EOVERFLOW : size;
}

int keychain_key_is_gone(long result) {
    return result == -ENOKEY || result == -EKEYEXPIRED || result == -EKEYREVOKED;
}

long keychain_secret_memory(void) { return result_or_error(syscall(SYS_memfd_secret, O_CLOEXEC)); }

long keychain_forbid_dumping(void) { return result_or_error(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)); }

#else

long keychain_key_add(const char *description, const void *payload, size_t length) {
    (void)description, (void)payload, (void)length;
    return -ENOSYS;
}

long keychain_key_update(int32_t serial, const void *payload, size_t length) {
    (void)serial, (void)payload, (void)length;
    return -ENOSYS;
}

long keychain_key_share(int32_t serial) {
    (void)serial;
    return -ENOSYS;
}

long keychain_key_drop(int32_t serial) {
    (void)serial;
    return -ENOSYS;
}

long keychain_key_link_user_keyring(void) { return -ENOSYS; }

long keychain_key_search(const char *description) {
    (void)description;
    return -ENOSYS;
}

long keychain_key_read(int32_t serial, void *buffer, size_t length) {
    (void)serial, (void)buffer, (void)length;
    return -ENOSYS;
}

long keychain_key_probe(int32_t serial) {
    (void)serial;
    return -ENOSYS;
}

long keychain_key_set_timeout(int32_t serial, uint32_t seconds) {
    (void)serial, (void)seconds;
    return -ENOSYS;
}

long keychain_key_invalidate(int32_t serial) {
    (void)serial;
    return -ENOSYS;
}

long keychain_key_unlink(int32_t serial) {
    (void)serial;
    return -ENOSYS;
}

long keychain_key_describe(int32_t serial, void *buffer, size_t length) {
    (void)serial, (void)buffer, (void)length;
    return -ENOSYS;
}

int keychain_key_is_gone(long result) {
    (void)result;
    return 0;
}

long keychain_secret_memory(void) { return -ENOSYS; }

long keychain_forbid_dumping(void) { return -ENOSYS; }

#endif

// The dynamic linker saves these registers on the stack at the first call of a function, and the C library copies
// through them. This is C and not Swift, whose optimizer removes copies that are not read.
void keychain_scrub_registers(void) {
#if defined(__x86_64__)
    __asm__ volatile(
        "pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n pxor %%xmm3, %%xmm3\n"
        "pxor %%xmm4, %%xmm4\n pxor %%xmm5, %%xmm5\n pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7\n"
        "pxor %%xmm8, %%xmm8\n pxor %%xmm9, %%xmm9\n pxor %%xmm10, %%xmm10\n pxor %%xmm11, %%xmm11\n"
        "pxor %%xmm12, %%xmm12\n pxor %%xmm13, %%xmm13\n pxor %%xmm14, %%xmm14\n pxor %%xmm15, %%xmm15\n"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
          "xmm13", "xmm14", "xmm15");
    if (__builtin_cpu_supports("avx")) __asm__ volatile("vzeroall");
    // Only code for processors with AVX-512 uses the upper sixteen.
    if (__builtin_cpu_supports("avx512f"))
        __asm__ volatile(
            "vpxorq %zmm16, %zmm16, %zmm16\n vpxorq %zmm17, %zmm17, %zmm17\n vpxorq %zmm18, %zmm18, %zmm18\n"
            "vpxorq %zmm19, %zmm19, %zmm19\n vpxorq %zmm20, %zmm20, %zmm20\n vpxorq %zmm21, %zmm21, %zmm21\n"
            "vpxorq %zmm22, %zmm22, %zmm22\n vpxorq %zmm23, %zmm23, %zmm23\n vpxorq %zmm24, %zmm24, %zmm24\n"
            "vpxorq %zmm25, %zmm25, %zmm25\n vpxorq %zmm26, %zmm26, %zmm26\n vpxorq %zmm27, %zmm27, %zmm27\n"
            "vpxorq %zmm28, %zmm28, %zmm28\n vpxorq %zmm29, %zmm29, %zmm29\n vpxorq %zmm30, %zmm30, %zmm30\n"
            "vpxorq %zmm31, %zmm31, %zmm31\n");
#elif defined(__aarch64__)
    __asm__ volatile(
        "movi v0.2d, #0\n movi v1.2d, #0\n movi v2.2d, #0\n movi v3.2d, #0\n movi v4.2d, #0\n movi v5.2d, #0\n"
        "movi v6.2d, #0\n movi v7.2d, #0\n movi v16.2d, #0\n movi v17.2d, #0\n movi v18.2d, #0\n movi v19.2d, #0\n"
        "movi v20.2d, #0\n movi v21.2d, #0\n movi v22.2d, #0\n movi v23.2d, #0\n movi v24.2d, #0\n"
        "movi v25.2d, #0\n movi v26.2d, #0\n movi v27.2d, #0\n movi v28.2d, #0\n movi v29.2d, #0\n"
        "movi v30.2d, #0\n movi v31.2d, #0\n"
        :
        :
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
          "v25", "v26", "v27", "v28", "v29", "v30", "v31");
#endif
}

// A single frame without gaps: in Swift, frames of calls would alternate with overwritten memory.
__attribute__((noinline)) void keychain_scrub_stack(size_t length) {
    volatile char *frame = __builtin_alloca(length);
    // From the top, page by page: on a short stack, this ends at the guard page and does not reach memory below it.
    for (size_t end = length; end > 0; end = end > 1024 ? end - 1024 : 0) frame[end - 1] = 0;
    memset((void *)frame, 0, length);
    __asm__ volatile("" : : "r"(frame) : "memory");
}

// In C, since each seal and open calls it: Swift's allocation functions would double its time.
void keychain_scrub_freed_blocks(size_t size, size_t count) {
    void *blocks[16];
    if (count > 16) count = 16;
    for (size_t index = 0; index < count; index++) {
        blocks[index] = malloc(size);
        // Otherwise optimizers make calloc() of both, which in glibc takes no block that the thread has just freed.
        __asm__ volatile("" : "+r"(blocks[index]) : : "memory");
        if (blocks[index]) memset(blocks[index], 0, size);
        __asm__ volatile("" : : "r"(blocks[index]) : "memory");
    }
    for (size_t index = 0; index < count; index++) free(blocks[index]);
}
