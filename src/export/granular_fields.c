#include "export/granular_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { SAMPLES = 12 };  // along each side of a shape's box

// ---- the grid ------------------------------------------------------------------------------------------------------

static int index_along(double x, double low, double size, int n) {
  double i = floor((x - low) / size);
  return i >= 0 && i < n ? (int)i : -1;
}

// -1 outside.
static int cell_at(const carom_granular_grid *grid, carom_vec3 x) {
  int i = index_along(x.x, grid->low.x, grid->size.x, grid->n[0]);
  int j = index_along(x.y, grid->low.y, grid->size.y, grid->n[1]);
  int k = index_along(x.z, grid->low.z, grid->size.z, grid->n[2]);
  return i < 0 || j < 0 || k < 0 ? -1 : (k * grid->n[1] + j) * grid->n[0] + i;
}

carom_vec3 carom_granular_cell_center(const carom_granular_grid *grid, int cell) {
  int i = cell % grid->n[0], j = cell / grid->n[0] % grid->n[1], k = cell / grid->n[0] / grid->n[1];
  return cm_vec3(grid->low.x + (i + 0.5) * grid->size.x, grid->low.y + (j + 0.5) * grid->size.y,
                 grid->low.z + (k + 0.5) * grid->size.z);
}

static double cell_volume(const carom_granular_grid *grid) { return grid->size.x * grid->size.y * grid->size.z; }

// ---- points inside shapes ------------------------------------------------------------------------------------------

// Inside any convex shape: a grain of dust at p overlaps it.
static bool holds(const carom_shape *shape, const carom_shape *dust, carom_vec3 p) {
  carom_placed a = {dust, cm_pose(p, cm_qidentity())}, b = {shape, cm_pose_identity()};
  carom_ssh_cache cache = {0};
  carom_distance_result d;
  return carom_distance(&a, &b, &cache, &d) == CAROM_OK && d.distance < 0;
}

static void fill_samples(carom_granular_samples *s, const carom_shape *shape, const carom_shape *dust) {
  carom_placed placed = {shape, cm_pose_identity()};
  carom_aabb box = carom_aabb_of(&placed);
  carom_vec3 side = cm_scale(1.0 / SAMPLES, cm_sub(box.high, box.low));
  bool ball = carom_shape_get_kind(shape) == CAROM_SHAPE_SPHERE;
  double r2 = carom_shape_radius(shape) * carom_shape_radius(shape);
  for (int i = 0; i < SAMPLES * SAMPLES * SAMPLES; i++) {
    int a = i % SAMPLES, b = i / SAMPLES % SAMPLES, c = i / SAMPLES / SAMPLES;
    carom_vec3 p = cm_add(box.low, cm_vec3((a + 0.5) * side.x, (b + 0.5) * side.y, (c + 0.5) * side.z));
    if (ball ? cm_norm2(p) < r2 : holds(shape, dust, p)) s->points[s->count++] = p;
  }
}

static carom_status make_samples(carom_granular_samples *s, const carom_shape *shape, const carom_allocator *allocator,
                                 carom_error *error) {
  if (carom_shape_get_kind(shape) == CAROM_SHAPE_HALFSPACE) return CAROM_OK;
  carom_mass mass;
  carom_status status = carom_shape_mass(shape, 1, &mass, error);
  if (status != CAROM_OK) return status;
  const carom_shape *dust = NULL;
  status = carom_shape_create_sphere(1e-9 * carom_shape_bounding_radius(shape), allocator, &dust, error);
  if (status != CAROM_OK) return status;
  s->points = CAROM_NEW(allocator, carom_vec3, SAMPLES * SAMPLES * SAMPLES);
  if (s->points) fill_samples(s, shape, dust);
  s->volume = mass.mass;
  carom_shape_release(dust);
  return s->points ? CAROM_OK : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the points of a grain");
}

// ---- set-up --------------------------------------------------------------------------------------------------------

static carom_status add_proxies(carom_granular *g, carom_error *error) {
  const carom_result *result = g->result;
  carom_proxy_def def = carom_proxy_default();
  for (int b = 0; b < result->body_count; b++)
    for (int k = 0; k < result->bodies[b].part_count; k++) {
      int part = result->bodies[b].part_start + k, proxy;
      carom_placed placed = {result->shapes[result->parts[part].shape], result->parts[part].pose};
      def.box = carom_aabb_of(&placed), def.body = b, def.fixed = result->bodies[b].fixed;
      carom_status status = carom_broadphase_add(g->broadphase, &def, &proxy, error);
      if (status != CAROM_OK) return status;
      g->proxy_part[proxy] = part, g->part_body[part] = b;
    }
  return CAROM_OK;
}

static carom_status set_up(carom_granular *g, carom_error *error) {
  const carom_result *result = g->result;
  const carom_allocator *allocator = &result->allocator;
  if (!CAROM_NEW_ALL(allocator, CAROM_ROOM(g->samples, result->shape_count), CAROM_ROOM(g->cells, g->grid.count),
                     CAROM_ROOM(g->coordination, result->body_count), CAROM_ROOM(g->returned, result->body_count),
                     CAROM_ROOM(g->proxy_part, result->part_count), CAROM_ROOM(g->part_body, result->part_count)))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for fields of %d cells; ask for fewer", g->grid.count);
  carom_status status = carom_broadphase_create(NULL, allocator, &g->broadphase, error);
  if (status == CAROM_OK) status = add_proxies(g, error);
  for (int s = 0; s < result->shape_count && status == CAROM_OK; s++)
    status = make_samples(&g->samples[s], result->shapes[s], allocator, error);
  for (int b = 0; b < result->body_count; b++) g->returned[b] = result->frame_count > 0 ? result->times[0] : 0;
  return status;
}

carom_status carom_granular_create(carom_granular *g, const carom_result *result, const carom_granular_grid *grid,
                                   double contact_gap, carom_error *error) {
  *g = (carom_granular){.result = result, .grid = *grid, .contact_gap = contact_gap};
  carom_status status = set_up(g, error);
  if (status != CAROM_OK) carom_granular_destroy(g);
  return status;
}

void carom_granular_destroy(carom_granular *g) {
  if (!g->result) return;
  const carom_allocator *allocator = &g->result->allocator;
  for (int s = 0; g->samples && s < g->result->shape_count; s++) carom_release(allocator, g->samples[s].points);
  CAROM_RELEASE_ALL(allocator, g->samples, g->cells, g->coordination, g->returned, g->proxy_part, g->part_body,
                    g->touching);
  carom_broadphase_destroy(g->broadphase);
  *g = (carom_granular){0};
}

void carom_granular_clear(carom_granular *g) {
  memset(g->cells, 0, sizeof *g->cells * (size_t)g->grid.count);
  g->frames = g->stress_frames = 0;
}

// ---- volume and velocity -------------------------------------------------------------------------------------------

// With `moment` N m of contact moment to each m3 of matter, unless that is null.
static void add_matter(carom_granular *g, carom_vec3 x, double volume, carom_vec3 velocity, const carom_mat3 *moment) {
  int cell = cell_at(&g->grid, x);
  if (cell < 0) return;
  g->cells[cell].volume += volume;
  g->cells[cell].flux = cm_add(g->cells[cell].flux, cm_scale(volume, velocity));
  double share = volume / cell_volume(&g->grid);
  for (int i = 0; moment && i < 9; i++) g->cells[cell].stress.m[i / 3][i % 3] += share * moment->m[i / 3][i % 3];
}

// The mean velocity of a part that lies in one cell is that of its centroid, which the mean of its points is.
static void add_part(carom_granular *g, const carom_frame *frame, int body, const carom_result_part *part,
                     const carom_mat3 *moment) {
  const carom_granular_samples *s = &g->samples[part->shape];
  if (s->count == 0) return;
  carom_pose pose = cm_compose(frame->poses[body], part->pose);
  carom_placed placed = {g->result->shapes[part->shape], pose};
  carom_aabb box = carom_aabb_of(&placed);
  carom_vec3 center = cm_transform(frame->poses[body], g->result->bodies[body].center);
  carom_vec3 v = frame->velocities[body], w = frame->angular_velocities[body];
  int cell = cell_at(&g->grid, box.low);
  if (cell >= 0 && cell == cell_at(&g->grid, box.high)) {
    carom_vec3 mean = cm_zero3();
    for (int i = 0; i < s->count; i++) mean = cm_add(mean, cm_scale(1.0 / s->count, s->points[i]));
    carom_vec3 x = cm_transform(pose, mean);
    add_matter(g, x, s->volume, cm_add(v, cm_cross(w, cm_sub(x, center))), moment);
    return;
  }
  for (int i = 0; i < s->count; i++) {
    carom_vec3 x = cm_transform(pose, s->points[i]);
    add_matter(g, x, s->volume / s->count, cm_add(v, cm_cross(w, cm_sub(x, center))), moment);
  }
}

// ---- coordination --------------------------------------------------------------------------------------------------

static carom_placed placed_part(const carom_granular *g, const carom_frame *frame, int part) {
  const carom_result_part *p = &g->result->parts[part];
  return (carom_placed){g->result->shapes[p->shape], cm_compose(frame->poses[g->part_body[part]], p->pose)};
}

// The boxes of the grains are fattened by what counts as touching.
static void move_proxies(carom_granular *g, const carom_frame *frame) {
  for (int i = 0; i < g->result->part_count; i++) {
    carom_placed placed = placed_part(g, frame, g->proxy_part[i]);
    carom_aabb box = carom_aabb_of(&placed);
    double reach = g->contact_gap * carom_shape_bounding_radius(placed.shape);
    if (isfinite(reach)) {
      carom_vec3 fat = cm_vec3(reach, reach, reach);
      box.low = cm_sub(box.low, fat), box.high = cm_add(box.high, fat);
    }
    carom_broadphase_move(g->broadphase, i, box);
  }
}

static bool touches(const carom_granular *g, const carom_frame *frame, int part_a, int part_b) {
  carom_placed a = placed_part(g, frame, part_a), b = placed_part(g, frame, part_b);
  double near = g->contact_gap * fmin(carom_shape_bounding_radius(a.shape), carom_shape_bounding_radius(b.shape));
  if (carom_shape_get_kind(a.shape) == CAROM_SHAPE_SPHERE && carom_shape_get_kind(b.shape) == CAROM_SHAPE_SPHERE)
    return cm_norm(cm_sub(a.pose.p, b.pose.p)) <= carom_shape_radius(a.shape) + carom_shape_radius(b.shape) + near;
  carom_ssh_cache cache = {0};
  carom_distance_result d;
  return carom_distance(&a, &b, &cache, &d) == CAROM_OK && d.distance <= near;
}

static int by_number(const void *x, const void *y) {
  int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}

// How many other bodies each grain touches; returns how many pairs there are, or -1 when out of memory.
static int count_touching(carom_granular *g, const carom_frame *frame, const carom_pair *pairs, int count) {
  int found = 0;
  int64_t bodies = g->result->body_count;
  for (int i = 0; i < count; i++) {
    int part_a = g->proxy_part[pairs[i].a], part_b = g->proxy_part[pairs[i].b];
    int64_t a = g->part_body[part_a], b = g->part_body[part_b];
    if (!touches(g, frame, part_a, part_b)) continue;
    if (!carom_grow(&g->result->allocator, (void **)&g->touching, found, &g->touching_capacity, sizeof *g->touching))
      return -1;
    g->touching[found++] = a < b ? a * bodies + b : b * bodies + a;
  }
  if (found > 0) qsort(g->touching, (size_t)found, sizeof *g->touching, by_number);
  int distinct = 0;
  for (int i = 0; i < found; i++) {
    if (i > 0 && g->touching[i] == g->touching[i - 1]) continue;
    g->coordination[g->touching[i] / bodies]++;
    g->coordination[g->touching[i] % bodies]++;
    distinct++;
  }
  return distinct;
}

static carom_status find_coordination(carom_granular *g, const carom_frame *frame, int *touching, carom_error *error) {
  const carom_pair *pairs;
  int count;
  memset(g->coordination, 0, sizeof *g->coordination * (size_t)g->result->body_count);
  move_proxies(g, frame);
  carom_status status = carom_broadphase_update(g->broadphase, &pairs, &count, error);
  if (status != CAROM_OK) return status;
  *touching = count_touching(g, frame, pairs, count);
  return *touching >= 0 ? CAROM_OK
                        : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contacts of %d grains",
                                     g->result->body_count);
}

// ---- residence -----------------------------------------------------------------------------------------------------

// What came back up to this frame begins anew.
static void follow_returns(carom_granular *g, double time) {
  const carom_result *result = g->result;
  for (; g->next_event < result->event_count && result->events[g->next_event].time <= time; g->next_event++) {
    const carom_contact_event *e = &result->events[g->next_event];
    if (e->kind == CAROM_EVENT_RECIRCULATED) g->returned[e->body_a] = e->time;
  }
}

// ---- stress --------------------------------------------------------------------------------------------------------

// Where the line from a along l next leaves its cell along one axis, after t.
static double next_plane(double a, double l, double low, double size, double t) {
  if (l == 0) return INFINITY;
  double i = (a + t * l - low) / size, plane = l > 0 ? floor(i + 1e-12) + 1 : ceil(i - 1e-12) - 1;
  return (low + plane * size - a) / l;
}

// f (x) l / V to the cells along the branch from a to a + l, each its share.
static void add_branch(carom_granular *g, carom_vec3 a, carom_vec3 l, carom_vec3 f) {
  const carom_granular_grid *grid = &g->grid;
  double t = 0, volume = cell_volume(grid);
  while (t < 1) {
    double next = fmin(
        next_plane(a.x, l.x, grid->low.x, grid->size.x, t),
        fmin(next_plane(a.y, l.y, grid->low.y, grid->size.y, t), next_plane(a.z, l.z, grid->low.z, grid->size.z, t)));
    next = fmin(fmax(next, t + 1e-9), 1);
    int cell = cell_at(grid, cm_add(a, cm_scale(0.5 * (t + next), l)));
    if (cell >= 0)
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) g->cells[cell].stress.m[i][j] += (next - t) * (&f.x)[i] * (&l.x)[j] / volume;
    t = next;
  }
}

// Of a grain A; solids that deform have no centre that a branch could end at. From the centre of B, or from the point
// where A touches what does not move, to the centre of A.
static void add_contact(carom_granular *g, const carom_frame *frame, const carom_contact_event *e) {
  const carom_result_body *bodies = g->result->bodies;
  if (e->body_a < 0) return;
  carom_vec3 to = cm_transform(frame->poses[e->body_a], bodies[e->body_a].center), from = e->point;
  bool moving_b = e->body_b >= 0 && !bodies[e->body_b].fixed;
  if (moving_b) from = cm_transform(frame->poses[e->body_b], bodies[e->body_b].center);
  if (bodies[e->body_a].fixed) to = e->point;
  add_branch(g, from, cm_sub(to, from), cm_scale(1 / g->result->step, e->impulse));
}

static int first_event_at(const carom_result *result, double time) {
  int low = 0, high = result->event_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (result->events[middle].time < time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool moments_told(const carom_granular *g, const carom_frame *frame) {
  for (int b = 0; frame->contact_moments && b < g->result->body_count; b++)
    if (!g->result->bodies[b].fixed) return !isnan(frame->contact_moments[b].m[0][0]);
  return false;
}

// Contact by contact where the run told of each, which is the finer picture; else grain by grain. How many contacts.
static int add_contacts(carom_granular *g, const carom_frame *frame) {
  const carom_result *result = g->result;
  int told = 0;
  for (int i = first_event_at(result, frame->time - 0.5 * result->step);
       i < result->event_count && result->events[i].time < frame->time + 0.5 * result->step; i++) {
    if (result->events[i].kind != CAROM_EVENT_CONTACT) continue;
    add_contact(g, frame, &result->events[i]);
    told++;
  }
  return told;
}

// ---- frames --------------------------------------------------------------------------------------------------------

static double body_volume(const carom_granular *g, int body) {
  const carom_result_body *b = &g->result->bodies[body];
  double sum = 0;
  for (int i = 0; i < b->part_count; i++) sum += g->samples[g->result->parts[b->part_start + i].shape].volume;
  return sum;
}

// What the contacts do to the inside of a grain (Love 1927, Weber 1966) is spread as its matter is: the same sum as
// that of the branches, known for beds of any size.
static void add_grain(carom_granular *g, const carom_frame *frame, int body, bool moments) {
  const carom_result_body *b = &g->result->bodies[body];
  carom_mat3 density = {0};
  double volume = moments ? body_volume(g, body) : 0;
  for (int i = 0; volume > 0 && i < 9; i++)
    density.m[i / 3][i % 3] = frame->contact_moments[body].m[i / 3][i % 3] / volume;
  for (int i = 0; i < b->part_count; i++)
    add_part(g, frame, body, &g->result->parts[b->part_start + i], moments ? &density : NULL);
  int cell = cell_at(&g->grid, cm_transform(frame->poses[body], b->center));
  if (cell < 0) return;
  g->cells[cell].grains += 1;
  g->cells[cell].contacts += g->coordination[body];
  g->cells[cell].residence += frame->time - g->returned[body];
}

carom_status carom_granular_add(carom_granular *g, const carom_frame *frame, carom_error *error) {
  int touching = 0;
  carom_status status = find_coordination(g, frame, &touching, error);
  if (status != CAROM_OK) return status;
  follow_returns(g, frame->time);
  int told = add_contacts(g, frame);
  bool moments = told == 0 && moments_told(g, frame);
  for (int b = 0; b < g->result->body_count; b++)
    if (!g->result->bodies[b].fixed) add_grain(g, frame, b, moments);
  g->stress_frames += told > 0 || moments || touching == 0;  // else grains touch, and nobody told how
  g->frames++;
  return CAROM_OK;
}

void carom_granular_values(const carom_granular *g, int cell, double out[CAROM_GRANULAR_VALUES]) {
  const carom_granular_cell *c = &g->cells[cell];
  double frames = g->frames, stress = g->stress_frames;
  *out++ = c->volume / (frames * cell_volume(&g->grid));
  for (int i = 0; i < 3; i++) *out++ = c->volume > 0 ? (&c->flux.x)[i] / c->volume : NAN;
  *out++ = c->grains / frames;
  *out++ = c->grains > 0 ? c->contacts / c->grains : NAN;
  *out++ = c->grains > 0 ? c->residence / c->grains : NAN;
  for (int i = 0; i < 9; i++) *out++ = stress > 0 ? c->stress.m[i / 3][i % 3] / stress : NAN;
}
