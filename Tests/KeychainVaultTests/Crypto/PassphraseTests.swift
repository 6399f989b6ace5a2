// SPDX-License-Identifier: Apache-2.0
// Keys from a passphrase; the vectors of `passphrase` hold for what is derived.

import Foundation
import KeychainTestSupport
import SecretMemory
import Synchronization
import Testing

@testable import KeychainCrypto

struct PassphraseTests {
    private static let salt = Data(0..<32)
    private static let least = ScryptParameters(rounds: 1 << 15, blockSize: 8, parallelism: 1)

    private static func failure(_ body: () throws -> Void) -> PassphraseFailure? {
        do {
            try body()
            return nil
        } catch {
            return error as? PassphraseFailure
        }
    }

    // MARK: - Cost

    private static let rounds: [UInt64] = [
        0, 1, 2, 3, 1 << 14, (1 << 15) - 1, 1 << 15, (1 << 15) + 1, 1 << 16, 1 << 17, 3 << 16, 1 << 18, (1 << 19) - 1,
        1 << 19, (1 << 19) + 1, 1 << 20, 1 << 31, 1 << 32, 1 << 62, 1 << 63, UInt64(bitPattern: -32768),
        UInt64(bitPattern: -1), UInt64(Int64.max), .max,
    ]
    private static let others: [UInt32] = [
        0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 1 << 16, 1 << 29, (1 << 30) - 1, 1 << 30, 1 << 31, UInt32(bitPattern: -1),
    ]
    private static let grid = rounds.flatMap { rounds in
        others.flatMap { blockSize in
            others.map { ScryptParameters(rounds: rounds, blockSize: blockSize, parallelism: $0) }
        }
    }

    @Test func parameters_onTheWholeGrid_areAcceptableOnlyInRange() {
        let accepted = Self.grid.filter(\.isAcceptable)
        #expect(Set(accepted.map(\.rounds.trailingZeroBitCount)) == [15, 16, 17, 18, 19])
        #expect(Set(accepted.map(\.blockSize)) == [8])
        #expect(Set(accepted.map(\.parallelism)) == [1, 2, 3, 4])
        #expect(accepted.count == 20)
        #expect(accepted.allSatisfy { $0.memory <= 512 << 20 })
    }

    @Test func derivation_withUnacceptableParameters_isRefusedBeforeAnyWork() {
        expectNoDerivation {
            for parameters in Self.grid where !parameters.isAcceptable {
                let passphrase = SecretBytes(text: "passphrase")
                let failure = Self.failure {
                    _ = try PassphraseDerivation.keys(from: passphrase, salt: Self.salt, parameters)
                }
                #expect(failure == .unacceptableParameters, "\(parameters)")
            }
        }
    }

    /// What the test above and others rely on.
    @Test func derivation_ofAKey_isNoticed() throws {
        let count = Mutex(0)
        try PassphraseDerivation.$onDerivation.withValue({ count.withLock { $0 += 1 } }) {
            _ = try PassphraseDerivation.keys(from: SecretBytes(text: "p"), salt: Self.salt, Self.least)
        }
        #expect(count.withLock { $0 } == 1)
    }

    @Test(arguments: [0, 1, 15])
    func derivation_withShortSalt_isRefused(_ length: Int) {
        let failure = Self.failure {
            _ = try PassphraseDerivation.keys(
                from: SecretBytes(text: "p"), salt: Self.salt.prefix(length), Self.least)
        }
        #expect(failure == .unacceptableParameters)
    }

    @Test func cost_ofFewerRoundsOrLanes_isBelow() {
        let floor = ScryptParameters.floor
        let fourLanes = ScryptParameters(rounds: 1 << 15, blockSize: 8, parallelism: 4)
        #expect(Self.least.isBelow(floor))
        #expect(!floor.isBelow(floor))
        #expect(!fourLanes.isBelow(floor))
        #expect(!ScryptParameters(rounds: .max, blockSize: .max, parallelism: .max).isBelow(floor))
    }

    @Test(arguments: [(2000, 17), (500, 17), (251, 17), (250, 18), (126, 18), (125, 19), (1, 19), (0, 19)])
    func calibration_measuringMilliseconds_raisesRoundsOnlyWithinTheTarget(_ measured: Int, _ power: Int) {
        let raised = ScryptParameters.raised(floorTook: .milliseconds(measured), target: .milliseconds(500))
        #expect(raised == ScryptParameters(rounds: 1 << UInt64(power), blockSize: 8, parallelism: 1))
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func calibration_withNoTimeToSpend_isTheFloor(_ target: Duration) throws {
        #expect(try ScryptParameters.calibrated(target: target) == .floor)
    }

    @Test func derivation_withoutTheMemory_fails() throws {
        let script = "ulimit -v 600000 && exec \"$0\" derive \(1 << 19)"
        let result = try ChildProcess.run("/bin/bash", ["-c", script, Exerciser.path])
        #expect(result.output == "failed outOfMemory\n", "\(result.errors)")
    }

    // MARK: - Keys

    @Test func keys_ofOneDerivation_differFromEachOther() throws {
        let keys = try PassphraseDerivation.keys(from: SecretBytes(text: "p"), salt: Self.salt, Self.least)
        #expect(keys.wrapping.count == 32 && keys.commitment.count == 32)
        #expect(keys.wrapping.bytes != keys.commitment.bytes)
    }

    @Test func keys_ofBytesThatAreNoText_areDerived() throws {
        let bytes = SecretBytes(bytes: [0xFF, 0x00, 0xC3])
        let keys = try PassphraseDerivation.keys(fromBytes: bytes, salt: Self.salt, Self.least)
        #expect(keys.wrapping.count == 32)
    }

    @Test func keys_ofTextAsBytes_areThoseOfTheText() throws {
        let text = SecretBytes(text: "passphrase")
        let keys = try PassphraseDerivation.keys(from: text, salt: Self.salt, Self.least)
        let others = try PassphraseDerivation.keys(fromBytes: text, salt: Self.salt, Self.least)
        #expect(keys.wrapping.bytes == others.wrapping.bytes && keys.commitment.bytes == others.commitment.bytes)
    }

    @Test func bytes_moreThan1024_areRefused() {
        let bytes = SecretBytes(bytes: [UInt8](repeating: 0xFF, count: 1025))
        let failure = Self.failure {
            _ = try PassphraseDerivation.keys(fromBytes: bytes, salt: Self.salt, Self.least)
        }
        #expect(failure == .tooLong)
    }

    // MARK: - Composition

    @Test func passphrase_inASCII_isPassedThroughWithoutACopy() throws {
        let passphrase = SecretBytes(text: "correct horse battery staple")
        #expect(try PassphraseDerivation.normalised(passphrase) === passphrase)
    }

    @Test(arguments: [
        (String(repeating: "x", count: 1025), PassphraseFailure.tooLong),
        (String(repeating: "é", count: 513), .tooLong), (String(repeating: "é", count: 100_000), .tooLong),
    ])
    func passphrase_tooLong_isRefused(_ text: String, _ expected: PassphraseFailure) {
        #expect(Self.failure { _ = try PassphraseDerivation.normalised(SecretBytes(text: text)) } == expected)
    }

    @Test(arguments: [[0x80], [0x61, 0xE2, 0x82], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xFF]])
    func passphrase_thatIsNotUTF8_isRefused(_ bytes: [UInt8]) {
        #expect(Self.failure { _ = try PassphraseDerivation.normalised(SecretBytes(bytes: bytes)) } == .notText)
    }

    /// As UnicodeData says: letters that compose beside old ones that do not.
    @Test(arguments: [
        ("\u{1113}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}", "\u{1113}\u{1161}\u{11AB}\u{AE00}"),
        ("\u{1100}\u{1161}\u{11C3}", "\u{AC00}\u{11C3}"), ("\u{1100}\u{1176}\u{11A8}", "\u{1100}\u{1176}\u{11A8}"),
        ("\u{115F}\u{1161}e\u{301}", "\u{115F}\u{1161}é"),
    ])
    func passphrase_withOldHangulLetters_isComposedAsUnicodeSays(_ text: String, _ composed: String) throws {
        let found = try PassphraseDerivation.normalised(SecretBytes(text: text))
        #expect(found.bytes.elementsEqual(composed.utf8))
    }

    /// Vowels of several marks stand in order with other marks: U+0F71 has the class 129, U+0331 the class 220.
    @Test(arguments: [
        ("\u{331}\u{F73}", "\u{F71}\u{F72}\u{331}"), ("\u{61C}a\u{331}\u{F75}", "\u{61C}a\u{F71}\u{F74}\u{331}"),
        ("\u{0F40}\u{331}\u{F81}", "\u{0F40}\u{F71}\u{F80}\u{331}"),
    ])
    func passphrase_withTibetanVowels_hasItsMarksInOrder(_ text: String, _ composed: String) throws {
        let found = try PassphraseDerivation.normalised(SecretBytes(text: text))
        #expect(found.bytes.elementsEqual(composed.utf8))
    }

    /// `String` compares by canonical equivalence, with tables of its own.
    @Test func composition_ofEveryCharacter_isEquivalentAndItsOwnComposition() throws {
        // A thousand scalars that change, and their neighbours: Latin, Greek, Hebrew, Indic, Hangul, kana, compatibility.
        let ranges: [ClosedRange<UInt32>] = [
            0xC0...0x233, 0x340...0x345, 0x386...0x3CE, 0x400...0x45E, 0x958...0x95F, 0x1E00...0x1FFE, 0x2126...0x212B,
            0x304C...0x3094, 0xAC00...0xAC40, 0xF900...0xF920, 0xFB1D...0xFB4E, 0x1D15E...0x1D164,
        ]
        for scalar in ranges.joined().compactMap(Unicode.Scalar.init) {
            let text = String(scalar)
            let composed = try PassphraseDerivation.normalised(SecretBytes(text: text))
            let uncomposed = SecretBytes(text: text.decomposedStringWithCanonicalMapping)
            #expect(composed.text == text)
            #expect(try PassphraseDerivation.normalised(uncomposed).bytes == composed.bytes)
            #expect(try PassphraseDerivation.normalised(composed).bytes == composed.bytes)
        }
    }
}
