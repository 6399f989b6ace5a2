// SPDX-License-Identifier: Apache-2.0
// Checks: every value comes back as it was given.

import Foundation
import KeychainEngine

extension StoreConformance {
    /// Values that must be distinguished: none, empty, text, all bytes, and one mebibyte.
    private static let samples: [(name: String, value: Data?)] = [
        ("none", nil), ("empty", Data()), ("text", Data("päss wörd 🔑".utf8)), ("binary", Data(0...255)),
        ("zero", Data([0])), ("large", Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })),
    ]

    static let values: [Check] = [
        Check("value_ofAnyKind_isReadAsItWasInserted") { trial in
            for (name, value) in samples {
                try trial.insert(trial.item(name, value: value))
                try trial.expect(try trial.only(.account(name)).item.value == value, "the \(name) value")
            }
        },
        Check("value_ofAnyKind_isReadAsItWasUpdated") { trial in
            try trial.insert(trial.item())
            for (name, value) in samples where value != nil {
                try trial.setValue(value)
                try trial.expect(try trial.only().item.value == value, "the \(name) value")
            }
        },
        Check("value_takenAwayByAnUpdate_isGoneOrTheUpdateUnsupported") { trial in
            try trial.insert(trial.item())
            try trial.unlessUnsupported { () throws(KeychainError) in
                try trial.setValue(nil)
            } then: { isDone in
                try trial.expect(try trial.only().item.value == (isDone ? nil : .sample), "all of the change or none")
            }
        },
        Check("attribute_ofEachType_isReturnedInItsType") { trial in
            let given: [(Attribute, AttributeValue)] = [
                (.label, .string("a label, \u{E9} and e\u{301}")), (.generic, .data(Data(0...255))),
                (.comment, .number(-7)), (.itemDescription, .string("")), (.creator, .number(1_234_567_890)),
                (.isInvisible, .number(1)),
            ]
            let item = given.reduce(trial.item()) { $0.with($1.0, $1.1) }
            try trial.insert(item)
            let found = try trial.only().item
            for (attribute, value) in given {
                try trial.expect(found.attributes[attribute] == value, "'\(attribute)' as it was given")
            }
        },
        Check("attribute_notGiven_staysAbsent") { trial in
            try trial.insert(trial.item())
            let found = try trial.only().item
            for attribute: Attribute in [.label, .generic, .comment, .creator] {
                try trial.expect(found.attributes[attribute] == nil, "no '\(attribute)'")
            }
        },
        Check("attributes_ofAKey_areReturned") { trial in
            let item = trial.item("", .key).with(.applicationLabel, .data(Data(0...255)))
                .with(.applicationTag, .string("tag")).with(.startDate, .date(123.5)).with(.keySizeInBits, .number(256))
            try trial.insert(item)
            try trial.expect(try trial.only(.all(of: .key)).item.content == item.content, "the attributes given")
        },
    ]
}

extension Trial {
    /// For changes that a store may refuse completely.
    func unlessUnsupported<Result>(
        _ call: () throws(KeychainError) -> Result, then check: (_ isDone: Bool) throws -> Void
    ) throws {
        do throws(KeychainError) {
            _ = try call()
        } catch {
            try expect(isReason(.unsupported, error), "success or 'unsupported'", came: error.word)
            return try check(false)
        }
        try check(true)
    }
}
