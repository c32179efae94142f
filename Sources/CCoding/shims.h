// Decoders of HTTP's content codings: zlib, brotli, zstd; and what their macros hide from Swift.
#pragma once

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

static inline int coding_inflate_begin(z_stream *stream, int window_bits) { return inflateInit2(stream, window_bits); }
