// Digests and HMAC of OpenSSL's libcrypto, 3.0 or newer.
//
// OpenSSL's own headers are included in crypto.c alone: they would make a second copy of <pthread.h> visible to Swift.
//
// The library is loaded by the first `crypto_load`, not when the program starts: most calls of transferctl need no digest.
// Of the functions below, only `crypto_load` and `crypto_context_new` may be called before a `crypto_load` that succeeded.
#pragma once

#include <stddef.h>

/// OSSL_LIB_CTX(3)
typedef struct ossl_lib_ctx_st crypto_context;
/// EVP_MD(3)
typedef struct evp_md_st crypto_algorithm;
/// EVP_MD_CTX(3)
typedef struct evp_md_ctx_st crypto_digest;

/// Loads the library. Any thread may call it, any number of times.
/// Returns `NULL`, or why the library cannot be used (dlerror(3)).
const char *crypto_load(void);

/// `NULL`: the library cannot be loaded, or out of memory.
crypto_context *crypto_context_new(void);
/// The algorithm called `name`, or `NULL`.
crypto_algorithm *crypto_fetch(crypto_context *context, const char *name);

/// `NULL`: out of memory.
crypto_digest *crypto_digest_new(void);
void crypto_digest_free(crypto_digest *digest);

// These return 1, or 0 if out of memory.
int crypto_digest_start(crypto_digest *digest, const crypto_algorithm *algorithm);
int crypto_digest_update(crypto_digest *digest, const void *bytes, size_t count);
int crypto_digest_copy(crypto_digest *to, const crypto_digest *from);
/// Writes the algorithm's whole digest to `out`. The digest cannot be updated afterwards.
int crypto_digest_end(crypto_digest *digest, unsigned char *out);
/// Writes the code to `out`, which has `size` bytes, and its length to `count`. `key` must not be NULL.
int crypto_hmac(
  crypto_context *context, const char *algorithm, const void *key, size_t key_count, const unsigned char *message,
  size_t message_count, unsigned char *out, size_t size, size_t *count);

/// 0 when the bytes are equal. The time does not depend on their values.
int crypto_compare(const void *first, const void *second, size_t count);
