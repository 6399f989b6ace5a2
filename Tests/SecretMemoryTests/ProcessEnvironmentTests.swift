// SPDX-License-Identifier: Apache-2.0
// The variables of a process, and the home folder of a user.

import Foundation
import Testing

@testable import SecretMemory

@Suite("the environment of the process")
struct ProcessEnvironmentTests {
    private func dictionary(_ words: String...) -> [String: String] {
        var pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { ProcessEnvironment.dictionary($0.baseAddress) }
    }

    @Test func words_withNamesAndValues_areADictionary() {
        #expect(dictionary("A=1", "B=", "C=x=y") == ["A": "1", "B": "", "C": "x=y"])
    }

    @Test func name_thatIsThereTwice_hasItsFirstValue() {
        #expect(dictionary("A=1", "A=2") == ["A": "1"])
    }

    @Test func word_withoutAValue_isNoVariable() {
        #expect(dictionary("A", "") == [:])
    }

    /// What a program that is started with further variables gets.
    private func passedOn(_ words: [[UInt8]], adding added: [String: String]) -> [[UInt8]] {
        var pointers = words.map { word in strdup((word + [0]).map { CChar(bitPattern: $0) }) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { words in
            ProcessEnvironment.withWords(words.baseAddress, adding: added) { words in
                var result: [[UInt8]] = []
                while let word = words?[result.count] {
                    result.append(Array(UnsafeRawBufferPointer(start: word, count: strlen(word))))
                }
                return result
            }
        }
    }

    @Test func words_besideAnAddedVariable_arePassedOnAsTheyAre() {
        let words = [
            Array("A=1".utf8), [0x42, 0x3D, 0xFF, 0xC3], Array("A=2".utf8), Array("word".utf8), [], Array("NEW".utf8),
        ]
        #expect(passedOn(words, adding: ["NEW": "x=y"]) == words + [Array("NEW=x=y".utf8)])
    }

    @Test func variable_thatIsAdded_replacesItsWordsAndNoOthers() {
        let words = ["A=1", "AB=1", "A=2", "a=1", "A"].map { Array($0.utf8) }
        #expect(passedOn(words, adding: ["A": "3"]) == ["AB=1", "a=1", "A", "A=3"].map { Array($0.utf8) })
    }

    @Test func current_inAnOrdinaryProgram_isItsEnvironment() throws {
        try #require(!ProcessEnvironment.isPrivileged)
        #expect(ProcessEnvironment.current == ProcessInfo.processInfo.environment)
    }

    @Test func home_ofAUser_isThatOfTheUserDatabase() throws {
        let entry = try #require(getpwuid(0))
        #expect(ProcessEnvironment.homeOfUser(0) == String(cString: entry.pointee.pw_dir))
    }

    @Test func home_ofAUserWhomNobodyKnows_isNone() {
        #expect(ProcessEnvironment.homeOfUser(4_000_123_456) == nil)
    }
}
