// SPDX-License-Identifier: Apache-2.0
// The recovery key's text; the vectors of `recovery-key` hold for single texts.

import KeychainCrypto
import KeychainTestSupport
import SecretMemory
import Testing

struct RecoveryKeyTests {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    private static let key = SecretBytes(bytes: (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) })
    private static let text = Array(RecoveryKey.text(key).text)

    private static func read(_ text: some Sequence<Character>) -> String {
        switch RecoveryKey.read(SecretBytes(text: String(text))) {
        case .key(let key): key.bytes.hexadecimal
        case .mistyped: "mistyped"
        case .other: "other"
        }
    }

    @Test func text_hasFourteenGroupsOfFour() {
        let groups = String(Self.text).split(separator: "-", omittingEmptySubsequences: false)
        #expect(groups.map(\.count) == [Int](repeating: 4, count: 14))
        #expect(Self.text.allSatisfy { $0 == "-" || Self.alphabet.contains($0) })
    }

    @Test func text_ofRandomKeys_readsAsTheKey() {
        for _ in 0..<100 {
            let key = RecoveryKey.make()
            #expect(Self.read(RecoveryKey.text(key).text) == key.bytes.hexadecimal)
        }
    }

    @Test func text_withOneWrongCharacter_isMistyped() {
        for index in Self.text.indices where Self.text[index] != "-" {
            for character in Self.alphabet + ["U"] where character != Self.text[index] {
                var wrong = Self.text
                wrong[index] = character
                #expect(Self.read(wrong) == "mistyped", "\(character) at \(index)")
            }
        }
    }

    @Test func text_withTwoNeighboursSwapped_isMistyped() {
        let symbols = Self.text.filter { $0 != "-" }
        for index in 1..<symbols.count where symbols[index] != symbols[index - 1] {
            var wrong = symbols
            wrong.swapAt(index, index - 1)
            #expect(Self.read(wrong) == "mistyped", "at \(index)")
        }
    }

    @Test func text_withTwoGroupsSwapped_isMistyped() {
        let groups = String(Self.text).split(separator: "-")
        for (first, second) in (0..<14).flatMap({ first in (0..<first).map { (first, $0) } }) {
            var wrong = groups
            wrong.swapAt(first, second)
            #expect(Self.read(wrong.joined()) == "mistyped", "\(first) and \(second)")
        }
    }

    @Test func text_cutAtAnyLength_isOther() {
        for length in 1..<Self.text.count { #expect(Self.read(Self.text.prefix(length)) == "other") }
    }

    @Test func text_withSeparatorsAnywhere_reads() {
        let symbols = Self.text.filter { $0 != "-" }
        let spaced = symbols.map { "\t \($0)-\r\n" }.joined()
        #expect(Self.read(spaced) == Self.key.bytes.hexadecimal)
    }

    @Test(arguments: ["!", "_", ".", "é", "\u{0}", "٣"])
    func text_withACharacterOfNoKey_isOther(_ character: Character) {
        var wrong = Self.text
        wrong[7] = character
        #expect(Self.read(wrong) == "other")
    }

    @Test func anyBytes_readAsNoKey() {
        for length in [1, 55, 56, 57, 69, 4096, 100_000] {
            for _ in 0..<20 {
                if case .key = RecoveryKey.read(.random(count: length)) { Issue.record("random bytes are a key") }
            }
        }
    }
}
