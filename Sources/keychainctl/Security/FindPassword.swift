// SPDX-License-Identifier: Apache-2.0
// security find-, delete- and set-…-partition-list for passwords.

import Foundation
import KeychainKit

enum FindPassword {
    static func findGeneric(_ call: SecurityCall) throws(SecurityFailure) {
        try find(call, call.options(PasswordAttributes.genericLetters + "gw0"), .genericPassword)
    }

    static func findInternet(_ call: SecurityCall) throws(SecurityFailure) {
        try find(call, call.options(PasswordAttributes.internetLetters + "gw0"), .internetPassword)
    }

    private static func find(
        _ call: SecurityCall, _ options: SecurityOptions, _ itemClass: ItemClass
    ) throws(SecurityFailure) {
        let attributes = try PasswordAttributes(options, itemClass)
        let found = try call.first(attributes, in: call.searched(options.words))
        guard options.has("w") || options.has("g") else { return try write(found, nil, options) }
        var value = try call.value(of: found, "SecKeychainItemCopyContent")
        defer { value.wipe() }
        if options.isJSON { return try write(found, value, options) }
        guard options.has("w") else {
            try write(found, nil, options)
            return writeQuoted(value)
        }
        try write(value, isExact: options.has("0"))
    }

    // MARK: - Output

    private static func write(
        _ found: FoundPassword, _ value: Data?, _ options: SecurityOptions
    ) throws(SecurityFailure) {
        try naming("write") { () throws(KeychainError) in
            guard options.isJSON else { return try Output.write(found.block.text) }
            try Output.write(JSONOutput.line(FoundPasswordJSON(found: found, value: value)))
        }
    }

    /// - Parameter isExact: The bytes as they are, and a NUL: scripts can tell text from digits.
    private static func write(_ value: Data, isExact: Bool) throws(SecurityFailure) {
        var form = isExact ? value : ValueForm.plain(value)
        defer { form.wipe() }
        try naming("write") { () throws(KeychainError) in
            try Output.write(form)
            try Output.write(isExact ? "\0" : "\n")
        }
    }

    private static func writeQuoted(_ value: Data) {
        var form = ValueForm.bytes(value)
        defer { form.wipe() }
        Output.writeToErrors(Data("password: ".utf8))
        Output.writeToErrors(form)
        Output.writeToErrors(Data("\n".utf8))
    }

    // MARK: - Deleting

    static func deleteGeneric(_ call: SecurityCall) throws(SecurityFailure) {
        try delete(call, call.options(PasswordAttributes.genericLetters), .genericPassword)
    }

    static func deleteInternet(_ call: SecurityCall) throws(SecurityFailure) {
        try delete(call, call.options(PasswordAttributes.internetLetters), .internetPassword)
    }

    private static func delete(
        _ call: SecurityCall, _ options: SecurityOptions, _ itemClass: ItemClass
    ) throws(SecurityFailure) {
        guard options.hasAny(of: "asclCDGjdpPrt") else { throw .usage() }
        let attributes = try PasswordAttributes(options, itemClass)
        let found = try call.first(attributes, in: call.searched(options.words))
        try naming("SecKeychainItemDelete") { () throws(KeychainError) in
            guard try call.session.catalog.remove(found.item) else {
                throw KeychainError(.itemNotFound, "The item was removed meanwhile.")
            }
        }
        try naming("write") { () throws(KeychainError) in
            try Output.write(
                options.isJSON ? JSONOutput.line(FoundPasswordJSON(found: found)) : found.block.text,
                after: "The password has been deleted.")
        }
        call.session.say("password has been deleted.")
    }

    // MARK: - Partition lists

    static func partitionGeneric(_ call: SecurityCall) throws(SecurityFailure) {
        try partition(call, PasswordAttributes.genericLetters, .genericPassword)
    }

    static func partitionInternet(_ call: SecurityCall) throws(SecurityFailure) {
        try partition(call, PasswordAttributes.internetLetters, .internetPassword)
    }

    private static func partition(
        _ call: SecurityCall, _ letters: String, _ itemClass: ItemClass
    ) throws(SecurityFailure) {
        let options = try call.options(letters + "S:k:", mayLackValue: ["k"])
        let attributes = try PasswordAttributes(options, itemClass)
        try endingWithOne { () throws(SecurityFailure) in
            try finishPartition(call, options, call.all(attributes, in: call.searched(options.words)))
        }
    }

    static func partitionKeys(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("a:c:D:j:l:S:k:t:dersuvw", mayLackValue: ["k"])
        try endingWithOne { () throws(SecurityFailure) in
            let keys = try call.everything([.key], in: call.searched(options.words)).filter { found in
                options["l"].map { $0 == found.item.label } ?? true
            }
            try finishPartition(call, options, keys)
        }
    }

    private static func finishPartition(
        _ call: SecurityCall, _ options: SecurityOptions, _ found: [FoundPassword]
    ) throws(SecurityFailure) {
        guard options["S"] != nil else { throw .usage() }
        if options["k"] != nil { call.session.warnOfArgument("the password") }
        guard !found.isEmpty else { throw SecurityFailure("SecItemCopyMatching", SecurityStatus.itemNotFound) }
        try naming("write") { () throws(KeychainError) in
            try Output.write(found.map(\.block.text).joined())
        }
        call.session.say(
            "security: The partition list has no effect here, and nothing was changed: programs of the same user can read "
                + "every item.")
    }
}

/// An item in JSON: the keys of `keychainctl list --json` and more. `password` is there if it was asked for.
struct FoundPasswordJSON: Encodable {
    let found: FoundPassword
    var value: Data?

    private enum Key: String, CodingKey {
        case keychain, comment, kind, creator, type, generic, securityDomain, authenticationType
        case password, passwordBase64
    }

    func encode(to encoder: any Encoder) throws {
        let item = found.item
        try ItemJSON(item: ListedItem(item: item)).encode(to: encoder)
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(found.keychain.path, forKey: .keychain)
        try object.encode(item.displayText(of: .comment), forKey: .comment)
        try object.encode(item.displayText(of: .itemDescription), forKey: .kind)
        try object.encode(item.creator.map(Self.code), forKey: .creator)
        try object.encode(item.type.map(Self.code), forKey: .type)
        try object.encode(item.generic?.base64EncodedString(), forKey: .generic)
        try object.encode(item.securityDomain, forKey: .securityDomain)
        try object.encode(item.authenticationType?.rawValue, forKey: .authenticationType)
        guard let value else { return }
        let text = String(validating: value, as: UTF8.self)
        try object.encode(text, forKey: .password)
        if text == nil { try object.encode(value.base64EncodedString(), forKey: .passwordBase64) }
    }

    /// Four characters, or the number if some cannot be shown.
    private static func code(_ number: UInt32) -> String {
        let bytes = withUnsafeBytes(of: number.bigEndian) { Data($0) }
        return bytes.allSatisfy { (0x20...0x7E).contains($0) }
            ? String(decoding: bytes, as: UTF8.self) : String(number)
    }
}
