// SPDX-License-Identifier: Apache-2.0
// Certificates and the policies that they are judged by, as an object.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if Certificates && os(Linux)
    public import Foundation
    public import KeychainServices
    import SecretMemory

    /// Certificates whose trust is evaluated: the leaf, and others that may lead from it to an anchor. Certificates of the
    /// keychain complete the chain if these do not suffice.
    ///
    /// ```swift
    /// var trust: SecTrust?
    /// let policy = SecPolicyCreateSSL(true, "db.internal" as CFString)
    /// guard SecTrustCreateWithCertificates([leaf, issuer] as CFArray, policy, &trust) == errSecSuccess, let trust else { return }
    /// SecTrustSetAnchorCertificates(trust, [root] as CFArray)
    /// var error: CFError?
    /// guard SecTrustEvaluateWithError(trust, &error) else { throw error! }
    /// ```
    ///
    /// Several threads may use an object at once. An evaluation judges what was set when it began. Nothing is fetched from
    /// the network: revocation and certificate transparency are not checked. A verdict stays until something is set.
    public final class SecTrust: NSObject, Sendable, TypeNumbered {
        private struct State {
            var request: TrustRequest
            var exceptions: TrustExceptions?
            var verdict: Verdict?
            /// How often something was set.
            var changes = 0
        }

        /// A verdict, and what is excused in it.
        struct Verdict: Sendable {
            let outcome: TrustOutcome
            let result: SecTrustResultType
            let date = Date()

            init(_ outcome: TrustOutcome, _ exceptions: TrustExceptions?) {
                self.outcome = outcome
                result = outcome.result(exceptions)
            }

            var isTrusted: Bool { result == .proceed || result == .unspecified }
        }

        private let state: Guarded<State>

        init(_ request: TrustRequest) { state = Guarded(State(request: request)) }

        package var typeNumber: CFTypeID { SecTrustGetTypeID() }

        /// The verdict, which is evaluated if there is none. No lock is held meanwhile.
        func verdict() -> Verdict {
            let (known, request, exceptions, changes) = state.withLock {
                ($0.verdict, $0.request, $0.exceptions, $0.changes)
            }
            if let known { return known }
            let fresh = Verdict(request.evaluated(), exceptions)
            state.withLock { if $0.changes == changes { $0.verdict = fresh } }
            return fresh
        }

        /// The verdict, if there is one.
        var knownVerdict: Verdict? { state.withLock { $0.verdict } }

        var request: TrustRequest { state.withLock { $0.request } }

        /// Sets something. The next call evaluates again.
        func set(_ change: (inout TrustRequest) -> Void) {
            state.withLock {
                change(&$0.request)
                $0.verdict = nil
                $0.changes += 1
            }
        }

        func set(_ exceptions: TrustExceptions?) {
            state.withLock {
                $0.exceptions = exceptions
                $0.verdict = nil
                $0.changes += 1
            }
        }

        /// The summary of the leaf.
        public override var description: String { "<SecTrust: \(request.leaf.certificate.displayName)>" }
    }

    /// The type number of trust objects. It can only be compared, for example with the result of `CFGetTypeID`.
    public func SecTrustGetTypeID() -> CFTypeID { 0x7472_7573 }

    /// Creates a trust object.
    ///
    /// - Parameters:
    ///   - certificates: the leaf, or an array with the leaf first and other certificates in any order.
    ///   - policies: one or an array; all of them are judged. `nil`: that of `SecPolicyCreateBasicX509`.
    ///   - trust: receives the object.
    /// - Returns: `errSecParam` for an empty array and for other objects.
    @discardableResult
    public func SecTrustCreateWithCertificates(
        _ certificates: CFTypeRef, _ policies: CFTypeRef?, _ trust: UnsafeMutablePointer<SecTrust?>
    ) -> OSStatus {
        guard let certificates = objects(of: certificates, as: SecCertificate.self),
            let policies = objects(of: policies ?? SecPolicyCreateBasicX509(), as: SecPolicy.self)
        else { return errSecParam }
        trust.pointee = SecTrust(TrustRequest(certificates, policies.map(\.policy)))
        return errSecSuccess
    }

    /// Replaces the policies.
    ///
    /// - Parameter policies: one or an array.
    /// - Returns: `errSecParam` for an empty array and for other objects.
    @discardableResult
    public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
        guard let policies = objects(of: policies, as: SecPolicy.self) else { return errSecParam }
        trust.set { $0.policies = policies.map(\.policy) }
        return errSecSuccess
    }

    /// The policies.
    ///
    /// - Parameter policies: receives an array of `SecPolicy`.
    /// - Returns: `errSecSuccess`.
    @discardableResult
    public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
        policies.pointee = NSArray(array: trust.request.policies.map { SecPolicy($0) })
        return errSecSuccess
    }

    /// Trusts these certificates, and from then on no others.
    ///
    /// - Parameter anchorCertificates: certificates; an empty array: nothing is trusted. `nil`: the roots of the system, as
    ///   before.
    /// - Returns: `errSecParam` if an object in the array is no certificate.
    @discardableResult
    public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
        guard let anchorCertificates else {
            trust.set { ($0.anchors, $0.usesSystem) = ([], true) }
            return errSecSuccess
        }
        let anchors = anchorCertificates.compactMap { $0 as? SecCertificate }
        guard anchors.count == anchorCertificates.count else { return errSecParam }
        trust.set { ($0.anchors, $0.usesSystem) = (anchors, false) }
        return errSecSuccess
    }

    /// Whether the roots of the system are trusted beside the caller's anchors.
    ///
    /// - Returns: `errSecSuccess`.
    @discardableResult
    public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
        trust.set { $0.usesSystem = !anchorCertificatesOnly }
        return errSecSuccess
    }

    /// The caller's anchors.
    ///
    /// - Parameter anchors: receives an array of `SecCertificate`; `nil` if there are none.
    /// - Returns: `errSecSuccess`.
    @discardableResult
    public func SecTrustCopyCustomAnchorCertificates(
        _ trust: SecTrust, _ anchors: UnsafeMutablePointer<CFArray?>
    ) -> OSStatus {
        let own = trust.request.anchors
        anchors.pointee = own.isEmpty ? nil : NSArray(array: own)
        return errSecSuccess
    }

    /// The date at which the certificates must be valid. Without it, it is the time of the evaluation.
    ///
    /// - Returns: `errSecSuccess`.
    @discardableResult
    public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
        let date = Date(timeIntervalSinceReferenceDate: verifyDate.timeIntervalSinceReferenceDate)
        trust.set { $0.date = date }
        return errSecSuccess
    }

    /// The date at which the certificates must be valid, in seconds since the start of 2001: the one that is set, or now.
    public func SecTrustGetVerifyTime(_ trust: SecTrust) -> CFAbsoluteTime {
        (trust.request.date ?? Date()).timeIntervalSinceReferenceDate
    }

    /// An object, or the objects of an array; `nil` for an empty array, and if one is of another class.
    private func objects<Object>(of value: CFTypeRef, as type: Object.Type) -> [Object]? {
        if let object = value as? Object { return [object] }
        guard let array = value as? NSArray, array.count > 0 else { return nil }
        let objects = array.compactMap { $0 as? Object }
        return objects.count == array.count ? objects : nil
    }
#endif
