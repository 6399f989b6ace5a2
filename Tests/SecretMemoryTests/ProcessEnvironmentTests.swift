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
