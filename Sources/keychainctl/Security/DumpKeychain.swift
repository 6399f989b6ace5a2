// SPDX-License-Identifier: Apache-2.0
// security dump-keychain: every item, and their values after a question.

import Foundation
import KeychainAuthenticators
import KeychainKit
import SecretMemory

enum DumpKeychain {
    static func dump(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("adri0")
        try endingWithOne { () throws(SecurityFailure) in
            guard !options.has("r"), !options.has("i") else {
                throw SecurityFailure(
                    "dump-keychain", SecurityStatus.unsupported,
                    "Items have no raw form and no access control lists here, so -r and -i do nothing. Leave them out.")
            }
            let found = try call.everything(ItemClass.allCases, in: call.searched(options.words))
            if options.has("d"), !found.isEmpty { try confirm(found.count) }
            guard !options.isJSON else { return try writeJSON(call, found, options) }
            for item in found { try write(call, item, options) }
        }
    }

    /// macOS asks for each item; a script without a terminal cannot dump values there either.
    private static func confirm(_ count: Int) throws(SecurityFailure) {
        try naming("SecKeychainItemCopyContent") { () throws(KeychainError) in
            let answer = try Terminal.ask { (terminal) throws(KeychainError) in
                try terminal.line(
                    "Show the values of \(count == 1 ? "1 item" : "\(count) items") in plain text? [y/N] ")
            }
            let text = answer.map { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } } ?? ""
            guard ["y", "yes"].contains(text.lowercased()) else {
                throw KeychainError(.cancelled, "Nothing was shown.")
            }
        }
    }

    private static func write(
        _ call: SecurityCall, _ found: FoundPassword, _ options: SecurityOptions
    ) throws(SecurityFailure) {
        try naming("write") { () throws(KeychainError) in try Output.write(found.block.text) }
        if options.has("a") {
            try naming("write") { () throws(KeychainError) in try Output.write(access(found.item)) }
        }
        guard options.has("d") else { return }
        var value = try call.value(of: found, "SecKeychainItemCopyContent")
        var form = ValueForm.bytes(value)
        defer {
            value.wipe()
            form.wipe()
        }
        try naming("write") { () throws(KeychainError) in
            try Output.write("data:\n")
            try Output.write(form)
            try Output.write("\n")
        }
    }

    /// The one rule that every item has here.
    private static func access(_ item: KeychainItem) -> String {
        """
        access: 1 entries
            entry 0:
                authorizations (1): any
                \(item.requiresAuthentication ? "require-password" : "don't-require-password")
                description: \((item.displayText(of: .label) ?? "").escaped)
                applications: <null>

        """
    }

    private static func writeJSON(
        _ call: SecurityCall, _ found: [FoundPassword], _ options: SecurityOptions
    ) throws(SecurityFailure) {
        var objects: [FoundPasswordJSON] = []
        for item in found {
            let value = options.has("d") ? try call.value(of: item, "SecKeychainItemCopyContent") : nil
            objects.append(FoundPasswordJSON(found: item, value: value))
        }
        try naming("write") { () throws(KeychainError) in try Output.write(JSONOutput.line(objects)) }
    }
}
