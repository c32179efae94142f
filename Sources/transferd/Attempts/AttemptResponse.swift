import Store
import TransferAPI
import TransferEngine

/// The result of an attempt, a download or an upload. Indirect, because responses are large, and each is passed on several times.
indirect enum AttemptResponse: Sendable {
  case download(FileResponse)
  case upload(FileUploadResponse)
  case listing(ListingResponse)

  var error: TransferError? {
    switch self {
    case .download(let response): response.error
    case .upload(let response): response.error
    case .listing(let response): response.error
    }
  }

  var head: ResponseHead? {
    switch self {
    case .download(let response): response.head
    case .upload(let response): response.head
    case .listing: nil
    }
  }

  var respondingOrigin: String? {
    switch self {
    case .download(let response): response.respondingOrigin
    case .upload(let response): response.respondingOrigin
    case .listing: nil
    }
  }
}
