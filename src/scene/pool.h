// Memory that lives as long as one reading of a scene: many small blocks, released all at once, so that no failure
// on the way has to tidy up after itself.
#ifndef CAROM_SRC_SCENE_POOL_H
#define CAROM_SRC_SCENE_POOL_H

#include "carom/base.h"

typedef struct carom_pool_block carom_pool_block;

typedef struct carom_pool {
  carom_pool_block *first;
  size_t used;  // of the first block
  bool failed;  // at least one request could not be met
  carom_allocator allocator;
} carom_pool;

void carom_pool_create(carom_pool *pool, const carom_allocator *allocator);
void carom_pool_destroy(carom_pool *pool);
// Zeroed, aligned for any type; null (and `failed`) when out of memory.
void *carom_pool_get(carom_pool *pool, size_t size);
char *carom_pool_text(carom_pool *pool, const char *text, size_t length);  // a copy that ends with a zero byte
// Makes room for one more element, as carom_grow does; what was there before stays behind unused.
bool carom_pool_grow(carom_pool *pool, void **array, int count, int *capacity, size_t size);
// The pool behind an allocator's face, for tables that then need no release of their own. The pool must stay put.
carom_allocator carom_pool_allocator(carom_pool *pool);

#define CAROM_POOL_NEW(pool, type) ((type *)carom_pool_get((pool), sizeof(type)))
#define CAROM_POOL_ARRAY(pool, type, count) ((type *)carom_pool_get((pool), sizeof(type) * (size_t)(count)))

#endif
