// SPDX-License-Identifier: Apache-2.0
// What the guide takes for granted: a little of SwiftUI, and values of its readers' programs.

import Foundation
import Synchronization

@MainActor protocol View {
    associatedtype Body
    var body: Body { get }
}

@MainActor @propertyWrapper final class State<Value> {
    var wrappedValue: Value

    init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

struct Text: View {
    let words: String
    var appearance: @MainActor () async -> Void = {}

    init(_ words: String) { self.words = words }

    var body: Never { fatalError("It is drawn by nobody.") }

    func task(_ action: @escaping @MainActor () async -> Void) -> Text {
        var copy = self
        copy.appearance = action
        return copy
    }
}

struct UserPreferences: Codable, Equatable {
    var theme = "dark"
}

extension DefaultStringInterpolation {
    /// The guide prints a date that may be absent, of which the compiler would warn.
    mutating func appendInterpolation(_ date: Date?) {
        appendLiteral(date.map { $0.description } ?? "unknown")
    }
}
