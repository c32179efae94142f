/// The usual reason phrases (RFC 9110 §15); HTTP/2 sends none.
enum StatusText {
  static func phrase(_ status: Int) -> String {
    let phrases = [
      204: "No Content", 300: "Multiple Choices", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized",
      403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 407: "Proxy Authentication Required",
      408: "Request Timeout", 409: "Conflict", 410: "Gone", 412: "Precondition Failed", 413: "Content Too Large",
      416: "Range Not Satisfiable", 423: "Locked", 425: "Too Early", 429: "Too Many Requests",
      451: "Unavailable For Legal Reasons", 500: "Internal Server Error", 502: "Bad Gateway",
      503: "Service Unavailable", 504: "Gateway Timeout", 507: "Insufficient Storage",
    ]
    return phrases[status].map { " (\($0))" } ?? ""
  }
}
