// SPDX-License-Identifier: Apache-2.0
// Asking from asynchronous code.

public import KeychainEngine

extension Authenticator {
    /// Asks on a separate thread, so that a question that is open for minutes does not block a thread of Swift's pool.
    /// Cancelling the task cancels the question.
    ///
    /// ```swift
    /// let answer = try await authenticator.askDetached(AuthenticationQuestion(.passphrase, reason: "Unlock the vault"))
    /// ```
    ///
    /// - Throws: The errors of `ask`.
    public func askDetached(
        _ question: AuthenticationQuestion
    ) async throws(KeychainError) -> AuthenticationAnswer {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                do throws(KeychainError) {
                    try WaitingThread.start { continuation.resume(returning: outcome(of: question)) }
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        } onCancel: {
            question.cancellation.cancel()
        }
        return try result.get()
    }

    private func outcome(of question: AuthenticationQuestion) -> Outcome {
        Outcome { () throws(KeychainError) in try ask(question) }
    }
}

private typealias Outcome = Result<AuthenticationAnswer, KeychainError>
