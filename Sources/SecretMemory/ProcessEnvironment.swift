// SPDX-License-Identifier: Apache-2.0
// The only place that reads the environment. It ignores it if the process has more rights than its caller.

internal import CKeychainShims

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The environment of this process, as far as it can be trusted.
///
/// ```swift
/// let location = try VaultLocation.fromEnvironment(ProcessEnvironment.current)
/// ```
///
/// A setuid or setgid program, or one with file capabilities, gets its environment from a caller with fewer rights.
/// Paths in the variables would be opened, created or executed with the program's rights. So such a process ignores all
/// variables. Its `HOME` is that of its effective user in the user database, since files are created and checked as
/// that user: a setuid program uses the vault of its owner, one with setgid or capabilities that of its caller.
///
/// Linux marks such a process when it starts (`AT_SECURE`). The mark stays when the process gives up the rights. A
/// security module (SELinux) may set it for other programs too. A program that needs other variables passes its own
/// dictionary to the functions that accept one.
public enum ProcessEnvironment {
    /// Whether the process was started with rights that its caller does not have.
    public static let isPrivileged = keychain_is_privileged() != 0

    /// The variables; only `HOME` if ``isPrivileged``, and none if the user database does not have the effective user.
    ///
    /// Bytes that are not UTF-8 are replaced by U+FFFD.
    public static var current: [String: String] {
        guard !isPrivileged else { return homeOfUser(geteuid()).map { ["HOME": $0] } ?? [:] }
        return dictionary(keychain_environment())
    }

    /// Calls `body` with the same variables, for a program to start.
    ///
    /// - Parameter added: Further variables, or other values of them.
    package static func withPointers<Result>(
        adding added: [String: String] = [:], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Result
    ) -> Result {
        guard isPrivileged || !added.isEmpty else { return body(keychain_environment()) }
        var words = current.merging(added) { $1 }.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words { free(word) } }
        return words.withUnsafeMutableBufferPointer { body($0.baseAddress) }
    }

    /// If a variable occurs twice, the first counts, as for `getenv`.
    static func dictionary(_ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> [String: String] {
        var result: [String: String] = [:]
        var next = words
        while let word = next?.pointee {
            let parts = String(cString: word).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, result[String(parts[0])] == nil { result[String(parts[0])] = String(parts[1]) }
            next = next?.successor()
        }
        return result
    }

    /// The home folder in the user database; `nil` if it does not have the user.
    static func homeOfUser(_ user: uid_t) -> String? {
        var size = 1024
        while size <= 1 << 20 {
            var bytes = [CChar](repeating: 0, count: size)
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            let code = getpwuid_r(user, &entry, &bytes, bytes.count, &found)
            if code == 0 { return found?.pointee.pw_dir.map { String(cString: $0) } }
            guard code == ERANGE else { return nil }
            size *= 2
        }
        return nil
    }
}

extension [String: String] {
    /// The value of a variable. An empty one counts as unset, as in the XDG base directory specification.
    package func value(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}
