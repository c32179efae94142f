/// A user requested a verb that the job's state does not allow.
public struct InvalidTransition: Error, Equatable, Sendable, CustomStringConvertible {
  public let state: JobState
  public let event: JobEvent

  public init(state: JobState, event: JobEvent) {
    self.state = state
    self.event = event
  }

  public var description: String {
    let hint =
      switch (state, event) {
      case (.failed, .resume), (.cancelled, .resume): "; use retry"
      case (.paused, .retry): "; use resume"
      default: ""
      }
    return "cannot \(event.rawValue) a job that is \(state.rawValue)\(hint)"
  }
}
