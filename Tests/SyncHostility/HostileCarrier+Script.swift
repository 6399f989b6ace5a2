// SPDX-License-Identifier: Apache-2.0
// The script of a hostile carrier: what it shows, and what it makes of calls.

package import Foundation
package import KeychainSync
package import KeychainSyncCore

extension HostileCarrier {
    // MARK: - What it shows

    /// Changes what is shown, after everything that was scripted before.
    package func show(_ change: @escaping @Sendable (inout Objects) -> Void) {
        self.change { $0.script.append(change) }
    }

    /// Hides objects, from now on.
    package func withhold(_ isHidden: @escaping @Sendable (ObjectName) -> Bool) {
        show { objects in objects = objects.filter { !isHidden($0.key) } }
    }

    /// Shows an earlier state, and nothing that came later.
    package func rollBack(to objects: Objects) { show { $0 = objects } }

    /// Shows these contents under a name instead of what is there.
    package func forge(_ name: ObjectName, _ contents: [Data]) { show { $0[name] = contents } }

    /// Shows one more object under a name.
    package func replay(_ bytes: Data, as name: ObjectName) { show { $0[name, default: []].append(bytes) } }

    /// Shows each of two objects under the name of the other.
    package func swap(_ first: ObjectName, _ second: ObjectName) {
        show { ($0[first], $0[second]) = ($0[second], $0[first]) }
    }

    /// Shows only the first bytes of what lies under a name.
    package func truncate(_ name: ObjectName, to count: Int) {
        show { $0[name] = $0[name]?.map { Data($0.prefix(count)) } }
    }

    /// Shows many more objects.
    package func flood(_ objects: Objects) { show { $0.merge(objects) { $0 + $1 } } }

    /// From now on this machine sees what is there now and what it publishes itself, and the others do not see that.
    package func fork() async throws(CarrierFailure) {
        let objects = try await shown()
        change { $0.fork = objects }
    }

    /// Forgets the script and the fork, and gives each answer once, at once.
    package func behave() {
        release()
        change { state in
            state = State(published: state.published)
        }
    }

    // MARK: - What it makes of calls

    /// The next call fails.
    package func fail(_ failure: CarrierFailure) { change { $0.failures.append(failure) } }

    /// Stores segments, and says that others lie under their names.
    package func deny(_ isDenied: @escaping @Sendable (ObjectName) -> Bool) { change { $0.denied = isDenied } }

    /// Removes nothing.
    package func keepEverything() { change { $0.keepsEverything = true } }

    /// Says of everything that it is stored, and stores nothing.
    package func loseEverything() { change { $0.losesEverything = true } }

    /// Does not tell what lies under names without reading it, as a carrier may.
    package func tellNoContents() { change { $0.tellsContents = false } }

    /// Lets nobody know that something was published, as a carrier may.
    package func tellNoChanges() { change { $0.tellsChanges = false } }

    /// Gives each object several times.
    package func `repeat`(_ copies: Int) { change { $0.copies = copies } }

    /// Answers some more calls, and then none until ``release()``.
    package func hold(after count: Int = 0) { change { $0.answered = count } }

    /// Answers the calls that wait, and all that follow.
    package func release() {
        let held = change { state in
            defer { (state.answered, state.held) = (nil, []) }
            return state.held
        }
        for call in held { call.resume() }
    }
}
