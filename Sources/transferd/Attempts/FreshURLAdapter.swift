import Store
import Synchronization
import TransferAPI
import TransferEngine

/// Asks for another URL of a job's file when the server refuses the one that the job has: a signed URL has expired.
///
/// It is made for one attempt of the job and asks once. The URL that it gets is a secret. It is used for the rest of the attempt
/// and is neither stored nor shown; the next attempt begins with the job's own URL again.
final class FreshURLAdapter: RequestInterceptor {
  private let reference: SecretReference
  private let resolver: SecretResolver
  private let state = Mutex(State())

  private struct State {
    var hasAsked = false
    var url: RequestURL?
  }

  /// Statuses that say that a URL is not valid any more.
  static let statuses: Set<Int> = [401, 403, 404, 410]

  /// `nil` if the job has no `urlFrom`.
  init?(_ spec: JobSpec, _ resolver: SecretResolver) {
    guard let reference = spec.options.download.urlFrom else { return nil }
    self.reference = reference
    self.resolver = resolver
  }

  func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    guard let url = state.withLock(\.url) else { return request }
    return request.moved(to: url)
  }

  func retry(_ attempt: FailedAttempt, for session: Session) async -> RetryResult {
    guard let status = attempt.error.status, Self.statuses.contains(status), isFirst() else { return .doNotRetry }
    do throws(SecretResolver.Unavailable) {
      let url = try await url()
      state.withLock { $0.url = url }
      return .retry
    } catch {
      return .doNotRetryWithError(error)
    }
  }

  private func isFirst() -> Bool {
    state.withLock { state in
      defer { state.hasAsked = true }
      return !state.hasAsked
    }
  }

  /// - Throws: an error whose description holds nothing of the URL.
  private func url() async throws(SecretResolver.Unavailable) -> RequestURL {
    let text = try await resolver.secret(reference)
    guard let url = try? RequestURL(text), url.isHTTP else {
      let name = if case .command = reference { "the command" } else { reference.description }
      throw SecretResolver.Unavailable(
        description: "cannot get a new URL: what \(name) gives is no http or https URL",
        isTransient: SecretResolver.mayChange(reference))
    }
    return url
  }
}
