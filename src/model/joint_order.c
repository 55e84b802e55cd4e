#include "model/joint_order.h"

#include <string.h>

#include "base/memory.h"

enum { IDLE, ACTS, IN_TREE };  // a joint, while the forest grows

static bool moves(const carom_model *model, int body) { return body != CAROM_WORLD && !model->bodies[body].fixed; }

static void list_adjacent(carom_joint_order *o, const carom_model *model) {
  for (int j = 0; j < model->joint_count; j++)
    for (int end = 0; end < 2; end++)
      if (model->joints[j].body[end] != CAROM_WORLD) o->adjacent_start[model->joints[j].body[end] + 1]++;
  for (int i = 0; i < model->body_count; i++) o->adjacent_start[i + 1] += o->adjacent_start[i];
  for (int j = model->joint_count - 1; j >= 0; j--)  // backwards, since slots fill from their ends
    for (int end = 0; end < 2; end++) {
      int body = model->joints[j].body[end];
      if (body != CAROM_WORLD) o->adjacent[--o->adjacent_start[body + 1]] = j;
    }
  for (int i = 0; i < model->body_count; i++) o->adjacent_start[i] = o->adjacent_start[i + 1];
  int total = 0;
  for (int j = 0; j < model->joint_count; j++)
    for (int end = 0; end < 2; end++) total += model->joints[j].body[end] != CAROM_WORLD;
  o->adjacent_start[model->body_count] = total;
}

static void add_node(carom_joint_order *o, int body, int joint, int end, int parent) {
  o->seen[body] = 1;
  if (joint >= 0) o->used[joint] = IN_TREE;
  o->nodes[o->node_count++] = (carom_joint_node){body, joint, end, parent};
}

// Breadth first from the nodes that are there already.
static void grow(carom_joint_order *o, const carom_model *model, int from) {
  for (int i = from; i < o->node_count; i++) {
    int body = o->nodes[i].body;
    for (int k = o->adjacent_start[body]; k < o->adjacent_start[body + 1]; k++) {
      int joint = o->adjacent[k];
      if (o->used[joint] != ACTS) continue;
      int end = model->joints[joint].body[0] == body ? 1 : 0, other = model->joints[joint].body[end];
      if (moves(model, other) && !o->seen[other]) add_node(o, other, joint, end, body);
    }
  }
}

static void add_grounded(carom_joint_order *o, const carom_model *model) {
  for (int k = 0; k < o->acting_count; k++) {
    const int *body = model->joints[o->acting[k]].body;
    if (moves(model, body[0]) && moves(model, body[1])) continue;
    int end = moves(model, body[1]) ? 1 : 0;
    if (!o->seen[body[end]]) add_node(o, body[end], o->acting[k], end, -1);
  }
  grow(o, model, 0);
}

static void add_floating(carom_joint_order *o, const carom_model *model) {
  for (int k = 0; k < o->acting_count; k++) {
    int body = model->joints[o->acting[k]].body[0];  // a joint to the ground was seen to already
    if (o->used[o->acting[k]] == IN_TREE || !moves(model, body) || o->seen[body]) continue;
    int first = o->node_count;
    add_node(o, body, -1, 0, -1);
    grow(o, model, first);
  }
}

static void list_loops(carom_joint_order *o, const carom_model *model) {
  o->loop_row_count = 0;
  for (int k = 0; k < o->acting_count; k++) {
    int joint = o->acting[k];
    if (o->used[joint] == IN_TREE) continue;
    int rows = carom_joint_row_count(&model->joints[joint]);
    for (int i = 0; i < rows; i++) o->loop_rows[o->loop_row_count++] = joint * CAROM_JOINT_ROWS + i;
  }
}

static void make_order(carom_joint_order *o, const carom_model *model) {
  o->node_count = o->acting_count = 0;
  memset(o->seen, 0, (size_t)model->body_count);
  for (int j = 0; j < model->joint_count; j++)
    if (o->used[j] == ACTS) o->acting[o->acting_count++] = j;
  add_grounded(o, model);
  add_floating(o, model);
  list_loops(o, model);
}

void carom_joint_order_update(carom_joint_order *o, const carom_model *model, const carom_state *state) {
  for (int j = 0; j < model->joint_count; j++) o->used[j] = carom_joint_acts(model, state, j) ? ACTS : IDLE;
  if (o->ordered && memcmp(o->used, o->known, (size_t)model->joint_count) == 0) return;
  memcpy(o->known, o->used, (size_t)model->joint_count);
  make_order(o, model);
  o->ordered = true;
}

// Any set of active joints closes at most as many loops as all of them do, each by a joint of at most so many rows.
static void bound_loops(carom_joint_order *o, const carom_model *model) {
  int most_rows = 0;
  for (int j = 0; j < model->joint_count; j++) {
    int rows = carom_joint_row_count(&model->joints[j]);
    most_rows = rows > most_rows ? rows : most_rows;
    const int *body = model->joints[j].body;
    o->used[j] = moves(model, body[0]) || moves(model, body[1]) ? ACTS : IDLE;
  }
  make_order(o, model);
  int loops = 0;
  for (int k = 0; k < o->acting_count; k++) loops += o->used[o->acting[k]] != IN_TREE;
  o->most_loop_rows = loops * most_rows;
}

bool carom_joint_order_create(carom_joint_order *o, const carom_model *model, const carom_allocator *allocator) {
  *o = (carom_joint_order){.allocator = *allocator};
  size_t bodies = (size_t)model->body_count, joints = (size_t)model->joint_count;
  if (!CAROM_NEW_ALL(allocator, CAROM_ROOM(o->nodes, bodies), CAROM_ROOM(o->acting, joints),
                     CAROM_ROOM(o->loop_rows, joints * CAROM_JOINT_ROWS), CAROM_ROOM(o->adjacent_start, bodies + 1),
                     CAROM_ROOM(o->adjacent, 2 * joints), CAROM_ROOM(o->used, joints), CAROM_ROOM(o->known, joints),
                     CAROM_ROOM(o->seen, bodies))) {
    carom_joint_order_destroy(o);
    return false;
  }
  list_adjacent(o, model);
  bound_loops(o, model);
  return true;
}

void carom_joint_order_destroy(carom_joint_order *o) {
  CAROM_RELEASE_ALL(&o->allocator, o->nodes, o->acting, o->loop_rows, o->adjacent_start, o->adjacent, o->used, o->known,
                    o->seen);
  *o = (carom_joint_order){.allocator = o->allocator};
}
