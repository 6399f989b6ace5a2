// SPDX-License-Identifier: Apache-2.0
// Shared web credentials, which exist on Apple's mobile systems only: the functions, so that code with them compiles.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    import KeychainEngine

    /// Fails: there are no credentials that a website shares with programs here.
    ///
    /// - Parameter completionHandler: is called on another thread, with `errSecUnimplemented`.
    public func SecAddSharedWebCredential(
        _ fqdn: CFString, _ account: CFString, _ password: CFString?,
        _ completionHandler: @escaping (CFError?) -> Void
    ) {
        onAnotherThread(completionHandler) { $0(withoutSharedCredentials()) }
    }

    /// Fails: there are no credentials that a website shares with programs here.
    ///
    /// - Parameter completionHandler: is called on another thread, without credentials and with `errSecUnimplemented`.
    public func SecRequestSharedWebCredential(
        _ fqdn: CFString?, _ account: CFString?, _ completionHandler: @escaping (CFArray?, CFError?) -> Void
    ) {
        onAnotherThread(completionHandler) { $0(nil, withoutSharedCredentials()) }
    }

    /// A random password that people can type: four groups of three letters and digits, such as `aB3-x7K-mRt-9cW`, with at
    /// least one small letter, one capital letter and one digit.
    ///
    /// It has 68 bits from the system's generator. Letters and digits that look like others are left out.
    public func SecCreateSharedWebCredentialPassword() -> CFString? {
        var generator = SystemRandomNumberGenerator()
        let characters = characterSets.joined().map { $0 }
        var password: [Character]
        repeat {
            password = (0..<12).map { _ in characters[Int.random(in: 0..<characters.count, using: &generator)] }
        } while !characterSets.allSatisfy { password.contains(where: $0.contains) }
        let groups = (0..<4).map { String(password[3 * $0..<3 * $0 + 3]) }
        return NSString(string: groups.joined(separator: "-"))
    }

    /// Those that Apple's passwords have.
    private let characterSets = ["abcdefghkmnopqrstuvwxy", "ABCDEFGHJKLMNPQRSTUVWXYZ", "3456789"]

    private func withoutSharedCredentials() -> CFError {
        KeychainError(.unsupported, "Shared web credentials do not exist on this system. Save the password as an item.")
            as NSError
    }

    /// As on Apple's systems: a callback may wait for the thread that made the call.
    private func onAnotherThread<Handler>(_ handler: Handler, _ call: @escaping @Sendable (Handler) -> Void) {
        // Nobody else calls it: Apple's declaration only lacks the mark for that.
        nonisolated(unsafe) let handler = handler
        DispatchQueue.global().async { call(handler) }
    }
#endif
