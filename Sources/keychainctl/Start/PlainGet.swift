// SPDX-License-Identifier: Apache-2.0
// `get --service NAME --account NAME`, as scripts call it for each secret, read without the parser.

import ArgumentParser

/// For each type of an option that it meets, the parser lets Swift's runtime search all conformances of the program. That is more
/// than half of what a run of `get` costs.
enum PlainGet {
    /// - Returns: `nil` for words of any other form, which the parser reads: it also answers mistakes and requests for help.
    static func command(_ words: [String]) -> Keychainctl.Get? {
        guard words.count == 5, words[0] == "get" else { return nil }
        guard words[2].isPlainValue, words[4].isPlainValue else { return nil }
        switch (words[1], words[3]) {
        case ("-s", "-a"), ("-s", "--account"), ("--service", "-a"), ("--service", "--account"):
            return command(service: words[2], account: words[4])
        case ("-a", "-s"), ("-a", "--service"), ("--account", "-s"), ("--account", "--service"):
            return command(service: words[4], account: words[2])
        default: return nil
        }
    }

    /// All options get a value here. The parser's property wrappers end the program if an option is read that has none.
    private static func command(service: String, account: String) -> Keychainctl.Get? {
        var get = Keychainctl.Get()
        (get.item, get.unlock, get.stray) = (ItemOptions(service, account), UnlockOptions.none, StrayWords.none)
        (get.label, get.history) = (nil, nil)
        do {
            try get.validateAll()
            return get
        } catch {
            // The parser reports it.
            return nil
        }
    }
}

extension String {
    /// The parser takes what begins with a hyphen for an option.
    fileprivate var isPlainValue: Bool { !isEmpty && !hasPrefix("-") }
}

extension Keychainctl.Get {
    /// In the order of the parser.
    fileprivate mutating func validateAll() throws {
        try item.validate()
        try unlock.validate()
        try stray.validate()
        try validate()
    }
}

extension ItemOptions {
    fileprivate init(_ service: String, _ account: String) {
        self.init()
        (self.service, self.account, server, protocolCode) = (service, account, nil, nil)
        (port, path, securityDomain, accessGroup, synchronizable) = (nil, nil, nil, nil, nil)
    }
}

extension UnlockOptions {
    fileprivate static var none: UnlockOptions {
        var options = UnlockOptions()
        (options.passphraseFd, options.recoveryKey, options.recoveryKeyFd) = (nil, false, nil)
        (options.keyFile, options.keyFd, options.pinFd) = (nil, nil, nil)
        (options.credential, options.tpm2) = (false, false)
        return options
    }
}

extension StrayWords {
    fileprivate static var none: StrayWords {
        var stray = StrayWords()
        stray.words = []
        return stray
    }
}
