// SPDX-License-Identifier: Apache-2.0
// Why a call failed: Apple's code, and the reason as text.

public import Foundation
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) public import KeychainServices

/// Why a call failed.
///
/// ```swift
/// do {
///     try store.set("s3cret")
/// } catch KeychainError.unexpectedStatus(let status, let message) {
///     show(status, message ?? "")
/// }
/// ```
public enum KeychainError: Error, Hashable, Sendable {
    /// Apple's code, and a text that says what happened and what to do next. The text never contains the value.
    case unexpectedStatus(OSStatus, _ description: String?)

    init(_ failure: Failure) { self = .unexpectedStatus(failure.status, failure.message) }
}

extension KeychainError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The code and the text.
    public var description: String {
        switch self {
        case .unexpectedStatus(let status, let description?): "\(status) \(description)"
        case .unexpectedStatus(let status, nil): "\(status)"
        }
    }

    public var debugDescription: String { description }
}

extension KeychainError: LocalizedError, CustomNSError {
    /// `NSOSStatusErrorDomain`, which Foundation does not name on Linux.
    public static let errorDomain = "NSOSStatusErrorDomain"

    public var errorCode: Int {
        switch self {
        case .unexpectedStatus(let status, _): Int(status)
        }
    }

    public var errorDescription: String? {
        switch self {
        case .unexpectedStatus(let status, let description):
            description ?? SecCopyErrorMessageString(status, nil).map { "\($0)" }
        }
    }

    public var errorUserInfo: [String: Any] { errorDescription.map { [NSLocalizedDescriptionKey: $0] } ?? [:] }
}

/// The error of KeychainKit, which has the same name as this module's own.
typealias Failure = KeychainKit.KeychainError

extension Failure {
    static let nothingThere = Failure(.itemNotFound, "There is no item for this account. Set or create it first.")

    /// The status of one of the four functions of Keychain Services, with its explanation.
    init(status: OSStatus) {
        let words = SecCopyErrorMessageString(status, nil).map { "\($0)" }
        self.init(.unavailable, words ?? "The keychain failed.", status: status)
    }
}

func reporting<Result>(_ body: () throws(Failure) -> Result) throws(KeychainError) -> Result {
    do throws(Failure) {
        return try body()
    } catch {
        throw KeychainError(error)
    }
}
