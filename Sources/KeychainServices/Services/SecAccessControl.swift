// SPDX-License-Identifier: Apache-2.0
// Access control objects: the conditions under which an item may be used.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    package import KeychainEngine

    /// The conditions under which an item may be used; the value of `kSecAttrAccessControl`.
    ///
    /// Objects are equal if they have the same conditions. Searches that return attributes return one for every item.
    public final class SecAccessControl: NSObject, Sendable {
        package let accessControl: AccessControl

        init(_ accessControl: AccessControl) {
            self.accessControl = accessControl
        }

        /// Whether the other object has the same conditions.
        public override func isEqual(_ object: Any?) -> Bool {
            (object as? SecAccessControl)?.accessControl == accessControl
        }

        /// Equal objects have equal hashes.
        public override var hash: Int { accessControl.hashValue }

        /// The accessibility class and the names of the constraints.
        public override var description: String {
            let names = SecAccessControlCreateFlags(accessControl.flags ?? []).names
            return (["<SecAccessControl: \(accessControl.accessibility.rawValue)"] + names).joined(separator: " ") + ">"
        }
    }

    /// The conditions of `SecAccessControlCreateWithFlags` besides the accessibility class; numbers as in Apple's
    /// header.
    public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
        /// Apple's bits.
        public let rawValue: CFOptionFlags
        /// The flags with these bits; bits without a meaning are accepted and ignored.
        public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

        /// The user authenticates in any way that the device offers. It can be combined only with `applicationPassword`
        /// and `privateKeyUsage`.
        public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
        /// Any enrolled biometry, including biometry that is enrolled later.
        public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
        /// Older name of `biometryAny`.
        public static let touchIDAny = biometryAny
        /// The biometry that is enrolled now; not together with `biometryAny`.
        public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
        /// Older name of `biometryCurrentSet`.
        public static let touchIDCurrentSet = biometryCurrentSet
        /// The device's passcode.
        public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
        /// Another device of the user nearby.
        public static let companion = SecAccessControlCreateFlags(rawValue: 1 << 5)
        /// Older name of `companion`.
        public static let watch = companion
        /// One of several constraints is enough; not together with `and`.
        public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
        /// All constraints must hold, which is the default.
        public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
        /// The private key may be used to sign and to agree on keys.
        public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
        /// A password of the app's own, mixed into the encryption.
        public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)
    }

    extension SecAccessControlCreateFlags {
        fileprivate init(_ flags: AccessControl.Flags) {
            self.init(rawValue: CFOptionFlags(truncatingIfNeeded: flags.rawValue))
        }

        fileprivate var names: [String] {
            let all: [(SecAccessControlCreateFlags, String)] = [
                (.userPresence, "userPresence"), (.biometryAny, "biometryAny"),
                (.biometryCurrentSet, "biometryCurrentSet"), (.devicePasscode, "devicePasscode"),
                (.companion, "companion"), (.or, "or"), (.and, "and"), (.privateKeyUsage, "privateKeyUsage"),
                (.applicationPassword, "applicationPassword"),
            ]
            return all.filter { contains($0.0) }.map(\.1)
        }
    }

    /// Makes an access control object.
    ///
    /// ```swift
    /// var error: Unmanaged<CFError>?
    /// let control = SecAccessControlCreateWithFlags(
    ///     nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .userPresence, &error)
    /// if let error { throw error.takeRetainedValue() }
    /// ```
    ///
    /// - Parameters:
    ///   - allocator: has no effect.
    ///   - protection: one of the `kSecAttrAccessible…` constants.
    ///   - flags: the required authentication; empty for none.
    ///   - error: receives an error that the caller releases: domain `NSOSStatusErrorDomain`, code `errSecParam`.
    /// - Returns: `nil` if `protection` is not an accessibility class, for `or` with `and`, for both biometry flags,
    ///   and for `userPresence` with anything except `applicationPassword` and `privateKeyUsage`.
    public func SecAccessControlCreateWithFlags(
        _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
        _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> SecAccessControl? {
        do {
            return try SecAccessControl(protection: protection, flags)
        } catch let failure {
            error?.pointee = Unmanaged.passRetained(failure as NSError)
            return nil
        }
    }

    /// The type number of access control objects. It can only be compared.
    public func SecAccessControlGetTypeID() -> CFTypeID {
        CFTypeID(Attribute.accessControl.code)
    }

    extension SecAccessControl {
        fileprivate convenience init(
            protection: CFTypeRef, _ flags: SecAccessControlCreateFlags
        ) throws(KeychainError) {
            guard let name = protection as? String, let accessibility = Accessibility(rawValue: name) else {
                throw .invalidValue("protection", "one of the kSecAttrAccessible… constants")
            }
            self.init(try AccessControl(accessibility, flags: AccessControl.Flags(rawValue: UInt64(flags.rawValue))))
        }
    }
#endif
