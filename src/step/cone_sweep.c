#include "step/cone_sweep.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "step/cone.h"

enum { LANES = CAROM_SWEEP_LANES, COLORS = CAROM_SWEEP_COLORS, SHARE = 32 };

// ---- memory -------------------------------------------------------------------------------------------------------

carom_status carom_sweep_create(carom_sweep *sweep, int movers, const carom_allocator *allocator, carom_error *error) {
  *sweep = (carom_sweep){.movers = movers};
  sweep->before = CAROM_NEW(allocator, carom_sweep_body, movers);
  sweep->velocity = carom_allocate(allocator, (size_t)movers, sizeof *sweep->velocity);
  sweep->used = CAROM_NEW(allocator, uint64_t, movers);
  if (sweep->before && sweep->velocity && sweep->used) return CAROM_OK;
  carom_sweep_destroy(sweep, allocator);
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the sweeps of %d grains", movers);
}

void carom_sweep_destroy(carom_sweep *sweep, const carom_allocator *allocator) {
  carom_arena_destroy(&sweep->pack_memory);
  carom_arena_destroy(&sweep->body_memory);
  void *blocks[] = {sweep->before, sweep->velocity, sweep->used, sweep->color};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(allocator, blocks[i]);
  *sweep = (carom_sweep){0};
}

// Aligned for vector loads; what was there is lost.
static void *aligned_room(carom_arena *arena, const carom_allocator *allocator, void *array, int *capacity, int count,
                          size_t size) {
  if (count <= *capacity) return array;
  int wanted = count + count / 4 + 64;
  carom_arena larger;
  if (carom_arena_create(&larger, carom_arena_cost((size_t)wanted * size), allocator, NULL) != CAROM_OK) return NULL;
  carom_arena_destroy(arena);
  *arena = larger;
  *capacity = wanted;
  return carom_arena_push(arena, (size_t)wanted * size);
}

static carom_status no_room(const carom_cone *cone, carom_error *error) {
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a program of %d contacts", cone->active_count);
}

static carom_status room_for_bodies(carom_cone *cone, int driven, carom_error *error) {
  carom_sweep *s = &cone->sweep;
  const carom_allocator *m = &cone->allocator;
  void *bodies =
      aligned_room(&s->body_memory, m, s->bodies, &s->body_capacity, s->movers + 1 + driven, sizeof *s->bodies);
  if (bodies) s->bodies = bodies;
  bool fine =
      bodies && carom_cone_room(m, (void **)&s->color, &s->color_capacity, cone->active_count, sizeof *s->color);
  return fine ? CAROM_OK : no_room(cone, error);
}

// Once the colours are known.
static carom_status room_for_packs(carom_cone *cone, carom_error *error) {
  carom_sweep *s = &cone->sweep;
  void *packs = aligned_room(&s->pack_memory, &cone->allocator, s->packs, &s->pack_capacity, s->start[COLORS + 1],
                             sizeof *s->packs);
  if (packs) s->packs = packs;
  return packs || s->start[COLORS + 1] == 0 ? CAROM_OK : no_room(cone, error);
}

// ---- making ready -------------------------------------------------------------------------------------------------

static bool moves(const carom_cone *cone, int body) { return body != CAROM_WORLD && !cone->model->bodies[body].fixed; }
static bool driven(const carom_cone *cone, int body) {
  return body != CAROM_WORLD && cone->model->bodies[body].fixed && cone->rank[body] >= 0;
}

// Greedy, in the order of the contacts.
static void color_contacts(carom_cone *cone) {
  carom_sweep *s = &cone->sweep;
  int count[COLORS + 1] = {0};
  memset(s->used, 0, (size_t)s->movers * sizeof *s->used);
  for (int i = 0; i < cone->active_count; i++) {
    const carom_near *near = &cone->near[cone->active[i]];
    uint64_t *a = &s->used[cone->rank[near->a]], *b = moves(cone, near->b) ? &s->used[cone->rank[near->b]] : a;
    uint64_t taken = *a | *b;
    int color = taken == UINT64_MAX ? COLORS : __builtin_ctzll(~taken);
    if (color < COLORS) *a |= (uint64_t)1 << color, *b |= (uint64_t)1 << color;
    s->color[i] = (unsigned char)color;
    count[color]++;
  }
  s->start[0] = 0;
  for (int c = 0; c < COLORS; c++) s->start[c + 1] = s->start[c] + (count[c] + LANES - 1) / LANES;
  s->start[COLORS + 1] = s->start[COLORS] + count[COLORS];  // one to a pack
}

static void fill_bodies(carom_cone *cone) {
  carom_sweep *s = &cone->sweep;
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < s->movers; i++) {
    int body = cone->mover[i], rank = cone->rank[body];
    const carom_body *b = &cone->model->bodies[body];
    carom_vec3 v = cone->v_free[body], w = cone->w_free[body];
    double r = cone->radius[body];
    s->bodies[rank] = (carom_sweep_body){{(float)v.x, (float)v.y, (float)v.z, (float)b->inverse_mass, (float)(r * w.x),
                                          (float)(r * w.y), (float)(r * w.z), (float)(r * r * b->inverse_inertia.x)}};
    double *V = s->velocity[rank];
    V[0] = v.x, V[1] = v.y, V[2] = v.z, V[3] = w.x, V[4] = w.y, V[5] = w.z;
  }
  s->bodies[s->movers] = (carom_sweep_body){0};
}

// The metric of a contact of balls: along the normal, and across it.
static void metric(const carom_cone *cone, const carom_near *near, double *along, double *across) {
  const carom_body *a = &cone->model->bodies[near->a];
  *along = a->inverse_mass;
  *across = cm_norm2(near->arm_a) * a->inverse_inertia.x;
  if (moves(cone, near->b)) {
    const carom_body *b = &cone->model->bodies[near->b];
    *along += b->inverse_mass;
    *across += cm_norm2(near->arm_b) * b->inverse_inertia.x;
  }
  *across += *along;
}

static void fill_lane(const carom_cone *cone, carom_sweep_pack *pack, int lane, int i, double h, int b) {
  const carom_near *near = &cone->near[cone->active[i]];
  carom_vec3 n = near->normal, g = cone->impulses[cone->active[i]];
  double along, across;
  metric(cone, near, &along, &across);
  pack->n[0][lane] = (float)n.x, pack->n[1][lane] = (float)n.y, pack->n[2][lane] = (float)n.z;
  pack->g[0][lane] = (float)g.x, pack->g[1][lane] = (float)g.y, pack->g[2][lane] = (float)g.z;
  pack->bias[lane] = (float)(near->gap / h), pack->mu[lane] = (float)near->friction;
  pack->along[lane] = (float)along, pack->across[lane] = (float)across;
  pack->arm_a[lane] = (float)(cm_norm(near->arm_a) / cone->radius[near->a]);
  pack->arm_b[lane] = moves(cone, near->b) ? (float)(cm_norm(near->arm_b) / cone->radius[near->b]) : 0;
  pack->a[lane] = cone->rank[near->a], pack->b[lane] = b;
  pack->contact[lane] = i;
  for (int k = 0; k < 3; k++) pack->before[k][lane] = pack->g[k][lane];
}

static void fill_padding(carom_sweep_pack *pack, int lane, int world) {
  for (int k = 0; k < 3; k++) pack->n[k][lane] = pack->g[k][lane] = pack->before[k][lane] = 0;
  pack->n[2][lane] = pack->bias[lane] = pack->along[lane] = pack->across[lane] = 1;
  pack->mu[lane] = pack->arm_a[lane] = pack->arm_b[lane] = 0;
  pack->a[lane] = pack->b[lane] = world;
  pack->contact[lane] = -1;
}

// Where a driven surface is touched, it is a body of its own that keeps its velocity.
static int other_body(carom_cone *cone, const carom_near *near, int *pseudo) {
  carom_sweep *s = &cone->sweep;
  if (moves(cone, near->b)) return cone->rank[near->b];
  if (!driven(cone, near->b)) return s->movers;
  carom_vec3 u = cm_add(cone->v_free[near->b], cm_cross(cone->w_free[near->b], near->arm_b));
  s->bodies[*pseudo] = (carom_sweep_body){.v = {(float)u.x, (float)u.y, (float)u.z}};
  return (*pseudo)++;
}

static void fill_packs(carom_cone *cone, double h) {
  carom_sweep *s = &cone->sweep;
  int lane[COLORS + 1], pseudo = s->movers + 1;
  for (int c = 0; c <= COLORS; c++) lane[c] = LANES * s->start[c];
  for (int i = 0; i < cone->active_count; i++) {
    int c = s->color[i], k = lane[c];
    lane[c] += c < COLORS ? 1 : LANES;
    fill_lane(cone, &s->packs[k / LANES], k % LANES, i, h, other_body(cone, &cone->near[cone->active[i]], &pseudo));
  }
  for (int c = 0; c < COLORS; c++)
    for (int k = lane[c]; k < LANES * s->start[c + 1]; k++) fill_padding(&s->packs[k / LANES], k % LANES, s->movers);
  for (int i = s->start[COLORS]; i < s->start[COLORS + 1]; i++)
    for (int k = 1; k < LANES; k++) fill_padding(&s->packs[i], k, s->movers);
}

// ---- impulses and velocities --------------------------------------------------------------------------------------

static void push_single(carom_sweep_body *body, float sign, const float g[3], float arm, const float moment[3]) {
  for (int k = 0; k < 3; k++) {
    body->v[k] += sign * body->v[CAROM_SWEEP_INVERSE_MASS] * g[k];
    body->v[CAROM_SWEEP_SPIN + k] -= arm * body->v[CAROM_SWEEP_K] * moment[k];
  }
}

// Velocities of the warm start, colour by colour.
static void apply_pack(carom_sweep *s, const carom_sweep_pack *p) {
  for (int l = 0; l < LANES; l++) {
    float g[3] = {p->g[0][l], p->g[1][l], p->g[2][l]}, n[3] = {p->n[0][l], p->n[1][l], p->n[2][l]};
    if (g[0] == 0 && g[1] == 0 && g[2] == 0) continue;
    float moment[3] = {n[1] * g[2] - n[2] * g[1], n[2] * g[0] - n[0] * g[2], n[0] * g[1] - n[1] * g[0]};
    push_single(&s->bodies[p->a[l]], 1, g, p->arm_a[l], moment);
    if (s->bodies[p->b[l]].v[CAROM_SWEEP_INVERSE_MASS] > 0)
      push_single(&s->bodies[p->b[l]], -1, g, p->arm_b[l], moment);
  }
}

static void apply_all(carom_cone *cone) {
  carom_sweep *s = &cone->sweep;
#pragma omp parallel num_threads(cone->threads) if (cone->threads > 1)
  for (int c = 0; c < COLORS && s->start[c] < s->start[COLORS]; c++) {
#pragma omp for schedule(static)
    for (int i = s->start[c]; i < s->start[c + 1]; i++) apply_pack(s, &s->packs[i]);
  }
  for (int i = s->start[COLORS]; i < s->start[COLORS + 1]; i++) apply_pack(s, &s->packs[i]);
}

static carom_vec3 into_cone(carom_vec3 f, carom_vec3 n, double mu) {
  double fn = cm_dot(f, n);
  carom_vec3 ft = cm_axpy(f, -fn, n);
  double t = cm_norm(ft);
  if (t <= mu * fn) return f;
  if (mu * t <= -fn) return cm_zero3();
  double s = (fn + mu * t) / (1 + mu * mu);
  return t > 0 ? cm_add(cm_scale(s, n), cm_scale(mu * s / t, ft)) : cm_scale(fn > 0 ? fn : 0, n);
}

static void add_velocity(carom_cone *cone, int body, carom_vec3 f, carom_vec3 arm) {
  const carom_body *b = &cone->model->bodies[body];
  double *V = cone->sweep.velocity[cone->rank[body]];
  carom_vec3 moment = cm_cross(arm, f);
  V[0] += b->inverse_mass * f.x, V[1] += b->inverse_mass * f.y, V[2] += b->inverse_mass * f.z;
  double k = b->inverse_inertia.x;
  V[3] += k * moment.x, V[4] += k * moment.y, V[5] += k * moment.z;
}

// Impulses in double precision, in their cones, and what they do.
static void take_pack(carom_cone *cone, const carom_sweep_pack *p) {
  for (int l = 0; l < LANES; l++) {
    if (p->contact[l] < 0) continue;
    int i = cone->active[p->contact[l]];
    const carom_near *near = &cone->near[i];
    carom_vec3 g = into_cone(cm_vec3(p->g[0][l], p->g[1][l], p->g[2][l]), near->normal, near->friction);
    cone->impulses[i] = g;
    add_velocity(cone, near->a, g, near->arm_a);
    if (moves(cone, near->b)) add_velocity(cone, near->b, cm_neg(g), near->arm_b);
  }
}

static void take_all(carom_cone *cone) {
  carom_sweep *s = &cone->sweep;
#pragma omp parallel num_threads(cone->threads) if (cone->threads > 1)
  for (int c = 0; c < COLORS && s->start[c] < s->start[COLORS]; c++) {
#pragma omp for schedule(static)
    for (int i = s->start[c]; i < s->start[c + 1]; i++) take_pack(cone, &s->packs[i]);
  }
  for (int i = s->start[COLORS]; i < s->start[COLORS + 1]; i++) take_pack(cone, &s->packs[i]);
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < s->movers; i++) {
    int body = cone->mover[i];
    const double *V = s->velocity[cone->rank[body]];
    cone->v[body] = cm_vec3(V[0], V[1], V[2]);
    cone->w[body] = cm_vec3(V[3], V[4], V[5]);
  }
}

// ---- sweeps -------------------------------------------------------------------------------------------------------

enum { ROUND = 256 };  // shares whose sums are kept at a time

static carom_sweep_change sweep_color(carom_cone *cone, int color, float beta) {
  carom_sweep *s = &cone->sweep;
  int first = s->start[color], last = s->start[color + 1], shares = (last - first + SHARE - 1) / SHARE;
  int threads = color < COLORS && shares > 1 ? cone->threads : 1;
  carom_sweep_change total = {0}, part[ROUND];
  for (int base = 0; base < shares; base += ROUND) {
    int here = shares - base < ROUND ? shares - base : ROUND;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int k = 0; k < here; k++) {
      int from = first + (base + k) * SHARE, to = from + SHARE < last ? from + SHARE : last;
      part[k] = carom_sweep_visit(s->packs, from, to, beta, s->bodies);
    }
    for (int k = 0; k < here; k++) {
      total.squares += part[k].squares;
      total.turn += part[k].turn;
      total.largest = part[k].largest > total.largest ? part[k].largest : total.largest;
    }
  }
  return total;
}

static carom_sweep_change sweep_once(carom_cone *cone, float beta) {
  carom_sweep *s = &cone->sweep;
  carom_sweep_change total = {0};
  for (int c = 0; c <= COLORS && s->start[c] < s->start[COLORS + 1]; c++) {
    carom_sweep_change part = sweep_color(cone, c, beta);
    total.squares += part.squares;
    total.turn += part.turn;
    total.largest = part.largest > total.largest ? part.largest : total.largest;
  }
  return total;
}

// Bodies follow the extrapolation of the contacts.
static void extrapolate(carom_cone *cone, float beta) {
  carom_sweep *s = &cone->sweep;
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < s->movers; i++) {
    float *v = s->bodies[i].v, *before = s->before[i].v;  // all eight: what does not change stays
    for (int k = 0; k < 8; k++) {
      float now = v[k];
      v[k] = now + beta * (now - before[k]);
      before[k] = now;
    }
  }
}

// Sweeps as the steps of Nesterov's method (1983), afresh where they turn back (O'Donoghue and Candes 2015) or grow.
static int run_sweeps(carom_cone *cone, int most, double tolerance) {
  double theta = 1, lowest = INFINITY;
  float beta = 0;
  for (int i = 1; i <= most; i++) {
    if (beta > 0 || i > 1) extrapolate(cone, beta);
    carom_sweep_change change = sweep_once(cone, beta);
    if (change.largest <= tolerance) return i;
    bool afresh = change.turn > 0 || change.squares > 2 * lowest;
    double next = 0.5 * theta * (sqrt(theta * theta + 4) - theta);
    beta = afresh ? 0 : (float)(theta * (1 - theta) / (theta * theta + next));
    theta = afresh ? 1 : next;
    lowest = afresh ? change.squares : fmin(lowest, change.squares);
  }
  return most;
}

// rho |gamma - P(gamma - w / rho)|, as in carom/qp.h.
static double residual(const carom_cone *cone, double h) {
  double worst = 0;
#pragma omp parallel for num_threads(cone->threads) schedule(static) reduction(max : worst) if (cone->threads > 1)
  for (int i = 0; i < cone->active_count; i++) {
    const carom_near *near = &cone->near[cone->active[i]];
    carom_vec3 g = cone->impulses[cone->active[i]];
    double along, across;
    metric(cone, near, &along, &across);
    double rho = (along + 2 * across) / 3;
    carom_vec3 u = cm_add(cone->v[near->a], cm_cross(cone->w[near->a], near->arm_a));
    if (near->b != CAROM_WORLD) u = cm_sub(u, cm_add(cone->v[near->b], cm_cross(cone->w[near->b], near->arm_b)));
    carom_vec3 f = cm_axpy(g, -1 / rho, cm_axpy(u, near->gap / h, near->normal));
    double e = rho * cm_norm(cm_sub(g, into_cone(f, near->normal, near->friction)));
    worst = e > worst ? e : worst;
  }
  return worst;
}

carom_status carom_cone_sweep(carom_cone *cone, double h, int most, double tolerance, int *iterations, double *left,
                              carom_error *error) {
  int touched = 0;
  for (int i = 0; i < cone->active_count; i++) touched += driven(cone, cone->near[cone->active[i]].b);
  carom_status status = room_for_bodies(cone, touched, error);
  if (status != CAROM_OK) return status;
  color_contacts(cone);
  if ((status = room_for_packs(cone, error)) != CAROM_OK) return status;
  fill_bodies(cone);
  fill_packs(cone, h);
  apply_all(cone);
  memcpy(cone->sweep.before, cone->sweep.bodies, (size_t)cone->sweep.movers * sizeof *cone->sweep.before);
  *iterations += run_sweeps(cone, most, 0.5 * tolerance);
  take_all(cone);
  *left = residual(cone, h);
  return CAROM_OK;
}
