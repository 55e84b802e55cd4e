// Set-up, stiffness, and what is remembered from step to step.
#include "contact/soft.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "geometry/tet_shape.h"

// Over m w^2, w the fastest vibration of the tetrahedra: steps of 1/w, which contacts are given, follow both.
static const double SHARE = 2.5;

static void lay_out(void *owner, carom_arena *arena) {
  carom_soft *s = owner;
  const carom_model *m = s->model;
  s->skins = CAROM_PUSH(arena, carom_skin, m->solid_count);
  s->hulls = CAROM_PUSH(arena, carom_hull, m->part_count);
  s->inverse_mass = CAROM_PUSH(arena, double, m->node_count);
  s->node_stiffness = CAROM_PUSH(arena, double, m->node_count);
  s->node_deep = CAROM_PUSH(arena, double, m->node_count);
  s->load = CAROM_PUSH(arena, double, m->body_count);
  s->mark = CAROM_PUSH(arena, int, m->node_count);
  s->bristles = CAROM_PUSH(arena, carom_vec3, m->node_count);
  s->bristle_share = CAROM_PUSH(arena, double, m->node_count);
  s->was = CAROM_PUSH(arena, carom_vec3, m->node_count);
  s->body_x = CAROM_PUSH(arena, carom_vec3, m->body_count);
  s->body_q = CAROM_PUSH(arena, carom_quat, m->body_count);
}

static carom_status make_surfaces(carom_soft *s, const carom_allocator *a, carom_error *error) {
  const carom_model *m = s->model;
  carom_status status = CAROM_OK;
  for (int i = 0; i < m->solid_count && status == CAROM_OK; i++) status = carom_skin_init(m, i, a, &s->skins[i], error);
  for (int b = 0; b < m->body_count; b++)
    for (int k = 0; k < m->bodies[b].part_count && status == CAROM_OK; k++) {
      int part = m->bodies[b].part_start + k;
      status = carom_hull_init(m, part, b, a, &s->hulls[part], error);
    }
  return status;
}

static void weigh_nodes(carom_soft *s) {
  const carom_model *m = s->model;
  for (int i = 0; i < m->node_count; i++) s->inverse_mass[i] = 1 / m->node_masses[i];
  for (int i = 0; i < m->pin_count; i++) s->inverse_mass[m->pins[i].node] = 0;
}

// ---- stiffness ------------------------------------------------------------------------------------------------------

// The same all over a solid, so that even pressure sinks in evenly: no node, with its share of the surface, swings
// faster against something hard than sqrt(SHARE) w.
static double stiffness_of(const carom_soft *s, const carom_solid *solid) {
  double least = INFINITY, w = solid->frequency;
  for (int i = 0; i < solid->skin->node_count; i++) {
    double mass = s->model->node_masses[solid->node_start + solid->skin->nodes[i]];
    least = fmin(least, SHARE * w * w * mass / solid->skin->areas[i]);
  }
  return least;
}

static void choose_stiffness(carom_soft *s) {
  for (int i = 0; i < s->model->node_count; i++) s->node_deep[i] = INFINITY;
  for (int i = 0; i < s->model->solid_count; i++) {
    const carom_solid *solid = &s->model->solids[i];
    carom_skin *skin = &s->skins[i];
    skin->stiffness = stiffness_of(s, solid);
    for (int k = 0; k < solid->skin->node_count; k++)
      s->node_stiffness[solid->node_start + solid->skin->nodes[k]] = skin->stiffness * solid->skin->areas[k];
    for (int k = 0; k < 3 * skin->count; k++) {
      int node = skin->node_start + skin->triangles[k / 3][k % 3];
      s->node_deep[node] = fmin(s->node_deep[node], skin->deep[k / 3]);
    }
  }
}

// ---- making and ending ----------------------------------------------------------------------------------------------

carom_status carom_soft_create(const carom_model *model, const carom_allocator *allocator, carom_soft **soft,
                               carom_error *error) {
  const carom_soft initial = {.model = model};
  carom_allocator a = carom_allocator_or_default(allocator);
  *soft = NULL;
  carom_soft *s = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  carom_status status = s ? make_surfaces(s, &a, error) : CAROM_ERR_MEMORY;
  if (status == CAROM_OK) status = carom_shape_create_sphere(1e-90, &a, &s->point, error);
  for (int i = 0; i < 2 && status == CAROM_OK; i++) status = carom_tet_shape_create(&a, &s->tet[i], error);
  if (status == CAROM_OK) weigh_nodes(s);
  if (status == CAROM_OK) choose_stiffness(s);
  if (s) s->drag_for = -1;
  if (status != CAROM_OK)
    carom_soft_destroy(s);
  else
    *soft = s;
  return status;
}

void carom_soft_destroy(carom_soft *s) {
  if (!s) return;
  const carom_allocator *a = &s->arena.allocator;
  for (int i = 0; s->skins && i < s->model->solid_count; i++) carom_skin_release(&s->skins[i], a);
  for (int i = 0; s->hulls && i < s->model->part_count; i++) carom_hull_release(&s->hulls[i], a);
  carom_shape_release(s->point);
  for (int i = 0; i < 2; i++) carom_shape_release(s->tet[i]);
  CAROM_RELEASE_ALL(a, s->near, s->contacts, s->met, s->before);
  carom_object_destroy(s);
}

// ---- from step to step ----------------------------------------------------------------------------------------------

carom_status carom_soft_update(carom_soft *s, const carom_state *state, double h, const double *reach,
                               carom_error *error) {
  s->time = state->time;
  s->span = h;
  s->moved = false;
  for (int i = 0; i < s->model->solid_count; i++) carom_skin_fit(&s->skins[i], state, h);
  for (int b = 0; b < s->model->body_count; b++)
    for (int k = 0; k < s->model->bodies[b].part_count; k++)
      carom_hull_fit(&s->hulls[s->model->bodies[b].part_start + k], s->model, state, reach[b]);
  return carom_soft_look_around(s, error);
}

carom_status carom_soft_note(carom_soft *s, carom_error *error) {
  if (!carom_reserve(&s->arena.allocator, (void **)&s->before, &s->before_capacity, s->met_count, sizeof *s->before))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contacts of solids");
  if (s->met_count > 0) memcpy(s->before, s->met, (size_t)s->met_count * sizeof *s->met);
  s->before_count = s->met_count;
  return CAROM_OK;
}

// An array that grows: its count, then what is in it.
static bool remember_array(const carom_soft *s, carom_tape *tape, void **array, int *count, int *capacity,
                           size_t size) {
  int n = *count;
  if (!carom_tape_pass(tape, &n, sizeof n) || n < 0) return false;
  if (carom_tape_reads(tape)) {
    if ((size_t)n > (tape->size - tape->at) / size) return false;
    if (!carom_reserve(&s->arena.allocator, array, capacity, n, size)) return false;
    *count = n;
  }
  return carom_tape_pass(tape, *array, (size_t)n * size);
}

static bool names_what_is_there(const carom_soft *s) {
  for (int i = 0; i < s->count; i++)
    for (int e = 0; e < 2; e++) {
      const carom_soft_end *end = &s->contacts[i].end[e];
      if (end->body >= s->model->body_count || end->body == CAROM_WORLD) return false;
      if (end->body < CAROM_WORLD && CAROM_SOLID(end->body) >= s->model->solid_count) return false;
      for (int k = 0; k < 3; k++)
        if (end->node[k] < 0 || end->node[k] >= s->model->node_count) return false;
    }
  return true;
}

bool carom_soft_remember(carom_soft *s, carom_tape *tape) {
  size_t nodes = (size_t)s->model->node_count, bodies = (size_t)s->model->body_count;
  bool sound = carom_tape_pass(tape, s->bristles, nodes * sizeof *s->bristles) &&
               carom_tape_pass(tape, &s->bristle_energy, sizeof s->bristle_energy) &&
               carom_tape_pass(tape, s->body_x, bodies * sizeof *s->body_x) &&
               carom_tape_pass(tape, s->body_q, bodies * sizeof *s->body_q) &&
               carom_tape_pass(tape, &s->energy, sizeof s->energy) &&
               carom_tape_pass(tape, &s->depth, sizeof s->depth) &&
               remember_array(s, tape, (void **)&s->before, &s->before_count, &s->before_capacity, sizeof *s->before) &&
               remember_array(s, tape, (void **)&s->contacts, &s->count, &s->capacity, sizeof *s->contacts);
  if (sound && names_what_is_there(s)) return true;
  s->count = s->before_count = 0;
  return false;
}
