// SPDX-License-Identifier: Apache-2.0
// What errors say of themselves: the words of the original, and what to do beside them.

import Foundation
import LGTVControl
import Testing

@Suite("Errors")
struct ErrorTests {
    @Test(arguments: [
        (LGTVControl.KeychainError.unexpectedStatus(-34018), "Keychain error: -34018"),
        (.unexpectedStatus(-25308), "Keychain error: -25308"),
        (.encodingFailed, "Failed to encode/decode data"),
    ])
    func keychainError_described_hasTheWordsOfTheOriginal(error: LGTVControl.KeychainError, words: String) {
        #expect(error.errorDescription == words && error.localizedDescription == words)
    }

    @Test(arguments: [
        (LGTVControlManager.ControlError.notConnected, "Not connected to the TV"),
        (.missingCredentials, "Missing credentials. Connect to the TV first."),
        (.invalidPairingCode, "The pairing code was rejected by the TV"),
        (.pairingFailed, "The TV reported a pairing failure"),
    ])
    func controlError_described_hasTheWordsOfTheOriginal(error: LGTVControlManager.ControlError, words: String) {
        #expect(error.errorDescription == words && error.localizedDescription == words)
    }

    @Test(arguments: [
        (WakeOnLANError.invalidMAC, "Invalid MAC address"),
        (.sendFailed("no route"), "Wake-on-LAN send failed: no route"),
    ])
    func wakeOnLANError_described_hasTheWordsOfTheOriginal(error: WakeOnLANError, words: String) {
        #expect(error.errorDescription == words && error.localizedDescription == words)
    }

    @Test func failureReason_saysWhatToDo() {
        #expect(LGTVControl.KeychainError.unexpectedStatus(-25308).failureReason?.isEmpty == false)
        #expect(LGTVControlManager.ControlError.notConnected.failureReason?.contains("Connect first") == true)
        #expect(WakeOnLANError.invalidMAC.failureReason?.contains("02:00:5E:10:00:01") == true)
    }

    @Test func failureReason_ofAKeychainError_isThatOfItsNSError() {
        let error = LGTVControl.KeychainError.unexpectedStatus(-34018)
        #expect((error as NSError).localizedFailureReason == error.failureReason)
    }
}
