// The forest that the acting joints span: bodies from the roots on, each with the joint that leads towards its root,
// and the rows of the joints that are left over and close loops. The world and all fixed bodies are one ground; bodies
// jointed to it come first.
#ifndef CAROM_SRC_MODEL_JOINT_ORDER_H
#define CAROM_SRC_MODEL_JOINT_ORDER_H

#include "model/joint_system.h"

typedef struct carom_joint_order {
  carom_joint_node *nodes;  // (node_count)
  int *acting;              // (acting_count) joints
  int *loop_rows;           // (loop_row_count) indices joint * CAROM_JOINT_ROWS + row
  int node_count, acting_count, loop_row_count;
  int most_loop_rows;    // whatever joints are active
  int *adjacent_start;   // (body_count + 1) into adjacent
  int *adjacent;         // joints at every body
  unsigned char *used;   // (joint_count) acts now; then also: is in the tree
  unsigned char *known;  // (joint_count) what acted when the order was made
  unsigned char *seen;   // (body_count)
  bool ordered;
  carom_allocator allocator;
} carom_joint_order;

bool carom_joint_order_create(carom_joint_order *order, const carom_model *model, const carom_allocator *allocator);
void carom_joint_order_destroy(carom_joint_order *order);
void carom_joint_order_update(carom_joint_order *order, const carom_model *model, const carom_state *state);

#endif
