#include "CCrypto.h"

#include <dlfcn.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>

#define TEXT_OF(value) #value
#define TEXT(macro) TEXT_OF(macro)
// The name of the library that these headers describe; its number changes with its binary interface.
#define LIBRARY "libcrypto.so." TEXT(OPENSSL_SHLIB_VERSION)

#define FUNCTIONS(EACH) \
  EACH(CRYPTO_memcmp) \
  EACH(EVP_DigestFinal_ex) \
  EACH(EVP_DigestInit_ex2) \
  EACH(EVP_DigestUpdate) \
  EACH(EVP_MD_CTX_copy_ex) \
  EACH(EVP_MD_CTX_free) \
  EACH(EVP_MD_CTX_new) \
  EACH(EVP_MD_fetch) \
  EACH(EVP_Q_mac) \
  EACH(OSSL_LIB_CTX_new)

#define POINTER(name) static __typeof__(&name) p_##name;
FUNCTIONS(POINTER)

static char problem[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
#define LOOK_UP(name) && (p_##name = (__typeof__(p_##name))dlsym(library, #name))
  if (library FUNCTIONS(LOOK_UP)) return;
  const char *reason = dlerror();
  snprintf(problem, sizeof problem, "%s", reason ? reason : LIBRARY " cannot be loaded");
}

const char *crypto_load(void) {
  pthread_once(&once, load);
  return problem[0] ? problem : NULL;
}

crypto_context *crypto_context_new(void) { return crypto_load() ? NULL : p_OSSL_LIB_CTX_new(); }

crypto_algorithm *crypto_fetch(crypto_context *context, const char *name) { return p_EVP_MD_fetch(context, name, NULL); }

crypto_digest *crypto_digest_new(void) { return p_EVP_MD_CTX_new(); }

void crypto_digest_free(crypto_digest *digest) { p_EVP_MD_CTX_free(digest); }

int crypto_digest_start(crypto_digest *digest, const crypto_algorithm *algorithm) {
  return p_EVP_DigestInit_ex2(digest, algorithm, NULL) == 1;
}

int crypto_digest_update(crypto_digest *digest, const void *bytes, size_t count) {
  return p_EVP_DigestUpdate(digest, bytes, count) == 1;
}

int crypto_digest_copy(crypto_digest *to, const crypto_digest *from) { return p_EVP_MD_CTX_copy_ex(to, from) == 1; }

int crypto_digest_end(crypto_digest *digest, unsigned char *out) { return p_EVP_DigestFinal_ex(digest, out, NULL) == 1; }

int crypto_hmac(
  crypto_context *context, const char *algorithm, const void *key, size_t key_count, const unsigned char *message,
  size_t message_count, unsigned char *out, size_t size, size_t *count) {
  return p_EVP_Q_mac(
           context, "HMAC", NULL, algorithm, NULL, key, key_count, message, message_count, out, size, count)
         != NULL;
}

int crypto_compare(const void *first, const void *second, size_t count) { return p_CRYPTO_memcmp(first, second, count); }
