// SPDX-License-Identifier: Apache-2.0
// Tells the thread sanitizer about locking that it cannot see.
//
// Swift's `Mutex` takes a free lock with atomic operations in the program itself, which is instrumented. If the lock is held
// by another thread, it calls the runtime library, which is not instrumented. The sanitizer then does not see the
// synchronisation and reports a false race. These three functions are loaded before that library. They call its functions and
// inform the sanitizer.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Defined by the sanitizer; null in programs that run without it.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

typedef __attribute__((swiftcall)) void (*lock_function)(uint32_t, __attribute__((swift_context)) void *);
typedef __attribute__((swiftcall)) _Bool (*try_lock_function)(__attribute__((swift_context)) void *);
typedef __attribute__((swiftcall)) void (*unlock_function)(__attribute__((swift_context)) void *);

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) __asm__(LOCK);
__attribute__((swiftcall)) _Bool try_lock_slow(__attribute__((swift_context)) void *mutex) __asm__(TRY_LOCK);
__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex) __asm__(UNLOCK);

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) void *mutex) {
    ((lock_function)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

__attribute__((swiftcall)) _Bool try_lock_slow(__attribute__((swift_context)) void *mutex) {
    _Bool is_taken = ((try_lock_function)dlsym(RTLD_NEXT, TRY_LOCK))(mutex);
    if (is_taken && __tsan_acquire) __tsan_acquire(mutex);
    return is_taken;
}

__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((unlock_function)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
