// SPDX-License-Identifier: Apache-2.0
// What the guide uses and does not show: stand-ins for reducers and dependencies, and names that the app has.

import Foundation
import KeychainClient
import Synchronization
import Valet

// MARK: - swift-dependencies

/// In the guide a macro, which makes the closures' defaults. Here the attribute has only to be one.
@globalActor actor DependencyClient {
    static let shared = DependencyClient()
}

struct DependencyValues {
    var keychainClient = KeychainClient.unimplemented
}

/// What a test store does with the dependencies of a test.
func dependencies(withDependencies change: (inout DependencyValues) throws -> Void) rethrows -> DependencyValues {
    var values = DependencyValues()
    try change(&values)
    return values
}

// MARK: - The Composable Architecture

struct Effect<Action: Sendable>: Sendable {
    let run: @Sendable (Send<Action>) async throws -> Void

    static func run(_ body: @escaping @Sendable (Send<Action>) async throws -> Void) -> Effect { Effect(run: body) }
    static func send(_ action: Action) -> Effect { Effect { await $0(action) } }
}

struct Send<Action: Sendable>: Sendable {
    let receive: @Sendable (Action) async -> Void

    func callAsFunction(_ action: Action) async { await receive(action) }
}

extension Effect {
    /// Everything that the effect sends.
    func actions() async throws -> [Action] {
        let sent = Sent<Action>()
        try await run(Send { action in sent.append(action) })
        return sent.actions
    }
}

private final class Sent<Action: Sendable>: Sendable {
    private let state = Mutex<[Action]>([])

    var actions: [Action] { state.withLock { $0 } }

    func append(_ action: Action) { state.withLock { $0.append(action) } }
}

// MARK: - The app

enum LoginStatus { case unauthenticated, authenticated }

struct AuthenticationClient: Sendable {
    func determineLoginStatus() async throws -> LoginStatus { .authenticated }
}

struct Response: Equatable, Sendable {
    struct Body: Equatable, Sendable { var token: String? }
    var body: Body?
}

struct ResponseError: Error, Equatable {}

struct AppState: Sendable {
    var pendingUserData: UserData?
}

enum AppAction: Equatable, Sendable {
    enum Delegate: Equatable, Sendable { case loginCompleted, registrationCompleted, loggedOut }

    case loginResponse(Result<Response, ResponseError>)
    case registrationResponse(Result<Response, ResponseError>)
    case checkAuthStatus
    case authStatusChecked(LoginStatus)
    case logoutButtonTapped
    case setError(String)
    case delegate(Delegate)
}

/// Plain text, as the settings of an app are.
final class PlainSettings: Sendable {
    static let standard = PlainSettings()

    func set(_ value: String, forKey key: String) {}
}

/// What the guide's code prints, instead of the output of the tests.
final class Printed: Sendable {
    @TaskLocal static var current = Printed()
    private let state = Mutex<[String]>([])

    var lines: [String] { state.withLock { $0 } }

    func append(_ line: String) { state.withLock { $0.append(line) } }
}

func print(_ line: String) { Printed.current.append(line) }
