// SPDX-License-Identifier: Apache-2.0
// What a certificate must fulfil, as an object.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if Certificates && os(Linux)
    public import Foundation
    public import KeychainServices

    /// A policy: what the certificates of a chain must fulfil.
    ///
    /// Policies are equal if they demand the same.
    ///
    /// ```swift
    /// let policy = SecPolicyCreateSSL(true, "www.example.com" as CFString)
    /// ```
    public final class SecPolicy: NSObject, Sendable, TypeNumbered {
        let policy: TrustPolicy

        init(_ policy: TrustPolicy) { self.policy = policy }

        package var typeNumber: CFTypeID { SecPolicyGetTypeID() }

        /// Whether the other object is a policy that demands the same.
        public override func isEqual(_ object: Any?) -> Bool { (object as? SecPolicy)?.policy == policy }

        /// Equal objects have equal hashes.
        public override var hash: Int { policy.hashValue }

        /// The name of the policy.
        public override var description: String { "<SecPolicy: \(policy.name)>" }
    }

    /// The demands of a policy.
    enum TrustPolicy: Hashable, Sendable {
        /// RFC 5280, and nothing about the purpose.
        case basic
        /// A server or a client of TLS, and its host if one is given.
        case tls(isServer: Bool, host: String?)

        var name: String {
            switch self {
            case .basic: "basicX509"
            case .tls(let isServer, _): isServer ? "sslServer" : "sslClient"
            }
        }

        var identifier: String {
            switch self {
            case .basic: "1.2.840.113635.100.1.2"
            case .tls: "1.2.840.113635.100.1.3"
            }
        }
    }

    /// The policy of RFC 5280, without a purpose or a host.
    nonisolated(unsafe) public let kSecPolicyAppleX509Basic: CFString = "1.2.840.113635.100.1.2"

    /// The policy for TLS.
    nonisolated(unsafe) public let kSecPolicyAppleSSL: CFString = "1.2.840.113635.100.1.3"

    /// The identifier of a policy among its properties (string).
    nonisolated(unsafe) public let kSecPolicyOid: CFString = "SecPolicyOid"

    /// The host of a policy among its properties (string).
    nonisolated(unsafe) public let kSecPolicyName: CFString = "SecPolicyName"

    /// Whether a policy is for a client, among its properties (Boolean).
    nonisolated(unsafe) public let kSecPolicyClient: CFString = "SecPolicyClient"

    /// The type number of policies. It can only be compared, for example with the result of `CFGetTypeID`.
    public func SecPolicyGetTypeID() -> CFTypeID { 0x706F_6C69 }

    /// Creates the policy of RFC 5280: signatures, dates, authorities, names, extensions, and no weak keys.
    public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basic) }

    /// Creates the policy for TLS.
    ///
    /// - Parameters:
    ///   - server: `true` for the certificate of a server, `false` for that of a client.
    ///   - hostname: the host or IP address that the certificate must name; `nil`: any.
    public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
        SecPolicy(.tls(isServer: server, host: hostname.map { $0 as String }))
    }

    /// Creates a policy by its identifier.
    ///
    /// - Parameters:
    ///   - policyIdentifier: `kSecPolicyAppleX509Basic` or `kSecPolicyAppleSSL`.
    ///   - properties: for TLS `kSecPolicyName` (string) and `kSecPolicyClient` (Boolean).
    /// - Returns: `nil` for another identifier, another property, or a value of another type.
    public func SecPolicyCreateWithProperties(_ policyIdentifier: CFTypeRef, _ properties: CFDictionary?) -> SecPolicy?
    {
        var host: String?
        var isClient = false
        guard let entries = (properties ?? NSDictionary()) as? [String: Any] else { return nil }
        for (key, value) in entries {
            switch (key, value) {
            case ("SecPolicyName", let name as String): host = name
            case ("SecPolicyClient", let flag as Bool): isClient = flag
            default: return nil
            }
        }
        switch policyIdentifier as? NSString {
        case kSecPolicyAppleX509Basic: return entries.isEmpty ? SecPolicy(.basic) : nil
        case kSecPolicyAppleSSL: return SecPolicy(.tls(isServer: !isClient, host: host))
        default: return nil
        }
    }

    /// The identifier and the properties of a policy.
    public func SecPolicyCopyProperties(_ policyRef: SecPolicy) -> CFDictionary? {
        var properties: [String: Any] = [kSecPolicyOid as String: policyRef.policy.identifier]
        if case .tls(let isServer, let host) = policyRef.policy {
            properties[kSecPolicyName as String] = host
            if !isServer { properties[kSecPolicyClient as String] = true }
        }
        return properties as NSDictionary
    }

    /// For `SecPolicyCreateRevocation`: ask the issuer's service (OCSP).
    public let kSecRevocationOCSPMethod: CFOptionFlags = 1 << 0
    /// For `SecPolicyCreateRevocation`: read the issuer's list.
    public let kSecRevocationCRLMethod: CFOptionFlags = 1 << 1
    /// For `SecPolicyCreateRevocation`: read the list first.
    public let kSecRevocationPreferCRL: CFOptionFlags = 1 << 2
    /// For `SecPolicyCreateRevocation`: no answer is a failure.
    public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 1 << 3
    /// For `SecPolicyCreateRevocation`: use only answers that are there.
    public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = 1 << 4
    /// For `SecPolicyCreateRevocation`: ask the service or read the list.
    public let kSecRevocationUseAnyAvailableMethod = kSecRevocationOCSPMethod | kSecRevocationCRLMethod

    /// Revocation is not checked, so there is no such policy.
    ///
    /// - Parameter revocationFlags: `kSecRevocation…`; they have no effect.
    /// - Returns: `nil`.
    public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? { nil }
#endif
