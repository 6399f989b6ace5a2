// SPDX-License-Identifier: Apache-2.0
// Shared web credentials: the functions fail through their callback; passwords are random.

import Foundation
import KeychainServices
import Testing

@Suite("Shared web credentials")
struct SharedCredentialTests {
    // A stream ends when the time is over; a continuation that is never resumed would wait for ever.

    @Test(.timeLimit(.minutes(60)))
    func credential_added_isUnimplemented() async {
        let (codes, answer) = AsyncStream.makeStream(of: Int.self)
        SecAddSharedWebCredential("example.com" as CFString, "alice" as CFString, nil) { error in
            answer.yield(CFErrorGetCode(error))
        }
        #expect(await codes.first { _ in true } == Int(errSecUnimplemented))
    }

    @Test(.timeLimit(.minutes(60)))
    func credentials_requested_areUnimplementedAndNone() async {
        let (answers, answer) = AsyncStream.makeStream(of: (isNone: Bool, code: Int).self)
        SecRequestSharedWebCredential(nil, nil) { credentials, error in
            answer.yield((credentials == nil, CFErrorGetCode(error)))
        }
        let first = await answers.first { _ in true }
        #expect(first?.isNone == true && first?.code == Int(errSecUnimplemented))
    }

    /// On Apple's systems the callback does not run on the thread of the caller, which may wait for it.
    @Test func callback_ofACallerThatWaits_isCalled() async {
        let answered = await Task.detached {
            let semaphore = DispatchSemaphore(value: 0)
            SecAddSharedWebCredential("example.com" as CFString, "alice" as CFString, "p" as CFString) { _ in
                semaphore.signal()
            }
            return wait(for: semaphore)
        }.value
        #expect(answered)
    }

    @Test func passwords_areDifferentAndFourGroupsOfThree() throws {
        let passwords = try (0..<100).map { _ in try #require(SecCreateSharedWebCredentialPassword()) as String }
        #expect(Set(passwords).count == 100)
        let form = /([a-hkm-yA-HJ-NP-Z3-9]{3}-){3}[a-hkm-yA-HJ-NP-Z3-9]{3}/
        #expect(passwords.allSatisfy { $0.wholeMatch(of: form) != nil })
    }

    /// Of passwords without this rule, every fifth would lack a digit.
    @Test func passwords_haveALetterOfEachSizeAndADigit() throws {
        let passwords = try (0..<300).map { _ in try #require(SecCreateSharedWebCredentialPassword()) as String }
        for characters in ["abcdefghkmnopqrstuvwxy", "ABCDEFGHJKLMNPQRSTUVWXYZ", "3456789"] {
            #expect(passwords.allSatisfy { $0.contains(where: characters.contains) })
        }
    }
}

/// Waiting is allowed outside of asynchronous functions only.
private func wait(for semaphore: DispatchSemaphore) -> Bool {
    semaphore.wait(timeout: .now() + .seconds(600)) == .success
}
