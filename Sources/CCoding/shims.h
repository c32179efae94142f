// Decoders for HTTP content codings: zlib, brotli, zstd. Swift cannot import inflateInit2, which is a macro.
#pragma once

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

static inline int coding_inflate_begin(z_stream *stream, int window_bits) { return inflateInit2(stream, window_bits); }
