#include "CExpat.h"

#include <dlfcn.h>
#include <expat.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#define FUNCTIONS(EACH) \
  EACH(XML_ErrorString) \
  EACH(XML_GetCurrentByteIndex) \
  EACH(XML_GetCurrentLineNumber) \
  EACH(XML_GetErrorCode) \
  EACH(XML_Parse) \
  EACH(XML_ParserCreate_MM) \
  EACH(XML_ParserFree) \
  EACH(XML_SetCharacterDataHandler) \
  EACH(XML_SetElementHandler) \
  EACH(XML_SetStartDoctypeDeclHandler) \
  EACH(XML_SetUserData) \
  EACH(XML_StopParser)

#define POINTER(name) static __typeof__(&name) p_##name;
FUNCTIONS(POINTER)

// Only libexpat 2.6 and newer has it, and these put off reading by themselves.
static XML_Bool (*p_XML_SetReparseDeferralEnabled)(XML_Parser, XML_Bool);

static int is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *library = dlopen("libexpat.so.1", RTLD_NOW | RTLD_LOCAL);
#define LOOK_UP(name) && (p_##name = (__typeof__(p_##name))dlsym(library, #name))
  is_loaded = library FUNCTIONS(LOOK_UP);
  if (!is_loaded) return;
  p_XML_SetReparseDeferralEnabled =
    (__typeof__(p_XML_SetReparseDeferralEnabled))dlsym(library, "XML_SetReparseDeferralEnabled");
}

struct expat_parser {
  XML_Parser parser;
  /// Bytes of all its blocks, and how many they may be.
  size_t used, limit;
  int is_full;
};

// The library's memory functions have no context: this is the parser that the thread is in. A handler may use another parser.
static _Thread_local expat_parser *current;

static expat_parser *enter(expat_parser *parser) {
  expat_parser *outer = current;
  current = parser;
  return outer;
}

/// Whether the parser may have a block of this size beside its others.
static int may_have(size_t size, size_t others) {
  if (others < current->limit && size <= current->limit - others) return 1;
  current->is_full = 1;
  return 0;
}

static void *allocate(size_t size) {
  void *block = may_have(size, current->used) ? malloc(size) : NULL;
  if (block) current->used += malloc_usable_size(block);
  return block;
}

static void *reallocate(void *block, size_t size) {
  size_t others = current->used - malloc_usable_size(block);
  void *grown = may_have(size, others) ? realloc(block, size) : NULL;
  if (grown) current->used = others + malloc_usable_size(grown);
  return grown;
}

static void release(void *block) {
  current->used -= malloc_usable_size(block);
  free(block);
}

static XML_Parser make(void) {
  static const XML_Memory_Handling_Suite memory = {allocate, reallocate, release};
  return p_XML_ParserCreate_MM(NULL, &memory, "\n");
}

expat_parser *expat_new(const expat_handlers *handlers, void *context, size_t memory) {
  pthread_once(&once, load);
  expat_parser *made = is_loaded ? calloc(1, sizeof *made) : NULL;
  if (!made) return NULL;
  made->limit = memory;
  expat_parser *outer = enter(made);
  XML_Parser parser = made->parser = make();
  enter(outer);
  if (!parser) {
    free(made);
    return NULL;
  }
  // XMLReader does it, and counts what is pending.
  if (p_XML_SetReparseDeferralEnabled) p_XML_SetReparseDeferralEnabled(parser, XML_FALSE);
  p_XML_SetUserData(parser, context);
  p_XML_SetElementHandler(parser, handlers->start, handlers->end);
  p_XML_SetCharacterDataHandler(parser, handlers->text);
  p_XML_SetStartDoctypeDeclHandler(parser, handlers->document_type);
  return made;
}

void expat_free(expat_parser *parser) {
  expat_parser *outer = enter(parser);
  p_XML_ParserFree(parser->parser);
  enter(outer);
  free(parser);
}

int expat_parse(expat_parser *parser, const char *bytes, int count, int is_last) {
  expat_parser *outer = enter(parser);
  enum XML_Status status = p_XML_Parse(parser->parser, bytes, count, is_last);
  enter(outer);
  return status == XML_STATUS_OK;
}

void expat_stop(expat_parser *parser) { p_XML_StopParser(parser->parser, XML_FALSE); }

long long expat_offset(expat_parser *parser) { return p_XML_GetCurrentByteIndex(parser->parser); }

int expat_is_full(expat_parser *parser) { return parser->is_full; }

const char *expat_problem(expat_parser *parser) { return p_XML_ErrorString(p_XML_GetErrorCode(parser->parser)); }

unsigned long expat_line(expat_parser *parser) { return p_XML_GetCurrentLineNumber(parser->parser); }
