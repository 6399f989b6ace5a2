// SPDX-License-Identifier: Apache-2.0
// The protocol of an internet password: the usual name is "https", Apple's code is "htps".

import ArgumentParser

/// The four characters of Apple's `kSecAttrProtocol…` constants.
struct ProtocolCode: ExpressibleByArgument {
    static let defaultCompletionKind = CompletionKind.list(
        (names.keys + ["http", "imap", "ldap", "pop3", "smtp"]).sorted())

    let code: String

    /// Usual names that differ from the code, or are not four characters long.
    private static let names = [
        "afp": "afp ", "ftp": "ftp ", "https": "htps", "imaps": "imps", "ipp": "ipp ", "irc": "irc ", "ldaps": "ldps",
        "nntps": "ntps", "pop3s": "pops", "smb": "smb ", "socks": "sox ", "ssh": "ssh ", "telnet": "teln",
        "telnets": "tels",
    ]

    /// The usual name of a code, which the option also accepts; the code itself if it has none.
    static func name(of code: String) -> String { names.first { $0.value == code }?.key ?? code }

    /// - Returns: `nil` for anything except a known name or four printable ASCII characters.
    init?(argument: String) {
        if let code = Self.names[argument.lowercased()] {
            self.code = code
        } else {
            let isCode = argument.utf8.count == 4 && argument.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            guard isCode else { return nil }
            code = argument
        }
    }
}
