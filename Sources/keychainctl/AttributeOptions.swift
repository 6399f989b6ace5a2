// SPDX-License-Identifier: Apache-2.0
// The options for attributes that people read.

import ArgumentParser
import KeychainKit

/// An existing item keeps what is not given.
struct AttributeOptions: ParsableArguments {
    @Option(help: "A name for people. An existing item keeps its label unless this is given.")
    var label: String?

    @Option(help: ArgumentHelp("A comment for people.", valueName: "text"))
    var comment: String?

    @Option(help: ArgumentHelp("The kind of item, for people, such as 'API token'.", valueName: "text"))
    var kind: String?

    var given: ItemAttributes { ItemAttributes(label: label, comment: comment, itemDescription: kind) }

    var areGiven: Bool { label != nil || comment != nil || kind != nil }
}
