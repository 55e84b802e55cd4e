// The inside of the reader of pushing problems. It borrows the scene reader's machinery, as that of plans does.
#ifndef CAROM_SRC_SCENE_PUSH_READER_H
#define CAROM_SRC_SCENE_PUSH_READER_H

#include "carom/push_file.h"
#include "scene/pool.h"
#include "scene/reader.h"

enum { CAROM_PUSH_MOST_KEYS = 16, CAROM_PUSH_MOST = 1000 };  // keys of a map; pushes of a problem

// What the definitions of a file point into; released with it.
struct carom_push_tables {
  carom_pool pool;
};

typedef struct carom_push_reader {
  carom_reader r;
  carom_push_file *file;
  const carom_node *scene, *goal;  // where they stand
  const carom_node **pushes;       // (push_count) likewise
} carom_push_reader;

// A fixed body by name, or one that moves; -1 after a report, or when the node is null.
int carom_push_read_body(carom_push_reader *p, const carom_node *node);
// The body of a goal or a start; the only one that moves where none is named.
bool carom_push_read_part(carom_push_reader *p, const carom_node *at, const carom_node *node, int *body);
// [x, y], or [x, y, z] as the scene writes it.
bool carom_push_read_point(carom_push_reader *p, const carom_node *node, carom_vec3 *point);
bool carom_push_has_errors(const carom_push_reader *p);
void carom_push_name(const carom_push_reader *p, const carom_node *push, char *text, size_t size);  // "push 2"

// push_parts.c
void carom_push_read_probes(carom_push_reader *p, const carom_node *list);
void carom_push_read_goal(carom_push_reader *p, const carom_node *node);
void carom_push_read_robust(carom_push_reader *p, const carom_node *node);
void carom_push_read_pushes(carom_push_reader *p, const carom_node *list);
// push_asks.c: what the verbs are asked
void carom_push_read_plan(carom_push_reader *p, const carom_node *node);
void carom_push_read_fit(carom_push_reader *p, const carom_node *node);
// push_records.c: pushes that were recorded, out of a table
void carom_push_read_records(carom_push_reader *p, const carom_node *node);
// push_checks.c: what can be told of scene, goal and starts before anything is pushed
void carom_push_check_scene(carom_push_reader *p);
void carom_push_check_places(carom_push_reader *p);

#endif
