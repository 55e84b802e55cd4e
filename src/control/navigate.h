// What the files of navigation share (carom/navigate.h): vehicles on their way, step by step. Inside, vehicles and
// obstacles are numbered by where they begin, so that nothing depends on the order in which they were given.
//
//     navigate_cages.c   cages: what is wrong with them, how far apart, how far they reach while they turn
//     navigate_routes.c  ways around what stays
//     navigate_wish.c    preferred velocities: towards goals, along rails, aside when held up
//     navigate_near.c    who is near whom: gaps and planes
//     navigate_solve.c   the contacts' problem, and steps that keep the planes whatever the solver leaves
//     navigate.c         definitions, steps, what users see
//     navigate_run.c     whole ways, jams
//     navigate_check.c   the judge of ways
//     navigate_segments.c, navigate_plan.c   robust segments, and a tree of them
#ifndef CAROM_SRC_CONTROL_NAVIGATE_H
#define CAROM_SRC_CONTROL_NAVIGATE_H

#include "carom/collide.h"
#include "carom/lcp.h"
#include "carom/navigate.h"
#include "contact/groups.h"

typedef struct carom_nav_item {
  int number;                // as users count vehicles, or obstacles
  char name[64];             // for messages
  carom_cage cage;           // corners are the navigation's
  const carom_shape *shape;  // the same for the oracle
  double reach;              // m, of its farthest point from its point
  bool rests;                // an obstacle that stays
} carom_nav_item;

// Two cages that are near: a plane between them.
typedef struct carom_nav_pair {
  int a, b;          // a < b; a is a vehicle
  double gap;        // m, along the normal
  double normal[2];  // unit, from b to a
  double at[2];      // midway
  double swept[2];   // m: how far a, b reach over it by turning in this step
  double impulse;    // found
  int contact;       // in the problem; -1: none
} carom_nav_pair;

// Lines that bound a velocity: normal . v + most >= 0.
typedef struct carom_nav_bound {
  double normal[2], most;
} carom_nav_bound;

enum { CAROM_NAV_SIDES = 12 };  // of the polygon that bounds speeds; one of its corners is the preferred way

typedef struct carom_nav_map carom_nav_map;  // corners around obstacles for vehicles of one size

// What is known of the way to a goal.
typedef struct carom_nav_route {
  int map;           // -1: straight on
  double *far;       // (corners of the map) from there to the goal, m
  double target[2];  // at present
  double left;       // m: of the way by there
  int age;           // steps since it was chosen; -1: not yet
} carom_nav_route;

struct carom_navigate {
  carom_arena arena;
  carom_navigate_def def;  // with vehicles, obstacles, rails in the order used inside
  carom_navigate_vehicle *vehicles;
  carom_navigate_obstacle *obstacles;
  carom_navigate_rail *rails;
  carom_nav_item *items;  // (n + m)
  int n, m;
  int threads;
  // state
  double time;
  double (*place)[3];       // (n + m)
  double (*velocity)[2];    // (n + m) of the step; of obstacles what they will do
  double *spin;             // (n + m) rad/s of the step
  double *aside;            // (n) rad: how far its wish is turned to the right
  double *side;             // (n) 1: to the right, -1: to the left
  double *saturated;        // (n) s for which it was turned as far as may be
  int *changes;             // (n) of the side
  bool *home;               // (n) was at its goal, and is not far from it
  double *yields;           // (n) s for which it lets itself be pushed from there
  double *idle;             // (n) s since it last got nearer
  double *nearest;          // (n) m: how near to its goal it came
  double *leg;              // (n) of rails: how far along, m
  int *way;                 // (n) of rails: 1 or -1
  carom_nav_route *routes;  // (n)
  carom_nav_map *maps;
  int map_count;
  // the step at hand
  double (*wish)[2];       // (n) preferred velocity
  double (*toward)[2];     // (n) unit: the way it should go; 0: it is there
  double (*spins_let)[2];  // (n) rad/s: how fast it may turn to the right (<= 0) and to the left among its neighbours
  const double *command;   // (n x 2) as users count vehicles
  carom_broadphase *broad;
  int *proxy;  // (n + m)
  carom_nav_pair *pairs, *before;
  int pair_count, pair_capacity, before_count, before_capacity;
  carom_contact_body *bodies;  // (n)
  carom_vec3 *found, *spins;   // (n) the solver's answer
  carom_contact_point *contacts;
  carom_vec3 *impulses;
  int contact_count, contact_capacity, impulse_capacity;
  carom_contact_row *rows;  // (n)
  double *multipliers;      // (n)
  int row_count;
  carom_groups *groups;
  double *share;  // (n) of the step that a group may take
  int held;
  double residual;
  // what is shown, in the user's order
  double (*seen_place)[3], (*seen_velocity)[2];
  bool *arrived, *stuck;
  carom_navigate_contact *shown;
  int shown_count, shown_capacity;
};

// ---- navigate_cages.c ----
carom_status carom_nav_shape(const carom_cage *cage, const carom_allocator *allocator, const carom_shape **shape,
                             carom_error *error);
// How much farther than at first a cage reaches along a unit direction, at most, while it turns from `angle` by `turn`.
double carom_nav_swept(const carom_cage *cage, double angle, double turn, const double direction[2]);
// Gap, normal (from b to a) and the point midway of two cages that do not overlap.
void carom_nav_apart(const carom_nav_item *a, const double place_a[3], const carom_nav_item *b, const double place_b[3],
                     carom_nav_pair *pair);

// ---- navigate_routes.c ----
carom_status carom_nav_plan_routes(carom_navigate *s, carom_error *error);
void carom_nav_release_routes(carom_navigate *s);
// Where a vehicle should head for: its goal, or a corner on the way.
void carom_nav_head_for(carom_navigate *s, int vehicle);

// ---- navigate_wish.c ----
void carom_nav_wish(carom_navigate *s);           // fills wish, toward, and spin as wished
void carom_nav_note_progress(carom_navigate *s);  // after the move: who is held up, who is stuck
double carom_nav_wrap(double angle);              // to [-pi, pi]
void carom_nav_obstacle_at(const carom_navigate_obstacle *o, double time, double place[3]);
// The piece of a rail at a length: the point there, its direction, and what is left of it ahead (way: 1 or -1) and
// back; and the length at a point.
void carom_nav_on_rail(const carom_navigate_rail *rail, double length, int way, double at[2], double along[2],
                       double rest[2]);
double carom_nav_rail_length(const carom_navigate_rail *rail, const double point[2], double *off);

// ---- navigate_near.c ----
carom_status carom_nav_find_pairs(carom_navigate *s, carom_error *error);
// Lets vehicles turn as far as their neighbours leave room, and tells how far all reach by it.
void carom_nav_limit_turns(carom_navigate *s);
// Whether cages overlap; names the first.
carom_status carom_nav_check_overlaps(carom_navigate *s, carom_error *error);

// ---- navigate_solve.c ----
carom_status carom_nav_solve(carom_navigate *s, carom_error *error);
// The bounds of a vehicle's velocity.
int carom_nav_bounds(const carom_navigate *s, int vehicle, carom_nav_bound bounds[CAROM_NAV_SIDES]);
// n . v >= -this, m/s, of a pair.
double carom_nav_bias(const carom_navigate *s, const carom_nav_pair *pair);
double carom_nav_horizon(const carom_navigate *s, int other);  // s, to that item
double carom_nav_most_speed(const carom_navigate *s, int item);

// ---- navigate.c ----
void carom_nav_move(carom_navigate *s);
carom_status carom_nav_memory(carom_error *error);

#endif
