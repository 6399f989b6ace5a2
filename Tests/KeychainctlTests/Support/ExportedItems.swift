// SPDX-License-Identifier: Apache-2.0
// Items of all classes for tests of exports, and programs that read these files.

import Foundation
import KeychainTestSupport

enum ExportedItems {
    /// An export in clear text with as many items, of all classes, with attributes of all types.
    static func lines(_ count: Int) -> Data { document((0..<count).map(line)) }

    /// A whole document of these lines.
    static func document(_ items: [String]) -> Data {
        let first = "{\"format\":\"swift-keychain-export\",\"version\":1,\"items\":\(items.count)}"
        return Data((([first] + items).joined(separator: "\n") + "\n").utf8)
    }

    /// - Parameter fields: JSON of more attributes, each with a comma at its end.
    static func item(
        of itemClass: String = "generic-password", accessibility: String = "whenUnlocked", control: String = "null",
        group: String = "default", _ fields: String, value: String? = "dmFsdWU="
    ) -> String {
        let value = value.map { "\"\($0)\"" } ?? "null"
        return """
            {"class":"\(itemClass)","accessibility":"\(accessibility)","accessControl":\(control),"attributes":{\(fields)\
            "agrp":{"text":"\(group)"},"cdat":{"date":-0.1},"mdat":{"date":817317894.0323937},\
            "sha1":{"data":"RUzsvXpVJdyWSDpkZU2OM+z+2n8="},"sync":{"number":0}},"value":\(value)}
            """
    }

    static func login(_ account: String, control: String = "null", group: String = "default") -> String {
        item(control: control, group: group, "\"svce\":{\"text\":\"s\"},\"acct\":{\"text\":\"\(account)\"},")
    }

    private static let classes = ["whenUnlocked", "afterFirstUnlock", "always", "alwaysThisDeviceOnly"]

    private static func line(_ number: Int) -> String {
        let accessibility = classes[number / 4 % 4]
        let value =
            number % 50 == 4
            ? nil : Data(repeating: UInt8(number % 251), count: number % 97 == 1 ? 70_000 : number % 40)
        let (itemClass, fields) =
            switch number % 4 {
            case 0:
                (
                    "generic-password",
                    "\"svce\":{\"text\":\"s\(number)\"},\"acct\":{\"data\":\"/wA=\"},\"gena\":{\"data\":\"\"},"
                        + "\"labl\":{\"text\":\"é e\\u0301 \\u0007 \\\"\\\\ 🗝\"},\"crtr\":{\"number\":4294967295},"
                )
            case 1:
                (
                    "internet-password",
                    "\"srvr\":{\"text\":\"h\(number)\"},\"acct\":{\"text\":\"u\"},\"port\":{\"number\":\(number)},"
                        + "\"ptcl\":{\"text\":\"htps\"},\"sdmn\":{\"text\":\"\"},\"atyp\":{\"text\":\"\"},\"path\":{\"text\":\"\"},"
                        + "\"labl\":{\"number\":-9223372036854775808},"
                )
            case 2:
                (
                    "certificate",
                    "\"issr\":{\"data\":\"AQID\"},\"slnr\":{\"data\":\"\(Data(String(number).utf8).base64EncodedString())\"},"
                        + "\"ctyp\":{\"number\":3},"
                )
            default:
                (
                    "key",
                    "\"klbl\":{\"data\":\"AQID\"},\"atag\":{\"text\":\"t\(number)\"},\"kcls\":{\"number\":1},"
                        + "\"edat\":{\"date\":1e-7},\"priv\":{\"number\":1},"
                )
            }
        return item(of: itemClass, accessibility: accessibility, fields, value: value?.base64EncodedString())
    }
}

extension Tool {
    /// Published: it protects nothing.
    static let testRecipient = "age1l7aumkxgldqwgh6cj6dd794mtl7jjfw9tnh0yl08gupsc5apwywsazrr6l"
    static let testIdentity = "AGE-SECRET-KEY-1SH75L4A5EHDTKL8X26DN9U7NJ5UE0LCE7Y9EJ698XRX6DAA25MTQYYEAVG"

    static let hasAge = Programs.installed("age") != nil
    static let hasCryptography = canRunPython("import cryptography")

    private static func canRunPython(_ program: String) -> Bool {
        do {
            return try Tool().shell("\(pythonForTests) -c '\(program)'").status == 0
        } catch {
            return false
        }
    }

    /// The Python that has the package `cryptography`.
    static var pythonForTests: String {
        ProcessInfo.processInfo.environment["KEYCHAIN_TEST_PYTHON"].map { "'\($0)'" } ?? "python3"
    }

    static let testsFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Writes a file into the home folder.
    func write(_ bytes: Data, to name: String) throws { try bytes.write(to: home.appendingPathComponent(name)) }

    func file(_ name: String) throws -> Data { try Data(contentsOf: home.appendingPathComponent(name)) }

    /// Imports lines to which the sum is added.
    @discardableResult
    func take(_ document: Data, _ options: String = "--yes") throws -> Run {
        try write(document, to: "given.lines")
        return try shell(
            """
            { cat given.lines; printf '{"items":%d,"sha256":"%s"}\\n' "$(grep -c '"class"' given.lines)" \
            "$(sha256sum given.lines | cut -d ' ' -f 1)"; } > given.json
            "$CTL" import-archive given.json \(options)
            """)
    }

    /// The lines of all items, as an export in clear text has them.
    func exportedLines() throws -> [String] {
        let run = try shell("\"$CTL\" export all.json --clear-text json --replace && grep '\"class\"' all.json")
        return run.text.split(separator: "\n").map { String($0) }
    }
}
