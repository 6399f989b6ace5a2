// SPDX-License-Identifier: Apache-2.0
// Contexts as objects: their properties, credentials, and classes derived from them.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("LocalAuthentication: contexts")
struct LAContextTests {
    @Test func context_thatIsNew_hasApplesDefaults() {
        let context = LAContext()
        #expect(context.localizedReason == "")
        #expect(context.localizedCancelTitle == nil)
        #expect(context.localizedFallbackTitle == nil)
        #expect(!context.interactionNotAllowed)
        #expect(context.touchIDAuthenticationAllowableReuseDuration == 0)
        #expect(context.biometryType == .none)
        #expect(context.evaluatedPolicyDomainState == nil)
        #expect(!context.isCredentialSet(.applicationPassword))
    }

    @Test func property_set_isReadBack() {
        let context = LAContext()
        context.localizedReason = "Show your notes"
        context.localizedCancelTitle = "Not now"
        context.localizedFallbackTitle = ""
        context.interactionNotAllowed = true
        #expect(context.localizedReason == "Show your notes")
        #expect(context.localizedCancelTitle == "Not now")
        #expect(context.localizedFallbackTitle == "")
        #expect(context.interactionNotAllowed)
    }

    static let durations: [(TimeInterval, TimeInterval)] = [
        (10, 10), (0.5, 0.5), (300, 300), (301, 300), (.infinity, 300), (0, 0), (-1, 0), (.nan, 0),
        (-.infinity, 0), (.leastNonzeroMagnitude, 0),
    ]

    @Test(arguments: durations)
    func reuseDuration_set_isHeldWithinApplesLimit(given: TimeInterval, expected: TimeInterval) {
        let context = LAContext()
        context.touchIDAuthenticationAllowableReuseDuration = given
        #expect(context.touchIDAuthenticationAllowableReuseDuration == expected)
    }

    // MARK: - Credentials

    static let credentials: [(Data?, LACredentialType, Bool, Bool)] = [
        (Data([1]), .applicationPassword, true, true), (Data(count: 1024), .applicationPassword, true, true),
        (nil, .applicationPassword, true, false), (Data(), .applicationPassword, false, false),
        (Data(count: 1025), .applicationPassword, false, false), (Data([1]), .smartCardPIN, false, false),
        (nil, .smartCardPIN, false, false),
    ]

    @Test(arguments: credentials)
    func credential_set_isAPasswordOf1To1024Bytes(
        credential: Data?, type: LACredentialType, isTaken: Bool, isSet: Bool
    ) {
        let context = LAContext()
        #expect(context.setCredential(credential, type: type) == isTaken)
        #expect(context.isCredentialSet(.applicationPassword) == isSet)
        #expect(!context.isCredentialSet(.smartCardPIN))
    }

    @Test func credential_thatIsASlice_isTakenWhole() throws {
        let keychain = try ProtectedKeychain(.memory)
        let context = keychain.context()
        context.setCredential(Data("xxpassword".utf8).dropFirst(2), type: .applicationPassword)
        let item = try protected(.applicationPassword).adding(["v_Data": secret, "u_AuthCtx": context])
        #expect(keychain.services.add(item).status == errSecSuccess)
        let other = keychain.context()
        other.setCredential(Data("password".utf8), type: .applicationPassword)
        #expect(keychain.services.find(genp(["r_Data": true, "u_AuthCtx": other])).data == secret)
    }

    @Test func credential_ofAnInvalidatedContext_isGoneAndCannotBeSet() {
        let context = LAContext()
        context.setCredential(secret, type: .applicationPassword)
        context.invalidate()
        #expect(!context.isCredentialSet(.applicationPassword))
        #expect(!context.setCredential(secret, type: .applicationPassword))
        #expect(!context.isCredentialSet(.applicationPassword))
    }

    @Test func context_printed_showsNoCredential() {
        let context = LAContext()
        context.setCredential(secret, type: .applicationPassword)
        var text = ""
        dump(context, to: &text)
        text += "\(context)" + String(reflecting: context)
        #expect(!text.contains("correct horse"))
        #expect(!text.contains(secret.map { "\($0)" }.joined(separator: ", ")))
    }

    // MARK: - Derived classes

    @Test func derivedClass_withAReplyOfItsOwn_isUsedByAsynchronousCallsToo() async throws {
        let context = ReplyingContext(isOwner: true)
        #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
        #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: ""))
        let other = ReplyingContext(isOwner: false)
        #expect(await other.outcome() == .userCancel)
        #expect(other.biometryType == .faceID)
    }

    @Test func derivedClass_withAnAsynchronousAnswerOfItsOwn_isUsed() async throws {
        let context = AsynchronousContext()
        #expect(await context.outcome() == .biometryLockout)
        context.error = nil
        #expect(await context.outcome() == nil)
    }

    @Test func derivedClass_inAQuery_isAContext() throws {
        let keychain = try ProtectedKeychain(.memory)
        try keychain.add([])
        let context = ReplyingContext(isOwner: true)
        #expect(keychain.services.find(genp(["u_AuthCtx": context])).status == errSecSuccess)
    }
}

/// As many tests of programs have them: no word in it is there for Linux.
private class ReplyingContext: LAContext {
    var isOwner: Bool

    init(isOwner: Bool) {
        self.isOwner = isOwner
        super.init()
    }

    override var biometryType: LABiometryType { .faceID }

    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool { true }

    override func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping (Bool, (any Error)?) -> Void
    ) {
        reply(isOwner, isOwner ? nil : LAError(.userCancel))
    }
}

private final class AsynchronousContext: LAContext, @unchecked Sendable {
    var error: LAError? = LAError(.biometryLockout)

    override func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        if let error { throw error }
        return true
    }
}
