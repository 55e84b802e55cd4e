// Bodies that go by Coulomb's law bounce at the moment they meet. What is about to does not enter the program: the step
// is cut where they meet, momenta jump there by the impact law (impact/system.h), all at once where many touch, and the
// rest of the step goes on from there. So nothing but the law decides how much energy an impact takes, and chains of
// elastic bodies that touch keep theirs.
#include <math.h>

#include "base/groups.h"
#include "base/memory.h"
#include "step/cone/cone.h"

static const double SLOWEST = 2;          // impacts are faster than what forces add in so many steps,
static const double ELASTIC = 1e-3;       // or, where nothing may be lost, than so much of that;
static const double NOISE = 1e-9;         // and than so many half-widths of the thinnest body per step
static const double TOUCHING = 1e-5;      // half-widths of the thinnest body: a gap that is none
static const double SOON = 1e-5;          // of the step: an impact that is taken to be now,
static const double SOON_OF_MANY = 0.02;  // and where there are so many bodies that each would cut the step
enum { MANY = 8 };
static const double BEFORE = 1 - 1e-6;  // of the way to where bodies meet
static const double LEAST = 1e-6;       // of a part of the step that is gone at once
static const double DEEP = 1e-4;        // half-widths: overlap at the end for which a part of the step is too long
static const double TURN = 0.1;         // rad: how far a jointed body may turn in a part of the step
static const double SHORT = 1.0 / 512;  // of the step: a part that is not cut for that

// ---- which are impacts ----------------------------------------------------------------------------------------------

// What rests is pushed by forces, and may not hop for ever; of what is elastic only that which does not come by itself.
static double slowest(const carom_cone *c, double restitution, double pushed) {
  double slow = SLOWEST * c->whole * fmax(cm_norm(c->model->gravity), pushed);
  return fmax(restitution < 1 ? slow : ELASTIC * slow, NOISE * c->bodies.smallest / c->whole);
}

static bool is_due(const carom_cone *c, double gap, double approach) {
  double soon = c->model->moving_count > MANY ? SOON_OF_MANY : SOON;
  return gap <= TOUCHING * c->bodies.smallest + soon * c->whole * approach;
}

// Speed with which bodies that go freely will meet; 0 when they do not.
static double speed_at_meeting(const carom_cone *c, double gap, double start, double more) {
  if (gap <= TOUCHING * c->bodies.smallest) return fmax(0, -start);
  double root = start * start - 2 * more * gap / c->h;
  return root >= 0 && sqrt(root) > start ? sqrt(root) : 0;
}

double carom_cone_awaited(const carom_cone *c, const carom_near *near, double start, double free) {
  double speed = speed_at_meeting(c, near->gap, start, free - start);
  bool bounces = near->restitution > 0 && speed > slowest(c, near->restitution, fabs(free - start) / c->h);
  return bounces && !c->hasty ? speed : 0;
}

bool carom_cone_collides_now(const carom_cone *c) {
  for (int i = 0; i < c->search.near_count && c->program.impacts; i++) {
    const carom_near *near = &c->search.near[i];
    if (!carom_cone_is_impact(c, i)) continue;
    double start = cm_dot(near->normal, carom_near_velocity(near, &c->bodies.start));
    double pushed = cm_dot(near->normal, carom_near_velocity(near, &c->bodies.free)) - start;
    if (-start > slowest(c, near->restitution, fabs(pushed) / c->h) && is_due(c, near->gap, -start)) return true;
  }
  return false;
}

// ---- how far a part of the step may go
// --------------------------------------------------------------------------------

double carom_cone_first_meeting(const carom_cone *c) {
  double first = 1;
  for (int i = 0; i < c->search.near_count; i++) {
    const carom_near *near = &c->search.near[i];
    if (!carom_cone_is_impact(c, i)) continue;
    double start = cm_dot(near->normal, carom_near_velocity(near, &c->bodies.start));
    double after = cm_dot(near->normal, carom_near_velocity(near, &c->bodies.after));
    if (near->gap + 0.5 * c->h * (start + after) > 0) continue;
    first = fmin(first, BEFORE * carom_cone_time_to_close(near->gap / c->h, start, after - start));
  }
  return fmax(first, LEAST);
}

double carom_cone_shortest(const carom_cone *c) { return SHORT * c->whole; }

// Joints are of first order in how far bodies turn.
static double share_of_turn(const carom_cone *c) {
  double fastest = 0;
  for (int i = 0; i < c->joints.equation_count; i++) {
    const carom_contact_row *row = &c->joints.rows[i];
    for (int end = 0; end < 2; end++) {
      int rank = end == 0 ? row->a : row->b;
      if (rank >= 0 && rank < c->model->moving_count)
        fastest = fmax(fastest, cm_norm(c->bodies.start.w[c->bodies.mover[rank]]));
    }
  }
  return fastest * c->h > TURN ? TURN / (fastest * c->h) : 1;
}

double carom_cone_good_share(const carom_cone *c) {
  double allowed = fmax(DEEP * c->bodies.smallest, 1.01 * c->outcome.overlap);
  bool deep = c->outcome.foreseen > allowed && c->h > carom_cone_shortest(c);
  if (!c->outcome.held && c->h > carom_cone_shortest(c)) return 0.5;
  if (c->h > carom_cone_shortest(c) && share_of_turn(c) < 0.9) return fmax(share_of_turn(c), 0.1);
  return deep ? fmax(0.1, 0.8 * sqrt(allowed / c->outcome.foreseen)) : 1;  // it grows with the square
}

// ---- the impact -----------------------------------------------------------------------------------------------------

static double approach_of(const carom_cone *c, const carom_state *state, const carom_contact *contact) {
  return fmax(0, -carom_contact_normal_velocity(c->program.impacts, state, contact));
}

static void unite_jointed(const carom_cone *c, const carom_state *state, int *parent) {
  for (int i = 0; i < c->model->joint_count; i++) {
    const int *body = c->model->joints[i].body;
    if (carom_joint_acts(c->model, state, i) && carom_cone_moves(c, body[0]) && carom_cone_moves(c, body[1]))
      carom_group_unite(parent, body[0], body[1]);
  }
}

// Bodies that touch, or do so at once, and are reached by an impact: those of its group.
static void find_hit(const carom_cone *c, const carom_state *state, const carom_contact *contacts, int count) {
  int *parent = c->search.first;  // free at this time
  bool *hit = c->bodies.touches;
  for (int i = 0; i < c->model->body_count; i++) parent[i] = i, hit[i] = false;
  unite_jointed(c, state, parent);
  for (int i = 0; i < count; i++)
    if (carom_cone_moves(c, contacts[i].body_b) && is_due(c, contacts[i].gap, approach_of(c, state, &contacts[i])))
      carom_group_unite(parent, contacts[i].body_a, contacts[i].body_b);
  for (int i = 0; i < count; i++) {
    double approach = approach_of(c, state, &contacts[i]), e = contacts[i].restitution;
    if (e > 0 && approach > slowest(c, e, 0) && is_due(c, contacts[i].gap, approach))
      hit[carom_group_root(parent, contacts[i].body_a)] = true;
  }
  for (int i = 0; i < c->model->body_count; i++) hit[i] = hit[carom_group_root(parent, i)];
}

static carom_status keep_due(carom_cone *c, const carom_state *state, const carom_contact *contacts, int count,
                             int *kept, carom_error *error) {
  carom_cone_search *s = &c->search;
  if (!carom_reserve(&c->allocator, (void **)&s->due, &s->due_capacity, count, sizeof *s->due))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the impacts of %d contacts", count);
  find_hit(c, state, contacts, count);
  *kept = 0;
  for (int i = 0; i < count; i++)
    if (c->bodies.touches[contacts[i].body_a] && is_due(c, contacts[i].gap, approach_of(c, state, &contacts[i])) &&
        !carom_joints_hold(c->model, state, contacts[i].body_a, contacts[i].body_b))
      s->due[(*kept)++] = contacts[i];
  return CAROM_OK;
}

carom_status carom_cone_collide(carom_cone *c, carom_state *state, carom_ledger *ledger, carom_error *error) {
  const carom_contact *contacts;
  int count = 0, kept = 0;
  carom_impact_system_set_time(c->program.impacts, state->time, 0.01 * c->whole);
  carom_status status = carom_cone_find_contacts(c, state, &contacts, &count, error);
  if (status == CAROM_OK) status = keep_due(c, state, contacts, count, &kept, error);
  if (status != CAROM_OK || kept == 0) return status;
  return carom_impact_system_resolve(c->program.impacts, state, c->search.due, kept, ledger, error);
}
