// SPDX-License-Identifier: Apache-2.0
// The progress of long work on many items.

/// The number of items so far, on a line of standard error that is overwritten; nothing if that is not a terminal.
final class ProgressLine {
    private static let step = 100

    private let isQuiet: Bool
    private var isShown = false
    /// The longest text so far. Work that is done twice begins again with a shorter number.
    private var width = 0

    /// - Parameter isQuiet: Whether nothing is shown.
    init(isQuiet: Bool = false) { self.isQuiet = isQuiet }

    /// Work that calls the closure with the number of items so far. The line ends with it.
    static func counting<Result, Failure: Error>(
        _ work: (_ progress: (Int) -> Void) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let line = ProgressLine()
        defer { line.end() }
        return try work { line.count($0) }
    }

    func show(_ count: Int) {
        guard !isQuiet else { return }
        let text = count == 1 ? "1 item" : "\(count) items"
        Output.showProgress(text + String(repeating: " ", count: max(0, width - text.count)))
        width = max(width, text.count)
        isShown = true
    }

    /// The same for work that counts each item: one number in a hundred is sufficient.
    func count(_ count: Int) {
        if count > 0, count.isMultiple(of: Self.step) { show(count) }
    }

    /// Ends the line, if there is one. Call it before anything else is printed.
    func end() {
        if isShown { Output.showProgress("\n") }
        (isShown, width) = (false, 0)
    }
}
