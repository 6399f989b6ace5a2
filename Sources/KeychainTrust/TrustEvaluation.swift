// SPDX-License-Identifier: Apache-2.0
// Evaluating a trust object, and what is known afterwards.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if Certificates && os(Linux)
    public import Dispatch
    public import Foundation
    public import KeychainServices

    /// A verdict on certificates.
    public enum SecTrustResultType: UInt32, Sendable {
        /// Not evaluated.
        case invalid = 0
        /// Trusted, because the caller makes exceptions.
        case proceed = 1
        /// No longer used.
        case confirm = 2
        /// Refused by a setting of the user; there are none here.
        case deny = 3
        /// Trusted.
        case unspecified = 4
        /// Not trusted; exceptions are possible.
        case recoverableTrustFailure = 5
        /// Not trusted; exceptions have no effect.
        case fatalTrustFailure = 6
        /// No verdict is possible, since the roots of the system cannot be read.
        case otherError = 7
    }

    /// Receives a verdict.
    public typealias SecTrustCallback = (SecTrust, SecTrustResultType) -> Void
    /// Receives a verdict, and an error if it is negative.
    public typealias SecTrustWithErrorCallback = (SecTrust, Bool, CFError?) -> Void

    /// When a verdict was made, in the result of `SecTrustCopyResult` (date).
    nonisolated(unsafe) public let kSecTrustEvaluationDate: CFString = "TrustEvaluationDate"
    /// The verdict, in the result of `SecTrustCopyResult` (number).
    nonisolated(unsafe) public let kSecTrustResultValue: CFString = "TrustResultValue"

    /// Evaluates the certificates on the caller's thread, without the network. The work is limited for any certificates of
    /// the caller. If they give no trusted chain, the keychain is searched for at most 64 issuers, which takes as long as
    /// its searches do.
    ///
    /// - Parameter error: receives the error if the result is `false`: domain `NSOSStatusErrorDomain`, code of the most
    ///   important failed check, with all of them in `NSUnderlyingErrorKey`. Otherwise it is not touched.
    /// - Returns: Whether the certificates are trusted.
    public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
        let verdict = trust.verdict()
        if !verdict.isTrusted { error?.pointee = verdict.outcome.error }
        return verdict.isTrusted
    }

    /// Evaluates the certificates on a queue.
    ///
    /// - Parameter result: is called on the queue, with an error if the result is `false`.
    /// - Returns: `errSecSuccess`. On Apple platforms, the call must be made on the same queue.
    @discardableResult
    public func SecTrustEvaluateAsyncWithError(
        _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping SecTrustWithErrorCallback
    ) -> OSStatus {
        let callback = Callback(call: result)
        queue.async {
            let verdict = trust.verdict()
            callback.call(trust, verdict.isTrusted, verdict.isTrusted ? nil : verdict.outcome.error)
        }
        return errSecSuccess
    }

    /// The verdict, evaluated if there is none.
    ///
    /// - Parameter result: receives the verdict.
    /// - Returns: `errSecSuccess`.
    @discardableResult
    public func SecTrustGetTrustResult(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>)
        -> OSStatus
    {
        result.pointee = trust.verdict().result
        return errSecSuccess
    }

    /// The date and the number of a verdict; `nil` before an evaluation.
    public func SecTrustCopyResult(_ trust: SecTrust) -> CFDictionary? {
        guard let verdict = trust.knownVerdict else { return nil }
        let entries: [String: Any] = [
            kSecTrustEvaluationDate as String: verdict.date,
            kSecTrustResultValue as String: NSNumber(value: verdict.result.rawValue),
        ]
        return entries as NSDictionary
    }

    /// The certificates from the leaf to the root, evaluated if there is no verdict. If no chain is trusted, the one that
    /// came closest: at least the leaf.
    public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
        NSArray(array: trust.verdict().outcome.chain)
    }

    /// The key of the leaf; `nil` if it is not supported. Nothing is evaluated.
    public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? { SecCertificateCopyKey(trust.request.leaf) }

    /// The failed checks of the verdict, for `SecTrustSetExceptions`: a property list. Evaluates if there is no verdict.
    public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? {
        TrustExceptions(trust.verdict().outcome).encoded.map { NSData(data: $0) }
    }

    /// Excuses checks: the next evaluation trusts the same chain although they fail. Failures of keys and signatures are
    /// never excused.
    ///
    /// - Parameter exceptions: the result of `SecTrustCopyExceptions` for the same leaf; `nil`: nothing is excused.
    /// - Returns: `false` for `nil`, and if they are for another leaf or cannot be read: nothing is excused then.
    @discardableResult
    public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
        let read = exceptions.flatMap { TrustExceptions(encoded: $0 as Data) }
        let matching = read.flatMap { $0.matches(trust.request.leaf) ? $0 : nil }
        trust.set(matching)
        return matching != nil
    }

    /// A closure of a caller that knows nothing of concurrency. It is called once, on the caller's queue.
    private struct Callback<Call>: @unchecked Sendable {
        let call: Call
    }

    // MARK: - Older and refused functions

    /// The older form of `SecTrustEvaluateWithError`.
    ///
    /// - Parameter result: receives the verdict.
    /// - Returns: `errSecSuccess`, also for a negative verdict.
    @discardableResult
    public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
        SecTrustGetTrustResult(trust, result)
    }

    /// The older form of `SecTrustEvaluateAsyncWithError`.
    ///
    /// - Parameter queue: where to evaluate; `nil`: a queue of the system.
    /// - Returns: `errSecSuccess`.
    @discardableResult
    public func SecTrustEvaluateAsync(
        _ trust: SecTrust, _ queue: DispatchQueue?, _ result: @escaping SecTrustCallback
    ) -> OSStatus {
        let callback = Callback(call: result)
        (queue ?? .global()).async { callback.call(trust, trust.verdict().result) }
        return errSecSuccess
    }

    /// The number of certificates in the chain, evaluated if there is no verdict.
    public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { trust.verdict().outcome.chain.count }

    /// A certificate of the chain, the leaf at 0; `nil` beyond it. Evaluates if there is no verdict.
    public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: CFIndex) -> SecCertificate? {
        let chain = trust.verdict().outcome.chain
        return chain.indices.contains(ix) ? chain[ix] : nil
    }

    /// The older name of `SecTrustCopyKey`.
    public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? { SecTrustCopyKey(trust) }

    /// Whether the network may be used: never.
    ///
    /// - Returns: `errSecUnimplemented` for `true`.
    @discardableResult
    public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
        allowFetch ? errSecUnimplemented : errSecSuccess
    }

    /// Revocation is not checked.
    ///
    /// - Returns: `errSecUnimplemented`.
    @discardableResult
    public func SecTrustSetOCSPResponse(_ trust: SecTrust, _ responseData: CFTypeRef?) -> OSStatus {
        errSecUnimplemented
    }

    /// Certificate transparency is not checked.
    ///
    /// - Returns: `errSecUnimplemented`.
    @discardableResult
    public func SecTrustSetSignedCertificateTimestamps(_ trust: SecTrust, _ sctArray: CFArray?) -> OSStatus {
        errSecUnimplemented
    }
#endif
