// Contact of solids that deform, with each other, with themselves and with rigid bodies, as a potential: every point
// where surfaces overlap stores C/2 gap^2 (Johnson 2012, eq. 3.38). There are two kinds of points:
//
//   - of two facets that face each other, one of a solid and one of a solid or of a rigid part: the corners of the
//     polygon in which they cover each other (facets.h), C being k times a corner's share of its area;
//   - nodes of a solid against half-spaces, C being k times the node's share of its surface.
//
// k, in Pa/m, makes contact no stiffer than the tetrahedra behind it, or than steps allow: it goes with the mesh's size
// as they do, and the forces of a pair with the area, so that finer meshes touch no harder. Restitution is a drag while
// surfaces part, point by point, as between rigid bodies (potential.h); friction is Coulomb's, and holds (soft_bend.c).
#ifndef CAROM_SRC_CONTACT_SOFT_H
#define CAROM_SRC_CONTACT_SOFT_H

#include "base/arena.h"
#include "base/tape.h"
#include "contact/ledger.h"
#include "contact/skins.h"

// Two facets, or a node and a half-space, that may touch in this step.
typedef enum carom_soft_kind {
  CAROM_SOFT_SKINS,  // facet a of one skin, facet b of another or the same
  CAROM_SOFT_HULL,   // facet a of a skin, facet b of a hull
  CAROM_SOFT_NODE,   // node a of a skin's solid, half-space
} carom_soft_kind;

typedef struct carom_soft_near {
  carom_soft_kind kind;
  int skin, other;  // skins or hulls
  int a, b;
} carom_soft_near;

// One end of a contact: nodes with weights, or a body.
typedef struct carom_soft_end {
  int body;     // or CAROM_SOLID(i)
  int node[3];  // of all solids
  double weight[3];
  carom_vec3 point;
} carom_soft_end;

static inline bool carom_soft_is_solid(const carom_soft_end *end) { return end->body < CAROM_WORLD; }

typedef struct carom_soft_contact {
  carom_soft_end end[2];  // A, B
  carom_vec3 normal;      // unit, from B to A
  double gap;             // m, < 0; at the middle of a step that is solved for it may be more
  double rate;            // m/s, of the gap
  double stiffness;       // C, N/m
  double frequency;       // of nodes on such contacts, rad/s
  double drag;            // over critical, for the restitution
  carom_vec3 rim;         // C over the area, times the rim (facets.h), N/m2
  double deep;            // m
  double restitution, friction;
  carom_vec3 impulse;  // on A, in the last kick
  // ---- at the last look
  double pressed, dragged;  // along the normal, N, and what the drag took off it
  carom_vec3 grip;          // friction on A, N
  carom_vec3 across;        // by the rim, on A, N
  carom_vec3 bent;          // how far its bristles (soft_bend.c) are bent at the end of the step, as seen from A, m
  double slope, hold;       // how it answers to displacements along the normal and across it, N/m
  bool slips;               // along the unit vector
  carom_vec3 along;
} carom_soft_contact;

// Two surfaces that touch, in the order of A and B.
typedef struct carom_soft_pair {
  int body[2];
} carom_soft_pair;

typedef struct carom_soft {
  carom_arena arena;
  const carom_model *model;
  carom_skin *skins;         // (solid_count)
  carom_hull *hulls;         // (part_count)
  const carom_shape *point;  // a ball of next to no radius
  carom_shape *tet[2];       // for the separation oracle: what is behind two facets
  double *inverse_mass;      // (node_count) 0 where pinned
  double *node_stiffness;    // (node_count) N/m against what does not deform; 0 inside
  double *node_deep;         // (node_count) m
  double *load;              // (body_count) sum of the stiffness of contacts, N/m
  carom_vec3 *bristles;      // (node_count) how far those of nodes are bent, m
  double *bristle_share;     // (node_count) N/m, while they are found
  double bristle_energy;     // J, in all of them
  carom_vec3 *was;           // (node_count) where nodes were at the start of the step
  carom_vec3 *body_x;        // (body_count) where bodies were at the last look
  carom_quat *body_q;        // (body_count)
  int *mark;                 // (node_count) the hull against which a node was put down last
  carom_soft_near *near;
  carom_soft_contact *contacts;
  carom_soft_pair *met, *before;  // that touch now, and at the end of the last step
  int near_count, near_capacity, count, capacity;
  int met_count, met_capacity, before_count, before_capacity;
  double drag_for, drag;    // a coefficient of restitution, and the drag for it
  double energy, depth;     // stored at the last look, J; deepest overlap then, m
  double time, span;        // the step
  bool moved;               // nodes have, since it began
  bool solved;              // it is implicit
  double rubbed;            // work of friction in it, J
  carom_error failure;      // of the last look
  const carom_vec3 *nodes;  // (node_count) where contacts are looked for
  const carom_vec3 *rates;  // (node_count) how fast nodes are then
  bool trial;               // on the way of a solver, where surfaces may pass each other
} carom_soft;

carom_status carom_soft_create(const carom_model *model, const carom_allocator *allocator, carom_soft **soft,
                               carom_error *error);
void carom_soft_destroy(carom_soft *soft);  // null is fine

// What may touch in a step of h from this state; reach (body_count) of the bodies, m.
carom_status carom_soft_update(carom_soft *soft, const carom_state *state, double h, const double *reach,
                               carom_error *error);
// Finds the contacts of bodies as the state has them and of nodes (node_count). CAROM_NOT_CONVERGED, naming who and
// what would do, where surfaces would pass each other in a step, or press through each other.
carom_status carom_soft_find(carom_soft *soft, const carom_state *state, const carom_vec3 *nodes, carom_error *error);

// ---- forces: on nodes with all others, by whoever moves those; on bodies in kicks. Explicit steps take forces at
// their ends, implicit ones (`solved`) at their middle, bodies being where the state has them then.
//
//     carom_soft_begin(soft, state, h/2)       kicks bodies by the forces of the last look
//     carom_soft_forces(soft, state, ...)      one or more looks
//     carom_soft_end_step(soft, state, h/2)    kicks bodies by those of the last one
//
// An implicit step begins with no kick, and ends with one of h.
// Adds forces to f and stands in for -df/dx by K (may be null), as carom_elastic_loads.extra is to do. On failure the
// message is in soft->failure.
carom_status carom_soft_forces(carom_soft *soft, const carom_state *state, const carom_vec3 *nodes,
                               const carom_vec3 *rates, carom_vec3 *f, carom_mat3 *K);
void carom_soft_stiffness_times(const carom_soft *soft, const carom_vec3 *u, carom_vec3 *y);
carom_status carom_soft_begin(carom_soft *soft, carom_state *state, double dt, carom_ledger *ledger,
                              carom_error *error);
carom_status carom_soft_end_step(carom_soft *soft, carom_state *state, double dt, carom_ledger *ledger,
                                 carom_error *error);
// After an implicit step: what is stored and how deep surfaces overlap at its end.
carom_status carom_soft_look(carom_soft *soft, const carom_state *state, carom_error *error);
// In springs and bristles, J, at the last look.
double carom_soft_stored(const carom_soft *soft);
// Notes where bodies are, and says whether they still are there: else forces are not those of the last look.
void carom_soft_stand(carom_soft *soft, const carom_state *state);
bool carom_soft_stands(const carom_soft *soft, const carom_state *state);

// The pairs that touch now are those that lasted, in the next step.
carom_status carom_soft_note(carom_soft *soft, carom_error *error);
bool carom_soft_remember(carom_soft *soft, carom_tape *tape);

// ---- soft_near.c
carom_status carom_soft_look_around(carom_soft *soft, carom_error *error);
// ---- soft_kick.c
// Of an end, the nodes being as fast as told; of A against B; and how far A has slipped on B since the step began.
carom_vec3 carom_soft_velocity(const carom_soft *soft, const carom_state *state, const carom_vec3 *rates,
                               const carom_soft_end *end);
carom_vec3 carom_soft_slip(const carom_soft *soft, const carom_state *state, const carom_vec3 *rates,
                           const carom_soft_contact *contact);
carom_vec3 carom_soft_way(const carom_soft *soft, const carom_state *state, const carom_soft_contact *contact);
double carom_soft_felt_mass(const carom_soft *soft, const carom_state *state, const carom_soft_contact *contact,
                            carom_vec3 along);
// ---- soft_bend.c
// How far the bristles of a contact are bent, by those of its nodes; and as far as friction holds them.
carom_vec3 carom_soft_bent(const carom_soft *soft, const carom_soft_contact *contact);
carom_vec3 carom_soft_held(const carom_soft_contact *contact, carom_vec3 bent, double pressed);
// Nodes take over what their contacts have; books what was lost of the work (J) that the bristles did.
void carom_soft_bend(carom_soft *soft, double work, carom_ledger *ledger);
// Forces across the normal, on A and the opposite on B, act a gap apart. A body takes them where the solid has them. Of
// two solids the normal forces shift, by these along the normal on the nodes of an end, so that nothing turns both.
void carom_soft_counter(const carom_soft *soft, const carom_soft_contact *contact, int end, carom_vec3 friction,
                        double shares[3]);
carom_vec3 carom_soft_grip_point(const carom_soft_contact *contact, int end);
// Of an end, the nodes being as fast as told.
carom_vec3 carom_soft_velocity(const carom_soft *soft, const carom_state *state, const carom_vec3 *rates,
                               const carom_soft_end *end);
// 1/kg, of an impulse along a direction.
double carom_soft_answer(const carom_soft *soft, const carom_state *state, const carom_soft_end *end,
                         carom_vec3 direction);
// ---- soft_tell.c
carom_status carom_soft_tell(carom_soft *soft, carom_ledger *ledger, carom_error *error);

#endif
