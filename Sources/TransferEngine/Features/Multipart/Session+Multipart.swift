import HTTPTypes

/// Uploads of multipart forms.
extension Session {
  /// A form of any size, sent in constant memory. The closure is called before this method returns. Files that it
  /// appends are examined, but not read. A part that cannot be appended fails the request.
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

  /// A form as the body of a request that describes itself.
  public func upload(
    multipartFormData: (MultipartFormData) -> Void, with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil
  ) -> UploadRequest {
    let form = MultipartFormData()
    multipartFormData(form)
    return upload(multipartFormData: form, with: convertible, interceptor: interceptor)
  }

  /// A form as it is now; parts that are appended later are not sent. Every attempt has the same boundary.
  public func upload(
    multipartFormData: MultipartFormData, to convertible: any URLConvertible, method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(UploadSource(multipartFormData), source(convertible, method, headers, requestModifier), interceptor)
  }

  /// A form as it is now, as the body of a request that describes itself.
  public func upload(
    multipartFormData: MultipartFormData, with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil
  ) -> UploadRequest {
    upload(UploadSource(multipartFormData), RequestSource(convertible), interceptor)
  }
}
