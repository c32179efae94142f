#include "CCrypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

crypto_context *crypto_context_new(void) { return OSSL_LIB_CTX_new(); }

crypto_algorithm *crypto_fetch(crypto_context *context, const char *name) { return EVP_MD_fetch(context, name, NULL); }

crypto_digest *crypto_digest_new(void) { return EVP_MD_CTX_new(); }

void crypto_digest_free(crypto_digest *digest) { EVP_MD_CTX_free(digest); }

int crypto_digest_start(crypto_digest *digest, const crypto_algorithm *algorithm) {
  return EVP_DigestInit_ex2(digest, algorithm, NULL) == 1;
}

int crypto_digest_update(crypto_digest *digest, const void *bytes, size_t count) {
  return EVP_DigestUpdate(digest, bytes, count) == 1;
}

int crypto_digest_copy(crypto_digest *to, const crypto_digest *from) { return EVP_MD_CTX_copy_ex(to, from) == 1; }

int crypto_digest_end(crypto_digest *digest, unsigned char *out) { return EVP_DigestFinal_ex(digest, out, NULL) == 1; }

int crypto_hmac(
  crypto_context *context, const char *algorithm, const void *key, size_t key_count, const unsigned char *message,
  size_t message_count, unsigned char *out, size_t size, size_t *count) {
  return EVP_Q_mac(
           context, "HMAC", NULL, algorithm, NULL, key, key_count, message, message_count, out, size, count)
         != NULL;
}

int crypto_compare(const void *first, const void *second, size_t count) { return CRYPTO_memcmp(first, second, count); }
