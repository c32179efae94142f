// libcurl for Swift: one typed inline function for each argument type of the variadic calls in <curl/curl.h>. Swift cannot
// import variadic C functions, and does not see the types that libcurl's macros check.
#pragma once

#include <curl/curl.h>

static inline CURLcode transfer_setopt_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode transfer_setopt_offset(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode transfer_setopt_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode transfer_setopt_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode transfer_setopt_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}

// libcurl copies the bytes (CURL_BLOB_COPY).
static inline CURLcode transfer_setopt_blob(CURL *handle, CURLoption option, const void *bytes, size_t count) {
  struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
  return curl_easy_setopt(handle, option, &blob);
}

typedef int (*transfer_ready_callback)(void *context, char *, char *, int, int);

static inline CURLcode transfer_setopt_ready_callback(CURL *handle, transfer_ready_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, callback);
}

typedef curl_socket_t (*transfer_open_socket_callback)(
    void *context, curlsocktype purpose, struct curl_sockaddr *address);

static inline CURLcode transfer_setopt_open_socket_callback(CURL *handle, transfer_open_socket_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
}

typedef size_t (*transfer_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*transfer_seek_callback)(void *context, curl_off_t offset, int origin);

static inline CURLcode transfer_setopt_data_callback(
    CURL *handle, CURLoption option, transfer_data_callback callback) {
  return curl_easy_setopt(handle, option, callback);
}

static inline CURLcode transfer_setopt_seek_callback(CURL *handle, transfer_seek_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, callback);
}

typedef int (*transfer_progress_callback)(
    void *context, curl_off_t toReceive, curl_off_t received, curl_off_t toSend, curl_off_t sent);
typedef int (*transfer_host_key_callback)(void *context, int type, const char *key, size_t length);

static inline CURLcode transfer_setopt_progress_callback(CURL *handle, transfer_progress_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, callback);
}

static inline CURLcode transfer_setopt_host_key_callback(CURL *handle, transfer_host_key_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_SSH_HOSTKEYFUNCTION, callback);
}

static inline CURLcode transfer_getinfo_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode transfer_getinfo_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode transfer_getinfo_string(CURL *handle, CURLINFO info, const char **value) {
  char *text = NULL;
  CURLcode code = curl_easy_getinfo(handle, info, &text);
  *value = text;
  return code;
}

static inline CURLcode transfer_getinfo_pointer(CURL *handle, CURLINFO info, void **value) {
  return curl_easy_getinfo(handle, info, value);
}

// CURL_SOCKET_BAD without a connection.
static inline curl_socket_t transfer_getinfo_socket(CURL *handle) {
  curl_socket_t value = CURL_SOCKET_BAD;
  return curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &value) == CURLE_OK ? value : CURL_SOCKET_BAD;
}

static inline CURLcode transfer_getinfo_certificates(CURL *handle, struct curl_certinfo **value) {
  return curl_easy_getinfo(handle, CURLINFO_CERTINFO, value);
}

static inline CURLMcode transfer_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

typedef int (*transfer_socket_callback)(
    CURL *handle, curl_socket_t socket, int what, void *context, void *assigned);
typedef int (*transfer_timer_callback)(CURLM *multi, long milliseconds, void *context);

static inline void transfer_multi_setopt_socket_callback(
    CURLM *multi, transfer_socket_callback callback, void *context) {
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
}

static inline void transfer_multi_setopt_timer_callback(CURLM *multi, transfer_timer_callback callback, void *context) {
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

// Macros that Swift does not import with the right type.
static const size_t TRANSFER_WRITEFUNC_PAUSE = CURL_WRITEFUNC_PAUSE;
static const size_t TRANSFER_READFUNC_PAUSE = CURL_READFUNC_PAUSE;
static const size_t TRANSFER_READFUNC_ABORT = CURL_READFUNC_ABORT;
static const curl_socket_t TRANSFER_SOCKET_BAD = CURL_SOCKET_BAD;
static const curl_socket_t TRANSFER_SOCKET_TIMEOUT = CURL_SOCKET_TIMEOUT;
static const long TRANSFER_GLOBAL_DEFAULT = CURL_GLOBAL_DEFAULT;
static const long TRANSFER_SSLVERSION_TLSv1_2 = CURL_SSLVERSION_TLSv1_2;
static const long TRANSFER_SSLVERSION_MAX_TLSv1_2 = CURL_SSLVERSION_MAX_TLSv1_2;
static const long TRANSFER_SSLVERSION_TLSv1_3 = CURL_SSLVERSION_TLSv1_3;
static const long TRANSFER_HTTP_VERSION_1_1 = CURL_HTTP_VERSION_1_1;
static const long TRANSFER_IPRESOLVE_V4 = CURL_IPRESOLVE_V4;
static const long TRANSFER_IPRESOLVE_V6 = CURL_IPRESOLVE_V6;
static const long TRANSFER_AUTH_BASIC = CURLAUTH_BASIC;
static const long TRANSFER_AUTH_DIGEST = CURLAUTH_DIGEST;
static const long TRANSFER_PIPE_MULTIPLEX = CURLPIPE_MULTIPLEX;

// CURLE_TOO_LARGE is newer than libcurl 7.88, the oldest supported version.
static const unsigned TRANSFER_TOO_LARGE_CODE = 100;
// CURLE_ECH_REQUIRED was added in 8.8.
static const unsigned TRANSFER_ECH_REQUIRED_CODE = 101;
// CURLINFO_QUEUE_TIME_T was added in 8.6; an older libcurl returns CURLE_UNKNOWN_OPTION.
static const unsigned TRANSFER_INFO_QUEUE_TIME = CURLINFO_OFF_T + 65;

// The OpenSSL object (SSL *) of the transfer's connection; NULL without a connection or with another TLS library.
static inline void *transfer_openssl_session(CURL *handle) {
  struct curl_tlssessioninfo *session = NULL;
  if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) return NULL;
  return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

static inline const char *transfer_tls_library(void) { return curl_version_info(CURLVERSION_NOW)->ssl_version; }

static inline const char *transfer_version(void) { return curl_version_info(CURLVERSION_NOW)->version; }
