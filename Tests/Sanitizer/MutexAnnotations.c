// SPDX-License-Identifier: Apache-2.0
// Tells the thread sanitizer of the locking that it cannot see.
//
// Swift's `Mutex` takes a free lock by atomic operations in the program itself, which are instrumented. For a lock that is
// taken it calls into the runtime library, which is not, so that the sanitizer misses who was waited for and reports a race.
// Loaded before that library, these two functions do what its own do, and say so.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// The sanitizer's; programs that run without it have none.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

typedef __attribute__((swiftcall)) void (*lock_function)(uint32_t, __attribute__((swift_context)) void *);
typedef __attribute__((swiftcall)) void (*unlock_function)(__attribute__((swift_context)) void *);

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) __asm__(LOCK);
__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex) __asm__(UNLOCK);

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) {
    ((lock_function)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((unlock_function)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
