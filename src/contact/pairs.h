// Contacts of a model: which convex parts are near each other, how near, and where. Broad phase, then the separation
// oracle with a basis cached per pair, then the contact points.
//
//     contacts_update(set, state, reach)   which pairs may come within reach
//     contacts_find(set, state, ...)       their contacts, sorted by part numbers
#ifndef CAROM_SRC_CONTACT_PAIRS_H
#define CAROM_SRC_CONTACT_PAIRS_H

#include "base/arena.h"
#include "base/tape.h"
#include "carom/collide.h"
#include "carom/model.h"

// Two parts whose widened boxes overlap. Parts are numbered as in model->parts; part_a < part_b unless the body of
// part_a is immovable, so that A always moves.
typedef struct carom_part_pair {
  int part_a, part_b;
  int body_a, body_b;
  double restitution, friction;
  int tag;                // the owner's; 0 of a new pair, and kept as long as the pair persists, as is
  carom_ssh_cache cache;  // this
} carom_part_pair;

typedef struct carom_contact {
  int pair;            // index into the pairs of the set
  int body_a, body_b;  // A moves; B may not
  int part_a, part_b;
  double gap;                   // along the normal, < 0 when overlapping
  carom_vec3 normal;            // from B to A
  carom_vec3 point_a, point_b;  // world; point_a - point_b = gap normal
  double restitution, friction;
} carom_contact;

typedef enum carom_contact_detail {
  CAROM_CONTACT_NEAREST,  // one point a pair; ties (face on face, edge on face) by the weights of least norm
  CAROM_CONTACT_POLYGON,  // up to CAROM_MANIFOLD_MAX points a pair, each with its own gap
} carom_contact_detail;

typedef struct carom_contacts {
  carom_arena arena;
  const carom_model *model;
  carom_broadphase *broadphase;
  bool planar;              // of the model: separation in the plane z = 0
  int *body_of_part;        // (part_count)
  carom_aabb *boxes;        // (part_count) with room to spare: changed only when a part leaves its box
  carom_part_pair *pairs;   // (pair_count) sorted by the numbers of their parts
  carom_part_pair *older;   // those before the last update
  carom_contact *contacts;  // (contact_count)
  int pair_count, pair_capacity, older_capacity, contact_count, contact_capacity;
} carom_contacts;

carom_status carom_contacts_create(const carom_model *model, const carom_allocator *allocator, carom_contacts **set,
                                   carom_error *error);
void carom_contacts_destroy(carom_contacts *set);  // null is fine

// Finds the candidate pairs: those whose boxes, widened by reach[body] (m; null means 0), overlap at the state's
// configuration. Allocates only when there are more pairs than ever before.
carom_status carom_contacts_update(carom_contacts *set, const carom_state *state, const double *reach,
                                   carom_error *error);

// Shows each near pair in its turn as the only one of the set, pair 0, and keeps none: what a pair remembers takes half
// a kilobyte, and a bed of 2e6 balls has ten million of them.
typedef carom_status carom_pair_look(void *context, const carom_state *state, carom_error *error);
carom_status carom_contacts_sweep(carom_contacts *set, const carom_state *state, carom_pair_look *look, void *context,
                                  carom_error *error);

// Finds more of them: bodies have been moved on, some perhaps out of reach. None is lost, though numbers change.
carom_status carom_contacts_extend(carom_contacts *set, const carom_state *state, carom_error *error);

// Separation of one candidate pair; warm-started, keeps the new basis. Different pairs may be asked
// in different threads.
carom_status carom_contacts_distance(carom_contacts *set, int pair, const carom_state *state,
                                     carom_distance_result *result);

// Says that it failed, as it does for a pose that is not finite.
carom_status carom_contacts_no_separation(const carom_contacts *set, int pair, const carom_state *state,
                                          carom_status status, carom_error *error);

// A contact of the pair, without its place.
carom_contact carom_contacts_blank(const carom_contacts *set, int pair);

// Which contacts, and how many of each pair.
typedef struct carom_contact_query {
  carom_contact_detail detail;
  double reach;  // m: pairs that are nearer
  double slop;   // m: how far features may lie behind the nearest ones and still be points of the polygon
} carom_contact_query;

// The contacts of one candidate pair whose known separation is `distance`, whatever the reach: writes at most
// CAROM_MANIFOLD_MAX and returns how many.
int carom_contacts_of_pair(const carom_contacts *set, int pair, const carom_state *state,
                           const carom_distance_result *distance, const carom_contact_query *query,
                           carom_contact *contacts);

// All contacts of the candidate pairs within reach. The array belongs to the set and holds until the next call.
carom_status carom_contacts_find(carom_contacts *set, const carom_state *state, const carom_contact_query *query,
                                 const carom_contact **contacts, int *count, carom_error *error);

// Passes the boxes of all parts and the bases of all pairs over a tape: with the same boxes there are the same pairs,
// and separations that begin from the same bases have the same bits. False for bytes that are not of such a set.
bool carom_contacts_remember(carom_contacts *set, carom_tape *tape);

// A part in the world.
carom_placed carom_contacts_place(const carom_contacts *set, int part, const carom_state *state);

#endif
