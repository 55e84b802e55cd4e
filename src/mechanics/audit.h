// What the audit keeps. It judges a motion by the model: states at the ends of steps, the events between them, and the
// work that was applied. What an integrator says of itself (losses, projections, overlap, drift) is a claim.
#ifndef CAROM_SRC_MECHANICS_AUDIT_H
#define CAROM_SRC_MECHANICS_AUDIT_H

#include "math/sum.h"
#include "mechanics/balance.h"
#include "mechanics/finding.h"
#include "mechanics/overlap.h"
#include "mechanics/soft_overlap.h"
#include "model/fields.h"

// Running least-squares line through (time, error): means and central moments (Welford 1962).
typedef struct carom_trend {
  double n, mean_t, mean_e, s_tt, s_te;
} carom_trend;

// What one step did to a body, summed over the events.
typedef struct carom_body_step {
  carom_vec3 impulse, moment;  // about the mean of its two positions
  carom_vec3 rolled;           // the same if it is a ball, which touches where the normals say
  double pushed;               // sum of |impulse|
  double twisted;              // how uncertain the moment is, kg m2/s
  int events, partner;         // with whom the last one was
  bool crowded;                // events with several partners
  bool shocked;                // took part in an impact, or touches one that did
  bool moved;                  // put elsewhere by recirculation
} carom_body_step;

// What one step did to a solid.
typedef struct carom_solid_step {
  carom_vec3 impulse;          // of its events,
  carom_vec3 angular_impulse;  // and about the world origin
  double pushed;               // sum of |impulse|
  int events;
  double travel, path;  // how far any node got in this step, and since it was looked at, m
  double fastest;       // of its nodes at both ends of the step, m/s
  double shaking;       // of its nodes against the centre, the largest so far, m/s
  bool held;            // pins or pressure act on it
  bool chosen;          // to be looked at
} carom_solid_step;

// How much contacts may lose in a step, as far as the laws of the surfaces that met allow, J.
typedef struct carom_lawful {
  double restitution, friction;
  double normal;  // of the first as much as bodies that meet can lose: where contacts last, nothing
  bool yields;    // a surface with e < 1 met
} carom_lawful;

struct carom_audit {
  const carom_model *model;
  carom_allocator allocator;
  carom_overlaps *overlaps;
  carom_state *before;    // at the end of the last step
  carom_body_step *step;  // (body_count)
  double *travel, *path;  // (body_count) how far any point got in this step, and since it was looked at, m
  double *stray;          // (body_count) how far within the step it may have been off the straight way, m
  double *kick, *swing;   // (body_count) by how much velocities changed in the last step, m/s and rad/s
  double led_round;       // how far bodies with joints may have turned in this step, rad
  double *crept;          // (body_count) how far it slipped with friction inside its cone, m
  // ---- solids that deform (nodes.c)
  carom_soft_overlaps *soft;          // null where there are none
  carom_solid_step *solid;            // (solid_count)
  carom_solid_balance *solid_before;  // (solid_count) at the end of the last step,
  carom_solid_balance *solid_now;     // (solid_count) and of this one
  double *node_kick2;                 // (node_count) squares of how velocities changed in the last step, m2/s2
  double sway_start, sway;            // swings of energy by the order of the method, at the start and now, J
  bool solids_met;                    // of frames alone: a solid may have touched something
  carom_finding inversion, pins, solid_overlap;
  // ---- bodies, still
  bool frames_only;                // no events and no books are known
  bool *chosen;                    // (body_count) to be looked at
  bool *tied;                      // (body_count) by joints, springs, charges or forces
  bool *limited;                   // (body_count) by joints with limits: their impacts are events as well
  bool works;                      // something outside may do work: forces, motors, drives, dampers, recirculation
  bool latches;                    // joints that are gained by collisions
  bool grounded;                   // a joint holds on to what does not move
  bool loses;                      // limits and latches may, without an event that tells
  carom_contact_surface roughest;  // least e and largest mu of all materials
  // ---- energy and momenta
  carom_balance start;
  double start_time;
  double dt;      // of this step, s
  double force;   // largest so far that contacts carried in a step, N
  double pushed;  // sum of |impulse| of all events of this step, which joints pass on, N s
  carom_sum work, restitution_loss, friction_loss, projection_energy, lawful_loss, along_slip, unlawful;
  carom_sum3 impulse, angular_impulse, projection_angular_momentum;
  double stored;                                                // in contacts that yield, J
  bool yields;                                                  // some do in this step
  double energy_scale, momentum_scale, angular_momentum_scale;  // largest seen so far
  double lowest, highest;                                       // of the raw energy balance so far, J
  carom_trend energy_trend;
  bool contacts, joints;  // there were any
  int64_t steps, unseen;  // and those since all near bodies were looked at
  bool failed;            // a step did
  double failed_at;       // s
  bool seen;              // they were, as they are now
  int64_t untold;         // contacts of which no event told
  int next_event;         // events are looked at closely in turn
  // ---- the worst: energies and momenta absolute, the rest relative
  carom_finding energy, made, dissipated, loss, momentum, angular_momentum, flight, position, overlap, passage;
  carom_finding residual, law, slip, drift, creep;
  // ---- bodies without inertia (equilibrium.c)
  bool massless;                 // all that moves lies on supports
  carom_arena arena;             // of the next two
  carom_loads loads;             // forces in this step
  carom_mat3 *directors;         // (body_count) at its start
  carom_contact_event *touches;  // (touch_count) of the step before
  int touch_count, touch_capacity;
  carom_sum power;   // work of driven bodies and forces, less what supports and friction took, J
  carom_sum gained;  // what contacts and supports gave, J
  double worked;     // sum of |work|, J
  carom_finding equilibrium, unbalanced;
  carom_audit_sample latest;
};

// flight.c: momenta and positions of single bodies
void carom_audit_flight(carom_audit *audit, const carom_state *state, double dt, bool told);
// How far a body may have been off the straight way within the step, at the most, m.
double carom_audit_stray(const carom_audit *audit, const carom_state *state, int body);
double carom_audit_speed(const carom_audit *audit, const carom_state *state, int body);  // of any point of it, m/s

void carom_audit_free_flight(carom_audit *audit, const carom_state *state, int body);  // its momentum alone

// nodes.c: solids that deform
carom_status carom_audit_solids_create(carom_audit *audit, carom_error *error);
void carom_audit_solids_destroy(carom_audit *audit);
void carom_audit_solids_begin(carom_audit *audit);                              // at the start
void carom_audit_solids_clear(carom_audit *audit);                              // before the events of a step
void carom_audit_measure_solids(carom_audit *audit, const carom_state *state);  // before its events are judged
// Judges all that a step did to nodes; `told`: all events of the step are known.
void carom_audit_nodes(carom_audit *audit, const carom_state *state, bool told);
void carom_audit_solids_keep(carom_audit *audit);  // after the step
void carom_audit_push_solid(carom_audit *audit, int solid, carom_vec3 point, carom_vec3 impulse);
// Picks the solids that moved far since they were looked at; true when there are any.
bool carom_audit_choose_solids(carom_audit *audit);
// `all`: whatever moved or not.
void carom_audit_look_at_solids(carom_audit *audit, const carom_state *state, bool all);
bool carom_audit_solid_is_alone(const carom_audit *audit, const carom_state *state, int solid);

// equilibrium.c: bodies without inertia
bool carom_audit_is_massless(const carom_model *model);
void carom_audit_equilibrium(carom_audit *audit, const carom_state *state, const carom_step_report *report);

// audit.c
void carom_audit_note_balance(carom_audit *audit, const carom_state *state, const carom_balance *now);
void carom_audit_look(carom_audit *audit, const carom_state *state, const carom_step_report *report);

// laws.c: events against the laws of contact
carom_vec3 carom_audit_velocity_at(const carom_audit *audit, const carom_state *state, int body, carom_vec3 point);
carom_vec3 carom_audit_relative_velocity(const carom_audit *audit, const carom_state *state,
                                         const carom_contact_event *e);  // of A against B at the event's place
double carom_audit_swerve(const carom_audit *audit, const carom_state *state, const carom_contact_event *e);
double carom_audit_slip_leeway(const carom_audit *audit, const carom_state *state, const carom_contact_event *e);
carom_lawful carom_audit_events(carom_audit *audit, const carom_state *state, const carom_step_report *report);

// soft_laws.c: events that solids take part in
static inline bool carom_is_soft(const carom_contact_event *e) {
  return e->body_a < CAROM_WORLD || e->body_b < CAROM_WORLD;
}
void carom_audit_soft_event(carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                            carom_contact_surface surface, carom_lawful *sum);
void carom_audit_soft_place(carom_audit *audit, const carom_state *state, const carom_contact_event *e, double depth);

// alone.c: pairs that touch nobody else
typedef struct carom_met {
  carom_contact_surface surface;
  carom_vec3 before, after;  // velocities of A against B at the event's place, at both ends of the step
  double turn;               // by how much the bodies turned, rad
} carom_met;
// The fastest that the bodies surely were along the normal where they touch, at either end of the step, m/s.
double carom_audit_normal_speed(const carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                                const carom_met *met);
void carom_audit_judge_alone(carom_audit *audit, const carom_state *state, const carom_contact_event *e,
                             const carom_met *met);

#endif
