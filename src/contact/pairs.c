#include "contact/pairs.h"

#include <float.h>
#include <limits.h>
#include <math.h>

#include "base/memory.h"
#include "base/tape.h"
#include "collide/broadphase_box.h"

// Boxes are larger than their parts by this share of their longest side.
static const double BOX_MARGIN = 0.05;

// ---- making -------------------------------------------------------------------------------------------------------

static bool movable(const carom_model *model, int body) { return !model->bodies[body].fixed; }

static void number_parts(carom_contacts *set) {
  const carom_model *model = set->model;
  for (int b = 0; b < model->body_count; b++) {
    const carom_body *body = &model->bodies[b];
    for (int i = 0; i < body->part_count; i++) set->body_of_part[body->part_start + i] = b;
  }
}

// Many grains of about one size are found faster on a grid.
static bool grains(const carom_model *model) {
  double least = INFINITY, most = 0;
  int moving = 0;
  for (int b = 0; b < model->body_count; b++) {
    const carom_body *body = &model->bodies[b];
    if (body->fixed) continue;
    moving += body->part_count;
    least = fmin(least, body->bounding_radius);
    most = fmax(most, body->bounding_radius);
  }
  return moving >= 500 && most <= 2 * least;
}

// Proxies are numbered from 0 in the order in which they are added, hence as the parts are.
static carom_status add_proxies(carom_contacts *set, carom_error *error) {
  const carom_aabb nowhere = {{0, 0, 0}, {0, 0, 0}};
  for (int i = 0; i < set->model->part_count; i++) {
    carom_proxy_def def = carom_proxy_default();
    int proxy = -1;
    def.box = nowhere;
    def.body = set->body_of_part[i];
    def.fixed = set->model->ignores_contacts || !movable(set->model, def.body);  // two fixed ones make no pair
    carom_status status = carom_broadphase_add(set->broadphase, &def, &proxy, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

static carom_status exclude_neighbours(carom_contacts *set, carom_error *error) {
  for (int i = 0; i < set->model->apart_count; i++) {
    const carom_apart *pair = &set->model->aparts[i];
    carom_status status = carom_broadphase_exclude(set->broadphase, pair->body[0], pair->body[1], error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

static void lay_out(void *owner, carom_arena *arena) {
  carom_contacts *set = owner;
  set->body_of_part = CAROM_PUSH(arena, int, set->model->part_count);
  set->boxes = CAROM_PUSH(arena, carom_aabb, set->model->part_count);
}

carom_status carom_contacts_create(const carom_model *model, const carom_allocator *allocator, carom_contacts **set,
                                   carom_error *error) {
  const carom_contacts initial = {.model = model, .planar = model->planar};
  carom_contacts *s = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  carom_broadphase_options options = carom_broadphase_default_options();
  options.uniform_grid = grains(model);
  options.margin = DBL_MIN;  // the boxes have theirs
  carom_status status = s ? carom_broadphase_create(&options, allocator, &s->broadphase, error) : CAROM_ERR_MEMORY;
  if (status == CAROM_OK) number_parts(s);
  if (status == CAROM_OK) status = add_proxies(s, error);
  if (status == CAROM_OK) status = exclude_neighbours(s, error);
  if (status != CAROM_OK)
    carom_contacts_destroy(s);
  else
    *set = s;
  return status;
}

void carom_contacts_destroy(carom_contacts *set) {
  if (!set) return;
  carom_broadphase_destroy(set->broadphase);
  CAROM_RELEASE_ALL(&set->arena.allocator, set->pairs, set->older, set->contacts);
  carom_object_destroy(set);
}

// ---- candidate pairs ----------------------------------------------------------------------------------------------

carom_placed carom_contacts_place(const carom_contacts *set, int part, const carom_state *state) {
  const carom_part *p = &set->model->parts[part];
  int body = set->body_of_part[part];
  return (carom_placed){p->shape, cm_compose(cm_pose(state->x[body], state->q[body]), p->pose)};
}

static carom_aabb widened(carom_aabb box, double reach) {
  carom_vec3 margin = cm_vec3(reach, reach, reach);
  return (carom_aabb){cm_sub(box.low, margin), cm_add(box.high, margin)};
}

static double margin_of(const carom_aabb *box) {
  carom_vec3 d = cm_sub(box->high, box->low);
  double longest = 0, side[3] = {d.x, d.y, d.z};
  for (int k = 0; k < 3; k++)
    if (isfinite(side[k])) longest = fmax(longest, side[k]);
  return BOX_MARGIN * longest;
}

// Parts keep their boxes until they leave them, so that few are looked up anew. The margins are kept here and not in
// the broad phase, so that they can be put back with the rest of the memory.
static void move_proxies(carom_contacts *set, const carom_state *state, const double *reach) {
  for (int i = 0; i < set->model->part_count; i++) {
    carom_placed part = carom_contacts_place(set, i, state);
    carom_aabb box = carom_aabb_of(&part);
    if (reach) box = widened(box, reach[set->body_of_part[i]]);
    if (carom_box_contains(&set->boxes[i], &box)) continue;
    set->boxes[i] = widened(box, margin_of(&box));
    carom_broadphase_move(set->broadphase, i, set->boxes[i]);
  }
}

static carom_part_pair pair_make(const carom_contacts *set, int a, int b) {
  const carom_model *model = set->model;
  if (!movable(model, set->body_of_part[a])) {
    int swap = a;
    a = b;
    b = swap;
  }
  carom_part_pair pair = {
      .part_a = a, .part_b = b, .body_a = set->body_of_part[a], .body_b = set->body_of_part[b], .cache = {0}};
  carom_contact_surface s = carom_model_surface(model, pair.body_a, pair.body_b);
  pair.restitution = s.restitution;
  pair.friction = s.friction;
  return pair;
}

static int low_part(const carom_part_pair *p) { return p->part_a < p->part_b ? p->part_a : p->part_b; }
static int high_part(const carom_part_pair *p) { return p->part_a < p->part_b ? p->part_b : p->part_a; }

static bool comes_before(const carom_part_pair *p, const carom_pair *found) {
  return low_part(p) < found->a || (low_part(p) == found->a && high_part(p) < found->b);
}

static bool is_pair(const carom_part_pair *p, const carom_pair *found) {
  return low_part(p) == found->a && high_part(p) == found->b;
}

// Both lists are sorted, so that bases are carried over in one pass.
static void merge_pairs(carom_contacts *set, int older_count, const carom_pair *found, int count) {
  int k = 0;
  for (int i = 0; i < count; i++) {
    while (k < older_count && comes_before(&set->older[k], &found[i])) k++;
    bool known = k < older_count && is_pair(&set->older[k], &found[i]);
    set->pairs[i] = known ? set->older[k] : pair_make(set, found[i].a, found[i].b);
  }
  set->pair_count = count;
}

// The broad phase knows boxes by number; who reads the message knows bodies by name.
static carom_status blame_body(carom_contacts *set, const carom_state *state, carom_error *error) {
  const carom_model *model = set->model;
  int part = 0;
  while (part + 1 < model->part_count && carom_box_is_sound(&set->boxes[part])) part++;
  const carom_body *body = &model->bodies[set->body_of_part[part]];
  return carom_fail(
      error, CAROM_ERR_NUMBER,
      "body '%.200s' is no longer anywhere at t = %.9g s: its position or the way that it moves in a step "
      "is not finite; check its start state and the forces on it",
      body->name, state->time);
}

static carom_status look_up(carom_contacts *set, const carom_state *state, carom_error *error) {
  const carom_pair *found;
  int count;
  carom_status status = carom_broadphase_update(set->broadphase, &found, &count, error);
  if (status == CAROM_ERR_NUMBER) return blame_body(set, state, error);
  if (status != CAROM_OK) return status;
  carom_part_pair *pairs = set->pairs;
  int capacity = set->pair_capacity, older_count = set->pair_count;
  set->pairs = set->older;
  set->pair_capacity = set->older_capacity;
  set->older = pairs;
  set->older_capacity = capacity;
  set->pair_count = 0;
  if (!carom_reserve(&set->arena.allocator, (void **)&set->pairs, &set->pair_capacity, count, sizeof *set->pairs))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d pairs of near bodies", count);
  merge_pairs(set, older_count, found, count);
  return CAROM_OK;
}

carom_status carom_contacts_update(carom_contacts *set, const carom_state *state, const double *reach,
                                   carom_error *error) {
  move_proxies(set, state, reach);
  return look_up(set, state, error);
}

carom_status carom_contacts_sweep(carom_contacts *set, const carom_state *state, carom_pair_look *look, void *context,
                                  carom_error *error) {
  const carom_pair *found;
  int count = 0;
  move_proxies(set, state, NULL);
  carom_status status = carom_broadphase_update(set->broadphase, &found, &count, error);
  if (status == CAROM_ERR_NUMBER) return blame_body(set, state, error);
  if (status == CAROM_OK &&
      !carom_reserve(&set->arena.allocator, (void **)&set->pairs, &set->pair_capacity, 1, sizeof *set->pairs))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a pair of near bodies");
  for (int i = 0; i < count && status == CAROM_OK; i++) {
    set->pair_count = 1;
    set->pairs[0] = pair_make(set, found[i].a, found[i].b);
    status = look(context, state, error);
  }
  set->pair_count = 0;
  return status;
}

carom_status carom_contacts_extend(carom_contacts *set, const carom_state *state, carom_error *error) {
  bool any = false;
  for (int i = 0; i < set->model->part_count; i++) {
    carom_placed part = carom_contacts_place(set, i, state);
    carom_aabb box = carom_aabb_of(&part);
    if (carom_box_contains(&set->boxes[i], &box)) continue;
    carom_aabb larger = widened(box, margin_of(&box));
    set->boxes[i] = carom_box_union(&set->boxes[i], &larger);
    carom_broadphase_move(set->broadphase, i, set->boxes[i]);
    any = true;
  }
  return any ? look_up(set, state, error) : CAROM_OK;
}

// ---- separation and contact points --------------------------------------------------------------------------------

// In a planar scene an overlap deeper than the bodies are high would part them along z; then the program in the plane
// decides.
static carom_status lay_flat(const carom_placed *a, const carom_placed *b, carom_distance_result *d) {
  carom_ssh_options options = carom_ssh_default_options();
  carom_ssh_result plane;
  options.planar = true;
  carom_status status = carom_ssh(a, b, &options, NULL, &plane);
  if (status != CAROM_OK) return status;
  d->distance = plane.gap / cm_norm(plane.alpha);
  d->normal = plane.normal;
  d->point_a = plane.point_a;
  d->point_b = plane.point_b;
  d->feature_a = plane.feature_a;
  d->feature_b = plane.feature_b;
  return CAROM_OK;
}

carom_status carom_contacts_distance(carom_contacts *set, int pair, const carom_state *state,
                                     carom_distance_result *result) {
  carom_part_pair *p = &set->pairs[pair];
  carom_placed a = carom_contacts_place(set, p->part_a, state), b = carom_contacts_place(set, p->part_b, state);
  carom_status status = carom_distance(&a, &b, &p->cache, result);
  if (status == CAROM_OK && set->planar && fabs(result->normal.z) > 1e-6) status = lay_flat(&a, &b, result);
  return status;
}

carom_contact carom_contacts_blank(const carom_contacts *set, int pair) {
  const carom_part_pair *p = &set->pairs[pair];
  return (carom_contact){.pair = pair,
                         .body_a = p->body_a,
                         .body_b = p->body_b,
                         .part_a = p->part_a,
                         .part_b = p->part_b,
                         .restitution = p->restitution,
                         .friction = p->friction};
}

// Touches anything in one point only. (The features of a distance do not tell: one corner of a face that lies flat is
// as near as the others, and may stand for them.)
static bool is_ball(const carom_shape *shape) {
  carom_shape_kind kind = carom_shape_get_kind(shape);
  return kind == CAROM_SHAPE_SPHERE || kind == CAROM_SHAPE_ELLIPSOID;
}

// Where edges or faces lie on each other, the point of least norm keeps the symmetry (Johnson 2012, 2.7.5).
static void center_ties(const carom_placed *a, const carom_placed *b, carom_contact *c) {
  carom_ssh_options options = carom_ssh_default_options();
  carom_ssh_result result;
  carom_ssh_optimum optimum;
  options.given_beta = true;
  options.beta = c->normal;
  if (carom_ssh(a, b, &options, NULL, &result) != CAROM_OK || result.outcome != CAROM_SSH_SOLVED) return;
  if (fabs(result.gap - c->gap) > 1e-9 * (1 + fabs(c->gap))) return;  // another plane: keep what the distance said
  if (carom_ssh_resolve(a, b, &result, 0, &optimum) != CAROM_OK) return;
  c->point_a = optimum.point_a;
  c->point_b = optimum.point_b;
}

// The corners of a polygon are those of an outline, and the nearest point may be within it, as the tip of a flat cone
// is: then it is one of the contacts besides, or takes the place of its neighbour.
static int with_nearest(const carom_contact *nearest, double blur, carom_contact *contacts, int count) {
  double least = INFINITY, closest = INFINITY;
  int place = count < CAROM_MANIFOLD_MAX ? count : 0;
  for (int i = 0; i < count; i++) {
    double away = cm_norm(cm_sub(contacts[i].point_a, nearest->point_a));
    least = fmin(least, contacts[i].gap);
    if (count == CAROM_MANIFOLD_MAX && away < closest) closest = away, place = i;
  }
  if (least <= nearest->gap + blur) return count;
  contacts[place] = *nearest;
  return place == count ? count + 1 : count;
}

static int polygon(const carom_placed *a, const carom_placed *b, const carom_contact *nearest, double slop,
                   carom_contact *contacts) {
  carom_manifold manifold;
  contacts[0] = *nearest;
  if (carom_contact_manifold(a, b, nearest->normal, slop, &manifold) != CAROM_OK || manifold.count == 0) return 1;
  for (int i = 0; i < manifold.count; i++) {
    contacts[i] = *nearest;
    contacts[i].gap = manifold.points[i].gap;
    contacts[i].point_a = manifold.points[i].point_a;
    contacts[i].point_b = manifold.points[i].point_b;
  }
  return with_nearest(nearest, 1e-8 * carom_shape_bounding_radius(a->shape), contacts, manifold.count);
}

// The polygon of two prisms stands upright on the plane; its shadow is a point or a segment.
static int flatten(carom_contact *contacts, int count) {
  int left = 0;
  for (int i = 0; i < count; i++) {
    carom_contact c = contacts[i];
    bool new_point = true;
    c.point_a.z = c.point_b.z = 0;
    for (int k = 0; k < left; k++)
      if (cm_norm(cm_sub(contacts[k].point_a, c.point_a)) < 1e-9) new_point = false;
    if (new_point) contacts[left++] = c;
  }
  return left;
}

int carom_contacts_of_pair(const carom_contacts *set, int pair, const carom_state *state,
                           const carom_distance_result *distance, const carom_contact_query *query,
                           carom_contact *contacts) {
  contacts[0] = carom_contacts_blank(set, pair);
  contacts[0].gap = distance->distance, contacts[0].normal = distance->normal;
  contacts[0].point_a = distance->point_a, contacts[0].point_b = distance->point_b;
  const carom_part *parts = set->model->parts;
  if (is_ball(parts[contacts[0].part_a].shape) || is_ball(parts[contacts[0].part_b].shape)) return 1;
  carom_placed a = carom_contacts_place(set, contacts[0].part_a, state);
  carom_placed b = carom_contacts_place(set, contacts[0].part_b, state);
  carom_contact nearest = contacts[0];
  int count = 1;
  if (query->detail == CAROM_CONTACT_POLYGON)
    count = polygon(&a, &b, &nearest, query->slop, contacts);
  else
    center_ties(&a, &b, &contacts[0]);
  return set->planar ? flatten(contacts, count) : count;
}

carom_status carom_contacts_no_separation(const carom_contacts *set, int pair, const carom_state *state,
                                          carom_status status, carom_error *error) {
  const carom_part_pair *p = &set->pairs[pair];
  return carom_fail(error, status,
                    "no separation of bodies '%s' and '%s' at t = %.9g s: a pose is not finite, or a shape degenerate",
                    set->model->bodies[p->body_a].name, set->model->bodies[p->body_b].name, state->time);
}

carom_status carom_contacts_find(carom_contacts *set, const carom_state *state, const carom_contact_query *query,
                                 const carom_contact **contacts, int *count, carom_error *error) {
  set->contact_count = 0;
  for (int i = 0; i < set->pair_count; i++) {
    carom_distance_result d;
    carom_status status = carom_contacts_distance(set, i, state, &d);
    if (status != CAROM_OK) return carom_contacts_no_separation(set, i, state, status, error);
    if (d.distance > query->reach) continue;
    if (!carom_reserve(&set->arena.allocator, (void **)&set->contacts, &set->contact_capacity,
                       set->contact_count + CAROM_MANIFOLD_MAX, sizeof *set->contacts))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contacts");
    set->contact_count += carom_contacts_of_pair(set, i, state, &d, query, set->contacts + set->contact_count);
  }
  *contacts = set->contacts;
  *count = set->contact_count;
  return CAROM_OK;
}

// ---- for checkpoints ------------------------------------------------------------------------------------------------

static bool is_of_set(const carom_contacts *set, const carom_part_pair *p) {
  int parts = set->model->part_count;
  return p->part_a >= 0 && p->part_a < parts && p->part_b >= 0 && p->part_b < parts &&
         p->body_a == set->body_of_part[p->part_a] && p->body_b == set->body_of_part[p->part_b] &&
         isfinite(p->restitution) && isfinite(p->friction);
}

static bool is_sound(const carom_aabb *box) {
  return box->low.x <= box->high.x && box->low.y <= box->high.y && box->low.z <= box->high.z;
}

static carom_aabb far_off(double x) { return (carom_aabb){cm_vec3(x, x, x), cm_vec3(x, x, x)}; }

// The broad phase does not move a proxy to a box within the present one: each is taken far away first, to two places,
// since a half-space has one of them in it.
static bool put_boxes_back(carom_contacts *set) {
  int parts = set->model->part_count;
  for (int i = 0; i < parts; i++)
    if (!is_sound(&set->boxes[i])) return false;
  for (int i = 0; i < parts; i++) {
    carom_broadphase_move(set->broadphase, i, far_off(1e150));
    carom_broadphase_move(set->broadphase, i, far_off(-1e150));
    carom_broadphase_move(set->broadphase, i, set->boxes[i]);
  }
  return true;
}

bool carom_contacts_remember(carom_contacts *set, carom_tape *tape) {
  int count = set->pair_count;
  bool reads = carom_tape_reads(tape);
  if (reads) set->pair_count = 0;
  if (!carom_tape_pass(tape, set->boxes, (size_t)set->model->part_count * sizeof *set->boxes) ||
      !carom_tape_pass_count(tape, &count, sizeof *set->pairs))
    return false;
  if (reads && (!put_boxes_back(set) || !carom_reserve(&set->arena.allocator, (void **)&set->pairs, &set->pair_capacity,
                                                       count, sizeof *set->pairs)))
    return false;
  if (!carom_tape_pass(tape, set->pairs, (size_t)count * sizeof *set->pairs)) return false;
  for (int i = 0; i < count && reads; i++)
    if (!is_of_set(set, &set->pairs[i])) return false;
  set->pair_count = count;
  return true;
}
