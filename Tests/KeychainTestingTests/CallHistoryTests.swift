// SPDX-License-Identifier: Apache-2.0
// Histories of calls that fit together, and some that do not.

@_spi(Wrappers) import KeychainTesting
import Testing

@Suite("Histories of calls")
struct CallHistoryTests {
    @Test(arguments: [
        // The refused value was there before the refusal was told, and is replaced.
        ["save k a 1 2 ok", "save k b 3 6 timedOut", "read k b 4 5 ok", "save k c 7 8 ok", "read k c 9 9 ok"],
        // Refused, and yet made before the error was thrown.
        ["save k a 1 2 ok", "save k b 3 4 timedOut", "read k b 5 6 ok"],
        // Two at once: either may have been the last.
        ["save k a 1 4 ok", "save k b 2 3 ok", "read k a 5 6 ok"],
        ["save k a 1 2 ok", "remove k - 3 6 timedOut", "read k - 7 8 ok"],
    ])
    func history_thatFitsTogether_hasNoProblems(_ lines: [String]) throws {
        #expect(CallHistory(try lines.map { try #require(RecordedCall($0)) }).problems == [])
    }

    @Test(arguments: [
        (
            ["save k a 1 2 timedOut", "save k b 3 4 ok", "read k a 5 6 ok"],
            ["a, refused, is there after save b", "save b was acknowledged, and a is there"]
        ),
        (
            ["save k a 1 2 ok", "read k - 3 4 ok"],
            ["a is gone, and nobody has removed it", "save a was acknowledged, and - is there"]
        ),
        (
            ["remove k - 1 2 timedOut", "save k a 3 4 ok", "read k - 5 6 ok"],
            ["a is gone, and nobody has removed it", "save a was acknowledged, and - is there"]
        ),
        (["save k a 1 2 ok", "save k b 3 4 ok", "read k a 5 6 ok"], ["save b was acknowledged, and a is there"]),
    ])
    func history_thatDoesNot_saysWhatIsWrong(_ lines: [String], _ problems: [String]) throws {
        #expect(CallHistory(try lines.map { try #require(RecordedCall($0)) }).problems == problems)
    }

    @Test func call_writtenAsALine_isReadAgain() throws {
        let call = RecordedCall.lastLook(at: "key", found: nil)
        #expect(try #require(RecordedCall(call.line)).line == call.line)
        #expect(RecordedCall("read key") == nil)
    }
}
