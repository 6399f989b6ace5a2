// SPDX-License-Identifier: Apache-2.0
// The protocol of an internet password: people say "https", Apple's keychain says "htps".

import ArgumentParser

/// The four characters that Apple's `kSecAttrProtocol…` constants hold.
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

    /// The usual name of a code, which the option takes as well; the code itself if there is none.
    static func name(of code: String) -> String { names.first { $0.value == code }?.key ?? code }

    /// - Returns: `nil` for what is neither a known name nor four printable ASCII characters.
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
