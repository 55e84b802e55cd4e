// From what is near to contacts, at one configuration.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "contact/potential.h"
#include "contact/soft.h"
#include "geometry/tet_shape.h"
#include "model/row.h"

// Of the overlap at which contact would be lost: more must not be closed in one step.
static const double CAUTION = 0.5;

// ---- one contact ----------------------------------------------------------------------------------------------------

static carom_soft_end end_of_skin(const carom_skin *skin, int facet, const double weight[3], carom_vec3 point) {
  carom_soft_end end = {.body = CAROM_SOLID(skin->solid), .point = point};
  for (int k = 0; k < 3; k++) end.node[k] = skin->node_start + skin->triangles[facet][k], end.weight[k] = weight[k];
  return end;
}

static carom_soft_end end_of_node(const carom_soft *s, int node, carom_vec3 point) {
  int solid = carom_model_solid_of(s->model, node);
  return (carom_soft_end){.body = CAROM_SOLID(solid), .node = {node, node, node}, .weight = {1, 0, 0}, .point = point};
}

static carom_soft_end end_of_hull(const carom_hull *hull, carom_vec3 point) {
  return (carom_soft_end){.body = hull->body, .point = point};
}

// Rigid bodies that move stand first, those that do not last.
static void put_in_order(const carom_model *m, carom_soft_contact *c) {
  int b = c->end[1].body;
  if (b < 0 || m->bodies[b].fixed) return;
  carom_soft_end other = c->end[0];
  c->end[0] = c->end[1], c->end[1] = other;
  c->normal = cm_neg(c->normal);
  c->rim = cm_neg(c->rim);
}

static double rate_of(const carom_soft *s, const carom_state *state, const carom_soft_contact *c) {
  carom_vec3 a = carom_soft_velocity(s, state, s->rates, &c->end[0]);
  return cm_dot(c->normal, cm_sub(a, carom_soft_velocity(s, state, s->rates, &c->end[1])));
}

// The step begins, passes or ends in contact.
static bool is_felt(const carom_soft *s, const carom_soft_contact *c) {
  return c->gap < 0 || (s->trial && c->gap - 0.5 * s->span * fabs(c->rate) < 0);
}

static carom_status too_fast(const carom_soft *s, const carom_soft_contact *c, double speed, carom_error *error) {
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "'%s' and '%s' meet at %.3g m/s at t = %.9g s, too fast for surfaces of %.3g m: use a step below "
                    "%.2g s",
                    carom_model_name(s->model, c->end[0].body), carom_model_name(s->model, c->end[1].body), speed,
                    s->time, 2 * c->deep, CAUTION * c->deep / speed);
}

static carom_status pressed_through(const carom_soft *s, const carom_soft_contact *c, carom_error *error) {
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "'%s' and '%s' are pressed %.3g m into each other at t = %.9g s, more than contact between such "
                    "tetrahedra can hold (%.3g m): use smaller steps, a stiffer material or a coarser mesh",
                    carom_model_name(s->model, c->end[0].body), carom_model_name(s->model, c->end[1].body), -c->gap,
                    s->time, c->deep);
}

static double frequency_of(const carom_soft *s, const carom_soft_end *end) {
  return end->body < CAROM_WORLD ? s->model->solids[CAROM_SOLID(end->body)].frequency : 0;
}

static carom_status keep(carom_soft *s, const carom_state *state, carom_soft_contact *c, carom_error *error) {
  put_in_order(s->model, c);
  if (c->gap <= -c->deep || c->stiffness == 0) return CAROM_OK;
  c->rate = rate_of(s, state, c);
  double speed = -c->rate;
  if (!s->trial && c->gap - speed * s->span < -CAUTION * c->deep && speed * s->span > 0.5 * CAUTION * c->deep)
    return too_fast(s, c, speed, error);
  if (!is_felt(s, c)) return CAROM_OK;
  if (c->gap < -0.9 * c->deep && !s->trial) return pressed_through(s, c, error);
  carom_contact_surface surface = carom_model_surface(s->model, c->end[0].body, c->end[1].body);
  c->restitution = surface.restitution, c->friction = surface.friction;
  if (s->drag_for != c->restitution) s->drag_for = c->restitution, s->drag = carom_drag_ratio(c->restitution);
  c->drag = s->drag;
  c->frequency = fmax(frequency_of(s, &c->end[0]), frequency_of(s, &c->end[1]));
  if (!carom_grow(&s->arena.allocator, (void **)&s->contacts, s->count, &s->capacity, sizeof *s->contacts))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts of solids", s->count + 1);
  s->contacts[s->count++] = *c;
  s->energy += c->gap < 0 ? 0.5 * c->stiffness * c->gap * c->gap : 0;
  s->depth = fmax(s->depth, -c->gap);
  return CAROM_OK;
}

// ---- facets ---------------------------------------------------------------------------------------------------------

// The tetrahedron behind a facet.
static carom_placed behind(const carom_soft *s, const carom_skin *skin, int facet, int which) {
  const carom_solid *solid = &s->model->solids[skin->solid];
  const int *n = s->model->tets[solid->tet_start + solid->skin->triangle_tets[facet]];
  const carom_vec3 *x = s->nodes;
  return (carom_placed){s->tet[which], carom_tet_shape_put(s->tet[which], x[n[0]], x[n[1]], x[n[2]], x[n[3]])};
}

// Weights of the point of a facet's plane; false when it lies beside the facet by more than a share of it.
static bool is_over(const carom_facet *f, carom_vec3 x, double beside, double weight[3]) {
  carom_vec3 p = cm_sub(f->x[1], f->x[0]), q = cm_sub(f->x[2], f->x[0]), r = cm_sub(x, f->x[0]), twice = cm_cross(p, q);
  weight[1] = cm_dot(twice, cm_cross(r, q)) / cm_norm2(twice);
  weight[2] = cm_dot(twice, cm_cross(p, r)) / cm_norm2(twice);
  weight[0] = 1 - weight[1] - weight[2];
  return fmin(weight[0], fmin(weight[1], weight[2])) >= -beside;
}

// A corner may lie deep behind the other facet and just under another face of the same surface: two boxes that overlap
// by little in one direction look far into each other in the others. It touches along the least of these ways.
static const double SIDEWAYS = 0.3, STRAIGHT = 0.6;  // of the other way over this one: none of it counts, all does
static const double SHALLOW = 0.03;                  // of the deepest: less is not looked into
static const double TURNED = 0.5;                    // cosine: another face
static const double NEXT_TO = 0.02;                  // places between two facets of a face are under it

// A place under a surface, and how far it is to its faces that look elsewhere than `normal`.
typedef struct sounding {
  carom_vec3 place, normal;
  const carom_facet *facets;
  bool itself;  // the surface touches itself: the facet that it touches with lies there, too
  double least;
} sounding;

static bool sound_facet(void *context, int facet) {
  sounding *q = context;
  const carom_facet *f = &q->facets[facet];
  double weight[3], depth = cm_dot(f->normal, cm_sub(f->x[0], q->place));
  double turned = cm_dot(f->normal, q->normal);
  if ((q->itself ? fabs(turned) : turned) > TURNED || fabs(depth) >= q->least) return true;
  if (is_over(f, cm_axpy(q->place, depth, f->normal), NEXT_TO, weight))
    q->least = fmax(0, depth);  // outside: none at all
  return true;
}

static double other_way_out(const carom_skin *skin, bool itself, carom_vec3 place, carom_vec3 normal, double depth) {
  sounding q = {place, normal, skin->facets, itself, depth};
  carom_vec3 reach = cm_vec3(depth, depth, depth);
  const carom_aabb box = {cm_sub(place, reach), cm_add(place, reach)};
  carom_box_tree_query(&skin->tree, skin->boxes, &box, sound_facet, &q);
  return q.least;
}

static double other_way_out_of_hull(const carom_hull *hull, carom_vec3 place, carom_vec3 normal, double depth) {
  sounding q = {place, normal, hull->facets, false, depth};
  for (int i = 0; i < hull->count; i++) sound_facet(&q, i);
  return q.least;
}

// Two surfaces; the second is a skin's or a hull's.
typedef struct surfaces {
  const carom_skin *a, *b;
  const carom_hull *hull;
  const carom_soft *soft;
  int facet_a, facet_b;
  double deep;
} surfaces;

static double ways_out(const surfaces *s, const carom_facet_point *p, double depth) {
  double in_a = other_way_out(s->a, s->a == s->b, p->point_b, cm_neg(p->normal), depth);
  double in_b = s->b ? other_way_out(s->b, s->a == s->b, p->point_a, p->normal, depth)
                     : other_way_out_of_hull(s->hull, p->point_a, p->normal, depth);
  return fmin(in_a, in_b);
}

// Corners of the rim are always next to another face; what counts is whether the polygon has room anywhere.
static void weigh_depths(const surfaces *s, carom_facet_point *points, int count) {
  carom_facet_point middle = {.gap = 0};
  double depth = 0, room = 0;
  for (int i = 0; i < count; i++) {
    depth = fmax(depth, points[i].gap > -s->deep ? -points[i].gap : 0);
    middle.normal = points[i].normal;
    middle.point_a = cm_axpy(middle.point_a, 1.0 / count, points[i].point_a);
    middle.point_b = cm_axpy(middle.point_b, 1.0 / count, points[i].point_b);
  }
  if (depth < SHALLOW * s->deep) return;
  room = ways_out(s, &middle, depth);
  for (int i = 0; i < count && room < STRAIGHT * depth; i++) room = fmax(room, ways_out(s, &points[i], depth));
  double weight = fmax(0, fmin(1, (room / depth - SIDEWAYS) / (STRAIGHT - SIDEWAYS)));
  for (int i = 0; i < count; i++) {
    points[i].area *= weight;
    points[i].rim = cm_scale(weight, points[i].rim);
  }
}

// Between facets that are askew: the least plane (Johnson 2012, 2.7.5) by which what is behind them would part along
// the mean of their normals. Where features tie, as edges that lie on each other do, it is as symmetric as they are.
static carom_vec3 askew_beta(const surfaces *s, carom_vec3 mean) {
  carom_ssh_options options = carom_ssh_default_options();
  carom_ssh_result r;
  carom_ssh_optimum o;
  carom_placed a = behind(s->soft, s->a, s->facet_a, 0);
  carom_placed b = s->b ? behind(s->soft, s->b, s->facet_b, 1) : s->hull->placed;
  options.given_beta = true;
  options.beta = mean;
  if (carom_ssh(&a, &b, &options, NULL, &r) != CAROM_OK || !(r.gap < 0)) return options.beta;
  if (r.outcome != CAROM_SSH_SOLVED) return options.beta;
  return carom_ssh_resolve(&a, &b, &r, 0, &o) == CAROM_OK ? cm_unit(o.alpha) : r.normal;
}

static bool any_overlaps(const carom_facet_point *points, int count) {
  for (int i = 0; i < count; i++)
    if (points[i].gap < 0) return true;
  return false;
}

// The oracle is asked only where facets overlap along the mean of their normals.
static int meet(const surfaces *s, const carom_facet *f, const carom_facet *g, carom_facet_point *points) {
  bool askew = carom_facets_face(f, g) == CAROM_FACING_ASKEW;
  carom_vec3 beta = cm_unit(cm_sub(g->normal, f->normal));
  int count = carom_facets_meet(f, g, &beta, points);
  if (!any_overlaps(points, count)) return count;
  if (askew) beta = askew_beta(s, beta);
  if (askew) count = carom_facets_meet(f, g, &beta, points);
  weigh_depths(s, points, count);
  return count;
}

// What facets a and b of both surfaces make of themselves, with k Pa/m.
static carom_status find_facets(carom_soft *s, const surfaces *both, double k, const carom_state *state,
                                carom_error *error) {
  const carom_facet *f = &both->a->facets[both->facet_a];
  const carom_facet *g = both->b ? &both->b->facets[both->facet_b] : &both->hull->facets[both->facet_b];
  carom_facet_point points[CAROM_FACET_POINTS];
  int count = carom_facets_face(f, g) == CAROM_FACING_AWAY ? 0 : meet(both, f, g, points);
  carom_status status = CAROM_OK;
  for (int i = 0; i < count && status == CAROM_OK; i++) {
    const carom_facet_point *p = &points[i];
    carom_soft_contact c = {
        .normal = p->normal, .gap = p->gap, .stiffness = k * p->area, .rim = cm_scale(k, p->rim), .deep = both->deep};
    c.end[0] = end_of_skin(both->a, both->facet_a, p->weight_a, p->point_a);
    c.end[1] =
        both->b ? end_of_skin(both->b, both->facet_b, p->weight_b, p->point_b) : end_of_hull(both->hull, p->point_b);
    status = keep(s, state, &c, error);
  }
  return status;
}

static carom_status find_skins(carom_soft *s, const carom_soft_near *n, const carom_state *state, carom_error *error) {
  const carom_skin *p = &s->skins[n->skin], *q = &s->skins[n->other];
  const surfaces both = {p, q, NULL, s, n->a, n->b, fmin(p->deep[n->a], q->deep[n->b])};
  return find_facets(s, &both, 1 / (1 / p->stiffness + 1 / q->stiffness), state, error);
}

static carom_status find_hull(carom_soft *s, const carom_soft_near *n, const carom_state *state, carom_error *error) {
  const carom_skin *skin = &s->skins[n->skin];
  const carom_hull *hull = &s->hulls[n->other];
  const surfaces both = {skin, NULL, hull, s, n->a, n->b, fmin(skin->deep[n->a], hull->deep)};
  return find_facets(s, &both, skin->stiffness, state, error);
}

// ---- points ---------------------------------------------------------------------------------------------------------

static carom_status find_node(carom_soft *s, const carom_soft_near *n, const carom_state *state, carom_error *error) {
  const carom_hull *hull = &s->hulls[n->other];
  carom_vec3 x = s->nodes[n->a];
  carom_placed point = {s->point, cm_pose(x, cm_quat(1, 0, 0, 0))};
  carom_distance_result d;
  carom_status status = carom_distance(&point, &hull->placed, NULL, &d);
  if (status != CAROM_OK)
    return carom_fail(error, status, "node %d of the solids has no distance to '%s' at t = %.9g s", n->a,
                      s->model->bodies[hull->body].name, s->time);
  carom_soft_contact c = {.normal = d.normal,
                          .gap = d.distance,
                          .stiffness = s->node_stiffness[n->a],
                          .deep = fmin(s->node_deep[n->a], hull->deep)};
  c.end[0] = end_of_node(s, n->a, x);
  c.end[1] = end_of_hull(hull, cm_axpy(x, -d.distance, d.normal));
  return keep(s, state, &c, error);
}

// ---- all ------------------------------------------------------------------------------------------------------------

typedef carom_status find_function(carom_soft *s, const carom_soft_near *n, const carom_state *state,
                                   carom_error *error);
static find_function *const find_by_kind[] = {find_skins, find_hull, find_node};

static void refit(carom_soft *s, const carom_state *state) {
  for (int i = 0; i < s->model->solid_count; i++)
    if (s->skins[i].near) carom_skin_place(&s->skins[i], s->nodes);
  for (int i = 0; i < s->model->part_count; i++)
    if (s->hulls[i].near) carom_hull_fit(&s->hulls[i], s->model, state, 0);
}

// A light body on many nodes swings faster than they do.
static carom_status check_loads(const carom_soft *s, carom_error *error) {
  memset(s->load, 0, (size_t)s->model->body_count * sizeof *s->load);
  for (int i = 0; i < s->count; i++)
    for (int end = 0; end < 2; end++)
      if (s->contacts[i].end[end].body >= 0) s->load[s->contacts[i].end[end].body] += s->contacts[i].stiffness;
  for (int b = 0; b < s->model->body_count; b++) {
    const carom_body *body = &s->model->bodies[b];
    double J = fmax(body->inverse_inertia.x, fmax(body->inverse_inertia.y, body->inverse_inertia.z));
    double answer = body->fixed ? 0 : body->inverse_mass + J * body->bounding_radius * body->bounding_radius;
    if (s->span * s->span * s->load[b] * answer <= 2) continue;
    return carom_fail(error, CAROM_NOT_CONVERGED,
                      "body '%s' is light for the solids it touches at t = %.9g s: use a step below %.2g s", body->name,
                      s->time, sqrt(2 / (s->load[b] * answer)));
  }
  return CAROM_OK;
}

carom_status carom_soft_find(carom_soft *s, const carom_state *state, const carom_vec3 *nodes, carom_error *error) {
  carom_status status = CAROM_OK;
  s->nodes = nodes;
  s->count = 0;
  s->energy = s->depth = 0;
  if (s->near_count == 0) return status;
  refit(s, state);
  for (int i = 0; i < s->near_count && status == CAROM_OK; i++)
    status = find_by_kind[s->near[i].kind](s, &s->near[i], state, error);
  return status == CAROM_OK ? check_loads(s, error) : status;
}
