// SPDX-License-Identifier: Apache-2.0
// Hardening that a program can do at its start, and that a library must not do implicitly.

internal import CKeychainShims

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Protects this process from other processes of the same user: they cannot read its memory, environment and
/// descriptors through `/proc`, and cannot attach a debugger. Neither it nor the programs that it starts leave core
/// dumps.
///
/// ```swift
/// hardenProcess()   // the first line of the program
/// ```
///
/// Returns whether all of it succeeded. On other systems than Linux it only disables core dumps. No library calls it,
/// because debuggers, profilers and crash reporters of the program stop working.
///
/// Does not protect against root, or against what the same user put into the process before (a debugger that started
/// it, `LD_PRELOAD`). Does not protect programs that this process starts.
@discardableResult
public func hardenProcess() -> Bool {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    #if canImport(Glibc)
        let hasNoDumps = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0
    #else
        let hasNoDumps = setrlimit(RLIMIT_CORE, &none) == 0
    #endif
    #if os(Linux)
        return keychain_forbid_dumping() == 0 && hasNoDumps
    #else
        return hasNoDumps
    #endif
}
