import HTTPTypes

/// Uploads of multipart forms.
extension Session {
  /// A form of any size, sent in constant memory. The closure is called now, and what it appends is looked at, not read;
  /// what cannot be appended fails the request.
  public func upload(
    multipartFormData: (MultipartFormData) -> Void, to convertible: any URLConvertible, method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    let form = MultipartFormData()
    multipartFormData(form)
    return upload(
      multipartFormData: form, to: convertible, method: method, headers: headers, interceptor: interceptor,
      requestModifier: requestModifier)
  }

  /// A form as the body of a request that says itself what it is.
  public func upload(
    multipartFormData: (MultipartFormData) -> Void, with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil
  ) -> UploadRequest {
    let form = MultipartFormData()
    multipartFormData(form)
    return upload(multipartFormData: form, with: convertible, interceptor: interceptor)
  }

  /// A form as it is now; what is appended later is not sent. Every attempt has the same boundary.
  public func upload(
    multipartFormData: MultipartFormData, to convertible: any URLConvertible, method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(UploadSource(multipartFormData), source(convertible, method, headers, requestModifier), interceptor)
  }

  /// A form as it is now, as the body of a request that says itself what it is.
  public func upload(
    multipartFormData: MultipartFormData, with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil
  ) -> UploadRequest {
    upload(UploadSource(multipartFormData), RequestSource(convertible), interceptor)
  }
}
