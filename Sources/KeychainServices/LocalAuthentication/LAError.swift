// SPDX-License-Identifier: Apache-2.0
// Why the user was not authenticated.

// swift-format-ignore-file: AlwaysUseLowerCamelCase, NoLeadingUnderscores

#if os(Linux)
    public import Foundation

    /// The domain of errors of local authentication.
    public let LAErrorDomain = "com.apple.LocalAuthentication"

    /// Why the user was not authenticated.
    ///
    /// ```swift
    /// do {
    ///     try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Unlock your notes")
    /// } catch let error as LAError where error.code == .userCancel {
    ///     return
    /// }
    /// ```
    ///
    /// An `NSError` of the domain can be cast to it and back. On Apple platforms both are one object.
    public struct LAError: _BridgedStoredNSError, Sendable {
        /// The error as an object.
        public let _nsError: NSError

        /// The error for an object.
        public init(_nsError error: NSError) { _nsError = error }

        /// The domain that an object must have to be cast.
        public static var _nsErrorDomain: String { LAErrorDomain }

        /// The reason. An unknown number becomes `authenticationFailed`: the user was not authenticated.
        public var code: Code { Code(rawValue: _nsError.code) ?? .authenticationFailed }

        /// The reasons, with Apple's numbers. Of those about biometry, watches and sensors, only `biometryNotAvailable`
        /// and `companionNotAvailable` are reported here.
        public enum Code: Int, _ErrorCodeProtocol, Sendable {
            /// The type of the errors with these codes.
            public typealias _ErrorType = LAError

            /// Too many wrong answers.
            case authenticationFailed = -1
            /// The user cancelled.
            case userCancel = -2
            /// The user chose the fallback.
            case userFallback = -3
            /// Something else ended it: a timeout, or a keychain that cannot be used. The message says what.
            case systemCancel = -4
            /// No passphrase is set.
            case passcodeNotSet = -5
            /// There is no sensor for biometry.
            case biometryNotAvailable = -6
            /// No biometry is enrolled.
            case biometryNotEnrolled = -7
            /// Too many failures of biometry.
            case biometryLockout = -8
            /// The program ended it: it invalidated the context, or cancelled the task.
            case appCancel = -9
            /// The context had been invalidated before.
            case invalidContext = -10
            /// There is no nearby device that can confirm the user.
            case companionNotAvailable = -11
            /// A removable sensor is not paired.
            case biometryNotPaired = -12
            /// A removable sensor is not connected.
            case biometryDisconnected = -13
            /// The view has invalid dimensions.
            case invalidDimensions = -14
            /// Asking is not allowed, or not possible here.
            case notInteractive = -1004

            /// Older name of `biometryNotAvailable`.
            public static var touchIDNotAvailable: Code { .biometryNotAvailable }
            /// Older name of `biometryNotEnrolled`.
            public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
            /// Older name of `biometryLockout`.
            public static var touchIDLockout: Code { .biometryLockout }
            /// Older name of `companionNotAvailable`.
            public static var watchNotAvailable: Code { .companionNotAvailable }
        }

        /// Too many wrong answers.
        public static var authenticationFailed: Code { .authenticationFailed }
        /// The user cancelled.
        public static var userCancel: Code { .userCancel }
        /// The user chose the fallback.
        public static var userFallback: Code { .userFallback }
        /// Something else ended it.
        public static var systemCancel: Code { .systemCancel }
        /// No passphrase is set.
        public static var passcodeNotSet: Code { .passcodeNotSet }
        /// There is no sensor for biometry.
        public static var biometryNotAvailable: Code { .biometryNotAvailable }
        /// No biometry is enrolled.
        public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
        /// Too many failures of biometry.
        public static var biometryLockout: Code { .biometryLockout }
        /// The program ended it.
        public static var appCancel: Code { .appCancel }
        /// The context had been invalidated before.
        public static var invalidContext: Code { .invalidContext }
        /// There is no nearby device that can confirm the user.
        public static var companionNotAvailable: Code { .companionNotAvailable }
        /// A removable sensor is not paired.
        public static var biometryNotPaired: Code { .biometryNotPaired }
        /// A removable sensor is not connected.
        public static var biometryDisconnected: Code { .biometryDisconnected }
        /// The view has invalid dimensions.
        public static var invalidDimensions: Code { .invalidDimensions }
        /// Asking is not allowed, or not possible here.
        public static var notInteractive: Code { .notInteractive }
        /// Older name of `biometryNotAvailable`.
        public static var touchIDNotAvailable: Code { .biometryNotAvailable }
        /// Older name of `biometryNotEnrolled`.
        public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
        /// Older name of `biometryLockout`.
        public static var touchIDLockout: Code { .biometryLockout }
        /// Older name of `companionNotAvailable`.
        public static var watchNotAvailable: Code { .companionNotAvailable }
    }

    /// Makes `as? LAError` and `catch let error as LAError` work for an `NSError`. On Apple platforms the runtime does
    /// this for every `_BridgedStoredNSError`; on Linux only for types that conform to this protocol.
    extension LAError: _ObjectiveCBridgeable {
        /// The class of the object.
        public typealias _ObjectType = NSError

        /// The error as an object.
        public func _bridgeToObjectiveC() -> NSError { _nsError }

        /// Converts an object of the domain.
        public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
            guard source.domain == LAErrorDomain else { return false }
            result = LAError(_nsError: source)
            return true
        }

        /// Converts an object of the domain; the result stays empty for another domain.
        public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
            _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
        }

        /// Converts any object, so that it never crashes.
        public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
            source.map { LAError(_nsError: $0) } ?? LAError(.authenticationFailed)
        }
    }

    extension LAError {
        /// - Parameter message: What happened and what to do next, for the user.
        init(_ code: Code, _ message: String) {
            self.init(code, userInfo: [NSLocalizedDescriptionKey: message])
        }
    }
#endif
