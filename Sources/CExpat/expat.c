#include "CExpat.h"

#include <dlfcn.h>
#include <expat.h>
#include <pthread.h>

#define FUNCTIONS(EACH) \
  EACH(XML_ErrorString) \
  EACH(XML_GetCurrentLineNumber) \
  EACH(XML_GetErrorCode) \
  EACH(XML_Parse) \
  EACH(XML_ParserCreateNS) \
  EACH(XML_ParserFree) \
  EACH(XML_SetCharacterDataHandler) \
  EACH(XML_SetElementHandler) \
  EACH(XML_SetStartDoctypeDeclHandler) \
  EACH(XML_SetUserData) \
  EACH(XML_StopParser)

#define POINTER(name) static __typeof__(&name) p_##name;
FUNCTIONS(POINTER)

static int is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *library = dlopen("libexpat.so.1", RTLD_NOW | RTLD_LOCAL);
#define LOOK_UP(name) && (p_##name = (__typeof__(p_##name))dlsym(library, #name))
  is_loaded = library FUNCTIONS(LOOK_UP);
}

expat_parser *expat_new(const expat_handlers *handlers, void *context) {
  pthread_once(&once, load);
  XML_Parser parser = is_loaded ? p_XML_ParserCreateNS(NULL, '\n') : NULL;
  if (!parser) return NULL;
  p_XML_SetUserData(parser, context);
  p_XML_SetElementHandler(parser, handlers->start, handlers->end);
  p_XML_SetCharacterDataHandler(parser, handlers->text);
  p_XML_SetStartDoctypeDeclHandler(parser, handlers->document_type);
  return parser;
}

void expat_free(expat_parser *parser) { p_XML_ParserFree(parser); }

int expat_parse(expat_parser *parser, const char *bytes, int count, int is_last) {
  return p_XML_Parse(parser, bytes, count, is_last) == XML_STATUS_OK;
}

void expat_stop(expat_parser *parser) { p_XML_StopParser(parser, XML_FALSE); }

const char *expat_problem(expat_parser *parser) { return p_XML_ErrorString(p_XML_GetErrorCode(parser)); }

unsigned long expat_line(expat_parser *parser) { return p_XML_GetCurrentLineNumber(parser); }
