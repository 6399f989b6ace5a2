// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file
// The snippets of the guide “Keychain Storage (Valet)”, in its order, and the values that they give.

import Foundation
import KeychainClient
import Testing
import Valet

import class KeychainKit.MemoryStore

private let user = UserData(email: "a@example.com", firstName: "A", lastName: "L", identifier: "42")

/// The guide's declarations, in a namespace of their own beside those of the module.
private enum Guide {
    // MARK: KeychainClient Interface
@DependencyClient
struct KeychainClient {
  // User data
  var getUserData: @Sendable () async throws -> UserData
  var setUserData: @Sendable (_ userData: UserData) async throws -> Void
  var deleteUserData: @Sendable () async throws -> Void

  // JWT Token
  var getJwtToken: @Sendable () async throws -> String?
  var setJwtToken: @Sendable (_ token: String) async throws -> Void
  var deleteJwtToken: @Sendable () async throws -> Void

  // Device registration
  var getDeviceData: @Sendable () async throws -> DeviceData?
  var setDeviceData: @Sendable (_ deviceData: DeviceData) async throws -> Void
  var deleteDeviceData: @Sendable () async throws -> Void

  // Quick checks
  var getUserIdentifier: @Sendable () async throws -> String?
}

    // MARK: Keychain Keys
enum KeychainKeys {
  static let email = "email"
  static let firstName = "firstName"
  static let lastName = "lastName"
  static let identifier = "identifier"
  static let jwtToken = "jwtToken"
  static let endpointArn = "endpointArn"
}
}

@Suite("Snippets of the guide")
struct Snippets {
    private let valet: Valet
    private let keychainClient: KeychainClient
    private let memory = MemoryStore()

    init() throws {
        valet = Valet.valet(
            with: try #require(Identifier(nonEmpty: "com.yourapp.keychain")), accessibility: .whenUnlocked
        ).using(memory)
        keychainClient = .live(valet: valet)
    }

    // MARK: - Valet Configuration

    @Test func setup_ofTheGuide_makesTwoValets() throws {
// Standard keychain
let valet = Valet.valet(
  with: Identifier(nonEmpty: "com.yourapp.keychain")!,
  accessibility: .whenUnlocked
)

// Secure Enclave (biometric protected)
let secureValet = SecureEnclaveValet.valet(
  with: Identifier(nonEmpty: "com.yourapp.secure")!,
  accessControl: .userPresence
)

        #expect(valet.identifier.description == "com.yourapp.keychain")
        #expect(valet.accessibility == .whenUnlocked)
        #expect(secureValet.identifier.description == "com.yourapp.secure")
        #expect(secureValet.accessControl == .userPresence)
        defer { try? valet.removeAllObjects() }
        try valet.setString("s3cret", forKey: "snippet")
        #expect(try valet.string(forKey: "snippet") == "s3cret")
        let tested = secureValet.using(MemoryStore(passphrase: "p"))
        try tested.setString("s3cret", forKey: "snippet")
        #expect(try tested.containsObject(forKey: "snippet"))
    }

    @Test(arguments: [
        (Valet.Accessibility.whenUnlocked, "ak"), (.afterFirstUnlock, "ck"), (.whenUnlockedThisDeviceOnly, "aku"),
    ])
    func accessibilityOption_ofTheGuide_isTheOneOfItsName(accessibility: Valet.Accessibility, constant: String) throws {
        #expect(accessibility.secAccessibilityAttribute == constant)
        let valet = Valet.valet(with: valet.identifier, accessibility: accessibility).using(memory)
        try valet.setString("1", forKey: "key")
        memory.lockState = .locked
        let isReadable = accessibility == .afterFirstUnlock
        #expect((try? valet.string(forKey: "key")) == (isReadable ? "1" : nil))
        memory.lockState = .beforeFirstUnlock
        #expect((try? valet.string(forKey: "key")) == nil)
    }

    // MARK: - KeychainClient Interface, Keychain Keys

    @Test func interface_ofTheGuide_hasTheClosuresOfTheModule() async throws {
        let live = keychainClient
        let client = await Guide.KeychainClient(live)
        try await client.setUserData(user)
        #expect(try await live.getUserData() == user)
        try await client.setJwtToken("t")
        #expect(try await client.getJwtToken() == "t")
        #expect(try await client.getUserIdentifier() == "42")
        #expect(try await client.getDeviceData() == nil)
    }

    @Test func keys_ofTheGuide_areThoseOfTheModule() {
        #expect(Guide.KeychainKeys.email == KeychainKeys.email)
        #expect(Guide.KeychainKeys.firstName == KeychainKeys.firstName)
        #expect(Guide.KeychainKeys.lastName == KeychainKeys.lastName)
        #expect(Guide.KeychainKeys.identifier == KeychainKeys.identifier)
        #expect(Guide.KeychainKeys.jwtToken == KeychainKeys.jwtToken)
        #expect(Guide.KeychainKeys.endpointArn == KeychainKeys.endpointArn)
    }

    // MARK: - Implementation Patterns

    private var storingToken: KeychainClient {
        KeychainClient(
setJwtToken: { token in
  print("üîë KeychainClient.setJwtToken called")
  try valet.setString(token, forKey: KeychainKeys.jwtToken)
}
        )
    }

    private var retrievingToken: KeychainClient {
        KeychainClient(
getJwtToken: {
  print("üîë KeychainClient.getJwtToken called")
  do {
    return try valet.string(forKey: KeychainKeys.jwtToken)
  } catch {
    // errSecItemNotFound (-25300) means no token stored
    if (error as NSError).code == -25300 {
      return nil
    }
    throw error
  }
}
        )
    }

    private var storingUser: KeychainClient {
        KeychainClient(
setUserData: { userData in
  print("üîë KeychainClient.setUserData called")
  try valet.setString(userData.email, forKey: KeychainKeys.email)
  try valet.setString(userData.firstName, forKey: KeychainKeys.firstName)
  try valet.setString(userData.lastName, forKey: KeychainKeys.lastName)
  try valet.setString(userData.identifier, forKey: KeychainKeys.identifier)
}
        )
    }

    private var retrievingUser: KeychainClient {
        KeychainClient(
getUserData: {
  print("üîë KeychainClient.getUserData called")
  let email = try valet.string(forKey: KeychainKeys.email)
  let firstName = try valet.string(forKey: KeychainKeys.firstName)
  let lastName = try valet.string(forKey: KeychainKeys.lastName)
  let identifier = try valet.string(forKey: KeychainKeys.identifier)

  return UserData(
    email: email,
    firstName: firstName,
    lastName: lastName,
    identifier: identifier
  )
}
        )
    }

    private var deleting: KeychainClient {
        client {
        }deleteJwtToken: {
  print("üîë KeychainClient.deleteJwtToken called")
  try valet.removeObject(forKey: KeychainKeys.jwtToken)
}

deleteUserData: {
  print("üîë KeychainClient.deleteUserData called")
  try valet.removeObject(forKey: KeychainKeys.email)
  try valet.removeObject(forKey: KeychainKeys.firstName)
  try valet.removeObject(forKey: KeychainKeys.lastName)
  try valet.removeObject(forKey: KeychainKeys.identifier)
}
    }

    /// The guide shows these two in another order than its interface has them.
    private func client(
        _: () -> Void, deleteJwtToken: @escaping @Sendable () async throws -> Void,
        deleteUserData: @escaping @Sendable () async throws -> Void
    ) -> KeychainClient {
        KeychainClient(deleteUserData: deleteUserData, deleteJwtToken: deleteJwtToken)
    }

    @Test func token_inTheGuidesPattern_isStoredReadAndDeleted() async throws {
        #expect(try await retrievingToken.getJwtToken() == nil)
        try await storingToken.setJwtToken("t0ken")
        #expect(try await retrievingToken.getJwtToken() == "t0ken")
        #expect(try await keychainClient.getJwtToken() == "t0ken")
        try await deleting.deleteJwtToken()
        #expect(try await retrievingToken.getJwtToken() == nil)
    }

    @Test func token_inTheGuidesPattern_isNotNilWhileTheKeychainIsLocked() async throws {
        try await storingToken.setJwtToken("t0ken")
        memory.lockState = .locked
        await #expect(throws: Valet.KeychainError.couldNotAccessKeychain) { try await retrievingToken.getJwtToken() }
    }

    @Test func user_inTheGuidesPattern_isStoredReadAndDeleted() async throws {
        try await storingUser.setUserData(user)
        #expect(try await retrievingUser.getUserData() == user)
        #expect(try await keychainClient.getUserData() == user)
        try await deleting.deleteUserData()
        await #expect(throws: Valet.KeychainError.itemNotFound) { try await retrievingUser.getUserData() }
        await #expect(throws: Valet.KeychainError.itemNotFound) { try await keychainClient.getUserData() }
    }

    // MARK: - Usage in Features

    private let authenticationClient = AuthenticationClient()

    private func reduce(_ state: AppState, _ action: AppAction) -> Effect<AppAction> {
        switch action {
case let .loginResponse(.success(response)):
  guard let token = response.body?.token else {
    return .send(.setError("No token received"))
  }

  return .run { send in
    try await keychainClient.setJwtToken(token)
    await send(.delegate(.loginCompleted))
  }

        default:
            return reduceRegistration(state, action)
        }
    }

    private func reduceRegistration(_ state: AppState, _ action: AppAction) -> Effect<AppAction> {
        switch action {
case let .registrationResponse(.success(response)):
  guard let token = response.body?.token else {
    return .send(.setError("No token received"))
  }

  return .run { [userData = state.pendingUserData] send in
    if let userData {
      try await keychainClient.setUserData(userData)
    }
    try await keychainClient.setJwtToken(token)
    await send(.delegate(.registrationCompleted))
  }

case .checkAuthStatus:
  return .run { send in
    if let identifier = try await keychainClient.getUserIdentifier() {
      // User has registered before
      let status = try await authenticationClient.determineLoginStatus()
      await send(.authStatusChecked(status))
    } else {
      // New user
      await send(.authStatusChecked(.unauthenticated))
    }
  }

case .logoutButtonTapped:
  return .run { send in
    try await keychainClient.deleteJwtToken()
    // Optionally keep user data for quick re-login
    await send(.delegate(.loggedOut))
  }

        default:
            return .run { _ in }
        }
        #if false
            // In the guide this name is unused; here that would be a warning.
            _ = identifier
        #endif
    }

    private func actions(_ action: AppAction, _ state: AppState = AppState()) async throws -> [AppAction] {
        try await reduce(state, action).actions()
    }

    @Test func login_ofTheGuide_storesTheToken() async throws {
        let response = Response(body: Response.Body(token: "t0ken"))
        #expect(try await actions(.loginResponse(.success(response))) == [.delegate(.loginCompleted)])
        #expect(try valet.string(forKey: KeychainKeys.jwtToken) == "t0ken")
        let missing = try await actions(.loginResponse(.success(Response())))
        #expect(missing == [.setError("No token received")])
    }

    @Test func registration_ofTheGuide_storesUserAndToken() async throws {
        let response = Response(body: Response.Body(token: "t0ken"))
        let sent = try await actions(.registrationResponse(.success(response)), AppState(pendingUserData: user))
        #expect(sent == [.delegate(.registrationCompleted)])
        #expect(try await keychainClient.getUserData() == user)
        #expect(try await keychainClient.getJwtToken() == "t0ken")
    }

    @Test func authCheck_ofTheGuide_asksForTheIdentifier() async throws {
        #expect(try await actions(.checkAuthStatus) == [.authStatusChecked(.unauthenticated)])
        try await keychainClient.setUserData(user)
        #expect(try await actions(.checkAuthStatus) == [.authStatusChecked(.authenticated)])
    }

    @Test func logout_ofTheGuide_deletesTheTokenAlone() async throws {
        try await keychainClient.setUserData(user)
        try await keychainClient.setJwtToken("t0ken")
        #expect(try await actions(.logoutButtonTapped) == [.delegate(.loggedOut)])
        #expect(try await keychainClient.getJwtToken() == nil)
        #expect(try await keychainClient.getUserData() == user)
    }

    // MARK: - Error Handling

    private func missingItem(_ error: any Error) throws -> String? {
// Error code -25300 means item not found
if (error as NSError).code == -25300 {
  return nil  // Return nil instead of throwing
}

        throw error
    }

    private func reading(_ key: String) throws -> String? {
        // The guide throws an error that only a `catch` without a pattern has.
        let error = KeychainError.couldNotAccessKeychain
// Valet throws KeychainError for various failures
do {
  return try valet.string(forKey: key)
} catch KeychainError.itemNotFound {
  return nil
} catch KeychainError.couldNotAccessKeychain {
  print("‚ö†Ô∏è Keychain access denied")
  throw error
}

    }

    @Test func missingItem_ofTheGuide_hasTheCode() throws {
        do {
            _ = try valet.string(forKey: "missing")
            Issue.record("There is an item.")
        } catch {
            #expect(try missingItem(error) == nil)
        }
        memory.lockState = .locked
        do {
            try valet.setString("1", forKey: "key")
            Issue.record("The store is open.")
        } catch {
            #expect(throws: Valet.KeychainError.couldNotAccessKeychain) { try missingItem(error) }
        }
    }

    @Test func valetErrors_ofTheGuide_areToldApart() throws {
        #expect(try reading("key") == nil)
        try valet.setString("1", forKey: "key")
        #expect(try reading("key") == "1")
        memory.lockState = .locked
        #expect(throws: Valet.KeychainError.couldNotAccessKeychain) { try reading("key") }
    }

    // MARK: - Testing

    @Test func dependencies_ofTheGuide_areReplaced() async throws {
        let values = dependencies(
withDependencies: {
  // Has token
  $0.keychainClient.getJwtToken = { "test-token" }

  // No token
  $0.keychainClient.getJwtToken = { nil }

  // Has user
  $0.keychainClient.getUserIdentifier = { "test-user-id" }
  $0.keychainClient.getUserData = {
    UserData(email: "test@test.com", firstName: "Test", lastName: "User", identifier: "test-id")
  }

  // Storage
  $0.keychainClient.setJwtToken = { _ in }
  $0.keychainClient.setUserData = { _ in }
}
        )
        let client = values.keychainClient
        #expect(try await client.getJwtToken() == nil)
        #expect(try await client.getUserIdentifier() == "test-user-id")
        #expect(try await client.getUserData().email == "test@test.com")
        try await client.setJwtToken("t0ken")
        try await client.setUserData(user)
    }

    // MARK: - Anti-Patterns

    @Test func tokensPlace_ofTheGuide_isTheKeychain() async throws {
        typealias UserDefaults = PlainSettings
        let token = "t0ken"
// ‚ùå FORBIDDEN - Insecure
UserDefaults.standard.set(token, forKey: "token")

// ‚úÖ CORRECT - Keychain storage
try await keychainClient.setJwtToken(token)

        #expect(try valet.string(forKey: KeychainKeys.jwtToken) == token)
    }

    /// The code that is meant to be the good one makes the start of the token, and does not print it.
    @Test func logging_ofTheGuide_showsTheTokenInItsBadExampleOnly() {
        let printed = Printed()
        Printed.$current.withValue(printed) {
            let token = "eyJhbGciOiJIUzI1NiJ9.payload.signature"
// ‚ùå FORBIDDEN
print("Token: \(token)")

// ‚úÖ CORRECT - Log existence only
let tokenPreview = String(token.prefix(20)) + "..."
print("üîë Token stored (\(token.count) chars)")

            #expect(tokenPreview.hasPrefix("eyJ"))
            #expect(printed.lines.count == 2)
            #expect(printed.lines.first?.contains(token) == true)
            #expect(printed.lines.last?.contains("eyJ") == false)
        }
    }
}

extension Guide.KeychainClient {
    init(_ client: KeychainClient) {
        self.init(
            getUserData: client.getUserData, setUserData: client.setUserData, deleteUserData: client.deleteUserData,
            getJwtToken: client.getJwtToken, setJwtToken: client.setJwtToken, deleteJwtToken: client.deleteJwtToken,
            getDeviceData: client.getDeviceData, setDeviceData: client.setDeviceData,
            deleteDeviceData: client.deleteDeviceData, getUserIdentifier: client.getUserIdentifier)
    }
}
