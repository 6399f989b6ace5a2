// SPDX-License-Identifier: Apache-2.0
// The exports of KeePassXC: CSV, and XML, which has groups, own attributes and former values.

import Foundation
import KeychainKit

enum KeePassFormat {
    /// The first bytes of a .kdbx file.
    private static let databaseMark: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A]

    static func records(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [ImportRecord] {
        guard !bytes.starts(with: databaseMark) else {
            throw .notA(
                "an export of KeePassXC",
                "it is the database itself, which only its own program opens. Run: keepassxc-cli export --format csv, or "
                    + "--format xml, which has more.")
        }
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard bytes[start...].first(where: { $0 > 0x20 }) == UInt8(ascii: "<") else {
            return try CSVFormat.keepassxc.records(bytes)
        }
        let name = "an XML export of KeePassXC"
        var reader = KeePassReader(xml: XMLReader(try ImportText.checked(withLongLines: bytes, name), format: name))
        return try reader.records()
    }
}

/// Reads a document `KeePassFile`. Elements with times, icons, colours and the state of the window are passed over; all others
/// that no item is made of are reported.
private struct KeePassReader {
    var xml: XMLReader
    private var entries: [ImportRecord] = []
    private var count = 0
    /// Places with parts of an unknown kind.
    private var unknown: Set<String> = []
    /// The identifier of the group that has what was removed.
    private var recycleBin: String?

    /// They may be anywhere.
    private static let passedOver: Set<String> = [
        "UUID", "IconID", "CustomIconUUID", "ForegroundColor", "BackgroundColor", "Tags", "Times", "QualityCheck",
        "PreviousParentGroup", "IsExpanded", "EnableAutoType", "EnableSearching", "LastTopVisibleEntry",
        "DeletedObjects",
    ]
    /// What KeePassXC keeps for itself.
    private static let ownData: Set<String> = [
        "_LAST_MODIFIED", "_CREATED", "KPXC_DECRYPTION_TIME_PREFERENCE", "KPXC_RANDOM_SLUG",
    ]
    private static let noGroup = "AAAAAAAAAAAAAAAAAAAAAA=="
    /// Each entry has the path of its groups.
    private static let longestPath = 4096

    init(xml: XMLReader) { self.xml = xml }

    mutating func records() throws(KeychainError) -> [ImportRecord] {
        try xml.root("KeePassFile")
        var hasRoot = false
        while let part = try xml.child() {
            switch part {
            case "Meta": try readMeta()
            case "Root":
                hasRoot = true
                try readRoot()
            default: try skip(part, of: "the document")
            }
        }
        try xml.finish()
        guard hasRoot else { throw .notA(xml.format, "it has no element 'Root'.") }
        return entries
    }

    private mutating func readMeta() throws(KeychainError) {
        let origin = "the database"
        while let part = try xml.child() {
            switch part {
            case "RecycleBinUUID":
                let identifier = try string()
                recycleBin = identifier == Self.noGroup || identifier.isEmpty ? nil : identifier
            case "DatabaseDescription": if try hasText() { leaveOut("its description is", of: origin) }
            case "DefaultUserName": if try hasText() { leaveOut("its default user name is", of: origin) }
            case "CustomData":
                let count = try countOfCustomData()
                if count > 0 { leaveOut("its \(count) part(s) of custom data are", of: origin) }
            // The rest are settings, and the attachments, which the entries name.
            default: try xml.skip()
            }
        }
    }

    private mutating func readRoot() throws(KeychainError) {
        while let part = try xml.child() {
            if part == "Group" {
                try readGroup(in: nil, isRemoved: false)
            } else {
                try skip(part, of: "the document")
            }
        }
    }

    /// - Parameter parent: The path of the group around it; `nil` for the outermost one, whose name is no part of a path.
    private mutating func readGroup(in parent: String?, isRemoved: Bool) throws(KeychainError) {
        var (path, isRemoved, hasName) = (parent ?? "", isRemoved, false)
        var origin: String { path.isEmpty ? "the outermost group" : "the group \(path)" }
        while let part = try xml.child() {
            switch part {
            case "UUID": if try string() == recycleBin { isRemoved = true }
            case "Name":
                guard !hasName else { throw xml.unreadable("A group has a second name.") }
                (path, hasName) = (try groupPath(try string(), in: parent), true)
            case "Entry": try readEntry(in: path, isRemoved: isRemoved)
            case "Group": try readGroup(in: path, isRemoved: isRemoved)
            case "Notes": if try hasText() { leaveOut("its notes are", of: origin) }
            case "DefaultAutoTypeSequence": if try hasText() { leaveOut("its auto-type sequence is", of: origin) }
            case "CustomData":
                let count = try countOfCustomData()
                if count > 0 { leaveOut("its \(count) part(s) of custom data are", of: origin) }
            default: try skip(part, of: origin)
            }
        }
    }

    private func groupPath(_ name: String, in parent: String?) throws(KeychainError) -> String {
        guard let parent else { return "" }
        let path = parent.isEmpty ? name : parent + "/" + name
        guard path.utf8.count <= Self.longestPath else {
            throw xml.unreadable("The path of a group is longer than \(Self.longestPath) bytes.")
        }
        return path
    }

    private mutating func readEntry(in group: String, isRemoved: Bool) throws(KeychainError) {
        count += 1
        guard count <= ImportLimits.entries else { throw .tooManyEntries }
        var entry = KeePassEntry(origin: "entry \(count)", group: group, isRemoved: isRemoved)
        var hasUnknownPart = false
        while let part = try xml.child() {
            switch part {
            case "String":
                guard entry.add(try readString()) else { throw xml.unreadable("An entry has an attribute twice.") }
            case "Binary":
                entry.attachments += 1
                try xml.skip()
            case "History": entry.formerValues += try readHistory()
            case "AutoType": if try hasSequence() { entry.leftOut.append("its auto-type sequences are not imported") }
            case "OverrideURL": if try hasText() { entry.leftOut.append("its override URL is not imported") }
            case "CustomData":
                let count = try countOfCustomData()
                if count > 0 { entry.leftOut.append("its \(count) part(s) of custom data are not imported") }
            case _ where Self.passedOver.contains(part): try xml.skip()
            default:
                hasUnknownPart = true
                try xml.skip()
            }
        }
        if hasUnknownPart { entry.leftOut.append("parts of an unknown kind are not imported") }
        entries += entry.records
    }

    private mutating func readString() throws(KeychainError) -> (key: String, value: Data) {
        var (key, value): (String?, Data?)
        while let part = try xml.child() {
            switch part {
            case "Key" where key == nil: key = try string()
            case "Value" where value == nil:
                guard xml.attributes["Protected"]?.lowercased() != "true" else {
                    throw .notA(xml.format, "its values are encrypted. Export with: keepassxc-cli export -f xml")
                }
                value = try xml.text()
            default: throw xml.unreadable("An attribute of an entry has more than a key and a value.")
            }
        }
        guard let key, let value else { throw xml.unreadable("An attribute of an entry has no key or no value.") }
        return (key, value)
    }

    /// - Returns: The number of former states.
    private mutating func readHistory() throws(KeychainError) -> Int {
        var count = 0
        while let part = try xml.child() {
            if part == "Entry" { count += 1 }
            try xml.skip()
        }
        return count
    }

    // MARK: - What is left out

    private mutating func leaveOut(_ what: String, of origin: String) {
        entries.append(ImportRecord(leavingOut: nil, what + " not imported", origin: origin))
    }

    private mutating func skip(_ part: String, of origin: String) throws(KeychainError) {
        // One line for all of them.
        if !Self.passedOver.contains(part), unknown.insert(origin).inserted {
            leaveOut("parts of an unknown kind are", of: origin)
        }
        try xml.skip()
    }

    private mutating func hasText() throws(KeychainError) -> Bool {
        var text = try xml.text()
        defer { text.wipe() }
        return !text.isEmpty
    }

    /// Whether an entry has keystrokes of its own. Whether they are switched on is a setting.
    private mutating func hasSequence() throws(KeychainError) -> Bool {
        var isFound = false
        while let part = try xml.child() {
            switch part {
            case "DefaultSequence": if try hasText() { isFound = true }
            case "Association":
                isFound = true
                try xml.skip()
            default: try xml.skip()
            }
        }
        return isFound
    }

    private mutating func countOfCustomData() throws(KeychainError) -> Int {
        var count = 0
        while try xml.child() != nil {
            count += 1
            while let part = try xml.child() {
                if part != "Key" {
                    try xml.skip()
                } else if Self.ownData.contains(try string()) {
                    count -= 1
                }
            }
        }
        return count
    }

    private mutating func string() throws(KeychainError) -> String {
        String(decoding: try xml.text(), as: UTF8.self)
    }
}

/// One entry with its attributes.
private struct KeePassEntry {
    let isRemoved: Bool
    var attachments = 0
    var formerValues = 0
    /// Which other parts are not imported.
    var leftOut: [String] = []
    private var login: ImportedLogin
    /// As bytes: KeePassXC and the vault tell names apart that Swift takes for the same text.
    private var keys: Set<[UInt8]> = []
    private var otherAddresses: [String] = []
    /// Whether a part of its name is a reference, so that the name is not known.
    private var hasUnknownName = false

    init(origin: String, group: String, isRemoved: Bool) {
        self.isRemoved = isRemoved
        login = ImportedLogin(origin: origin)
        login.group = group
    }

    /// - Returns: Whether it is the only attribute of this name.
    mutating func add(_ attribute: (key: String, value: Data)) -> Bool {
        guard keys.insert(Array(attribute.key.utf8)).inserted else { return false }
        addNew(attribute.key, attribute.value)
        return true
    }

    private mutating func addNew(_ key: String, _ value: Data) {
        guard !value.isEmpty else { return }
        var text: String { String(decoding: value, as: UTF8.self) }
        guard !value.hasReference else { return addReference(key) }
        switch key {
        case "Title": login.title = text
        case "UserName": login.account = text
        case "URL": login.addresses = [text]
        case "Password": login.password = value
        case "Notes": login.add("notes", value)
        case "otp": login.add("one-time password", value)
        // Further addresses, which the browsers' extension of KeePassXC uses too.
        case _ where key.hasPrefix("KP2A_URL"): otherAddresses.append(text)
        default: login.add("field \(key)", value)
        }
    }

    /// What KeePassXC would put in place of the reference is in another entry.
    private mutating func addReference(_ key: String) {
        if ["Title", "UserName", "URL"].contains(key) { hasUnknownName = true }
        login.unsupported.append("a value that refers to another entry is not imported")
    }

    var records: [ImportRecord] {
        let name: String? = login.title.isEmpty ? nil : login.title
        if isRemoved { return [ImportRecord(leavingOut: name, "it is in the recycle bin", origin: login.origin)] }
        if hasUnknownName {
            return [ImportRecord(skipping: name, "its name refers to another entry", origin: login.origin)]
        }
        var login = login
        // The first address names the item.
        login.addresses += otherAddresses
        if attachments > 0 { login.unsupported.append("its \(attachments) attachment(s) are not imported") }
        if formerValues > 0 { login.leftOut.append("its \(formerValues) former value(s) are not imported") }
        login.leftOut += leftOut
        return login.records
    }
}

extension Data {
    /// Whether it contains `{REF:`, which begins a reference to an attribute of another entry.
    fileprivate var hasReference: Bool {
        let mark = Array("{ref:".utf8)
        return indices.contains { start in
            self[start] == mark[0] && self[start...].prefix(mark.count).map { $0 | 0x20 } == mark
        }
    }
}
