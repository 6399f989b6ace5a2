// SPDX-License-Identifier: Apache-2.0
// The progress of long work on many items.

/// The number of items so far, on a line of standard error that is overwritten; nothing if that is not a terminal.
final class ProgressLine {
    private static let step = 100

    private let isQuiet: Bool
    private var isShown = false

    /// - Parameter isQuiet: Whether nothing is shown.
    init(isQuiet: Bool = false) { self.isQuiet = isQuiet }

    func show(_ count: Int) {
        guard !isQuiet else { return }
        Output.showProgress("\(count) items")
        isShown = true
    }

    /// The same for work that counts each item: one number in a hundred is sufficient.
    func count(_ count: Int) {
        if count > 0, count.isMultiple(of: Self.step) { show(count) }
    }

    /// Ends the line, if there is one. Call it before anything else is printed.
    func end() {
        if isShown { Output.showProgress("\n") }
        isShown = false
    }
}
