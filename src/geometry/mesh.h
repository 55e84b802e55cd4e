// Reading meshes: text, the two formats, and what they have in common.
#ifndef CAROM_SRC_GEOMETRY_MESH_H
#define CAROM_SRC_GEOMETRY_MESH_H

#include <locale.h>

#include "carom/geometry.h"
#include "geometry/lattice.h"

// ---- text -------------------------------------------------------------------------------------

// A cursor over text that need not end in a zero.
typedef struct carom_text {
  const char *name;  // for messages
  const char *at, *end;
  int line;  // counted from 1
} carom_text;

typedef struct carom_word {
  const char *start;
  size_t length;  // 0 at the end of the line or of the text
} carom_word;

// The next word of this line. A backslash before the line's end continues it.
carom_word carom_text_word(carom_text *text);
// The next word on whatever line.
carom_word carom_text_word_anywhere(carom_text *text);
// The same; lines that a '#' begins are passed over.
carom_word carom_text_word_past_comments(carom_text *text);
void carom_text_skip_line(carom_text *text);                // continued or not
bool carom_word_is(carom_word word, const char *expected);  // lower or upper case
// Names file, line, what was expected and what was found instead.
carom_status carom_text_expected(const carom_text *text, const char *expected, carom_word found, carom_error *error);
// The number that a word spells: decimal, finite, and a length that Carom can use.
carom_status carom_text_number(const carom_text *text, carom_word word, double *value, carom_error *error);
// The whole number that a word spells, of at most 18 digits; `expected` says what it should be.
carom_status carom_text_whole(const carom_text *text, carom_word word, const char *expected, int64_t *value,
                              carom_error *error);

// Numbers have a decimal point whatever the user's locale says: between the two calls the locale is "C", for this
// thread only. False when out of memory.
typedef struct carom_plain_locale {
  locale_t plain, before;
} carom_plain_locale;
bool carom_plain_locale_begin(carom_plain_locale *locale);
void carom_plain_locale_end(carom_plain_locale *locale);

// What follows the last dot of a name, in lower or upper case.
bool carom_has_extension(const char *name, const char *extension);

// ---- triangles as they are read ---------------------------------------------------------------

typedef struct carom_triangle {
  int v[3];
} carom_triangle;

typedef struct carom_soup {
  carom_vec3 *vertices;
  carom_triangle *triangles;
  int vertex_count, vertex_capacity, triangle_count, triangle_capacity;
  carom_allocator allocator;
} carom_soup;

carom_status carom_soup_add_vertex(carom_soup *soup, carom_vec3 vertex, carom_error *error);
carom_status carom_soup_add_triangle(carom_soup *soup, int a, int b, int c, carom_error *error);

carom_status carom_obj_parse(const char *name, const char *data, size_t size, carom_soup *soup, carom_error *error);
carom_status carom_stl_parse(const char *name, const char *data, size_t size, carom_soup *soup, carom_error *error);
bool carom_stl_recognize(const char *data, size_t size);

// ---- meshes -----------------------------------------------------------------------------------

carom_allocator carom_mesh_allocator(const carom_mesh *mesh);  // the default one for a mesh made by hand
// Refuses indices out of range and coordinates that are not finite.
carom_status carom_mesh_check(const carom_mesh *mesh, carom_error *error);
// Refuses a surface with holes, with more than two triangles at an edge, or with triangles of mixed orientation.
carom_status carom_mesh_check_closed(const carom_mesh *mesh, const carom_allocator *allocator, carom_error *error);

#endif
