// SPDX-License-Identifier: Apache-2.0
// Hardening that a program may do at its start, and that a library must not do implicitly.

internal import CKeychainShims

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Closes this process to other processes of the same user: they can neither read its memory, environment and descriptors
/// through `/proc` nor attach a debugger. It leaves no core dump, and neither do the programs that it starts.
///
/// ```swift
/// hardenProcess()   // the first line of the program
/// ```
///
/// Returns whether the system agreed to all of it; on other systems than Linux only core dumps are turned off. No library
/// calls this: debuggers, profilers and crash reporters of the program stop working.
///
/// Does not protect against root, against what the same user put into the process before (a debugger that started it,
/// `LD_PRELOAD`), nor programs that this one starts: they are open again.
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
