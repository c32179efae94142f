// libexpat's parser of XML 1.0, as far as XMLReader needs it.
//
// The library is loaded by the first `expat_new`, not when the program starts: most calls of transferctl read no XML.
#pragma once

#include <stddef.h>

/// An XML_Parser, and the memory that it has.
typedef struct expat_parser expat_parser;

/// What the parser calls, with the `context` of expat_new. Strings are UTF-8 and belong to the parser. A name in a namespace is
/// URI, line feed, local name; another name is the name alone.
typedef struct expat_handlers {
  /// `attributes`: name, value, name, value, …, NULL.
  void (*start)(void *context, const char *name, const char **attributes);
  void (*end)(void *context, const char *name);
  /// A part of a text, not terminated by a zero.
  void (*text)(void *context, const char *bytes, int count);
  /// The document declares a document type (DOCTYPE).
  void (*document_type)(
    void *context, const char *name, const char *system_id, const char *public_id, int has_internal_subset);
} expat_handlers;

/// `NULL`: the library cannot be loaded, or out of memory. Any thread may call it.
/// `memory`: bytes that the parser may have. It keeps each different name until it is freed.
expat_parser *expat_new(const expat_handlers *handlers, void *context, size_t memory);
void expat_free(expat_parser *parser);

/// 1, or 0 if the document is no XML or `expat_stop` was called. `is_last`: the document ends with these bytes.
int expat_parse(expat_parser *parser, const char *bytes, int count, int is_last);
/// For handlers: nothing more is parsed. An empty element that was begun may still call `end`.
void expat_stop(expat_parser *parser);

/// The offset of the token that the parser read last, or of the first byte of one that has not ended; -1: unknown. Between
/// handlers it keeps all bytes from there on, and reads them again with the next ones.
long long expat_offset(expat_parser *parser);
/// 1 if the parser failed because it may not have more memory.
int expat_is_full(expat_parser *parser);

/// What is wrong with the document, in words that belong to the library.
const char *expat_problem(expat_parser *parser);
/// From 1.
unsigned long expat_line(expat_parser *parser);
