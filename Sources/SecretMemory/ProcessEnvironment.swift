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

    /// The bytes of a variable as they are, without a zero at the end; `nil` if it is unset or empty.
    package static func bytes(_ name: String) -> [CChar]? {
        withPointers { words in
            guard let word = list(words).first(where: { isVariable($0, name) }) else { return nil }
            let value = word + name.utf8.count + 1
            return value.pointee == 0 ? nil : Array(UnsafeBufferPointer(start: value, count: strlen(value)))
        }
    }

    /// An array of C strings that ends with a null pointer, as `environ`.
    package typealias Words = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    /// Calls `body` with the same variables, for a program to start.
    ///
    /// - Parameter added: Further variables, or other values of them.
    package static func withPointers<Result>(adding added: [String: String] = [:], _ body: (Words?) -> Result) -> Result
    {
        if isPrivileged { return withWords(nil, adding: current.merging(added) { $1 }, body) }
        return added.isEmpty ? body(keychain_environment()) : withWords(keychain_environment(), adding: added, body)
    }

    /// The words themselves, without those of the variables that are added: they may have bytes that are not UTF-8, occur
    /// twice, or be no variables.
    static func withWords<Result>(
        _ words: Words?, adding added: [String: String], _ body: (Words?) -> Result
    ) -> Result {
        let new = added.map { strdup("\($0)=\($1)") }
        defer { for word in new { free(word) } }
        let kept = list(words).filter { word in !added.keys.contains { isVariable(word, $0) } }
        var all: [UnsafeMutablePointer<CChar>?] = kept + new + [nil]
        return all.withUnsafeMutableBufferPointer { body($0.baseAddress) }
    }

    private static func isVariable(_ word: UnsafePointer<CChar>, _ name: String) -> Bool {
        let name = name + "="
        return strncmp(word, name, name.utf8.count) == 0
    }

    private static func list(_ words: Words?) -> [UnsafeMutablePointer<CChar>] {
        var result: [UnsafeMutablePointer<CChar>] = []
        var next = words
        while let word = next?.pointee {
            result.append(word)
            next = next?.successor()
        }
        return result
    }

    /// If a variable occurs twice, the first counts, as for `getenv`.
    static func dictionary(_ words: Words?) -> [String: String] {
        var result: [String: String] = [:]
        for word in list(words) {
            let parts = String(cString: word).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, result[String(parts[0])] == nil { result[String(parts[0])] = String(parts[1]) }
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
