#include "base/memory.h"
#include "model/size.h"
#include "step/quasistatic/parts.h"

static void lay_out(void *owner, carom_arena *arena) {
  carom_quasi *s = owner;
  int n = s->model->body_count;
  carom_vec3 **const vectors[] = {&s->driven.v, &s->driven.w, &s->free.v, &s->free.w,
                                  &s->found.v,  &s->found.w,  &s->force,  &s->moment};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = CAROM_PUSH(arena, carom_vec3, n);
  s->supports = CAROM_PUSH(arena, carom_support, n);
  s->strain = CAROM_PUSH(arena, double, n);
  double **const strains[] = {&s->strains.found, &s->strains.y, &s->strains.way, &s->strains.g, &s->strains.off};
  for (size_t i = 0; i < sizeof strains / sizeof *strains; i++) *strains[i] = CAROM_PUSH(arena, double, n);
  s->strains.rested = CAROM_PUSH(arena, bool, n);
  double **const directions[] = {&s->strains.change_g, &s->strains.change_off, &s->strains.basis, &s->strains.image};
  for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
    *directions[i] = CAROM_PUSH(arena, double, CAROM_QUASI_STRAIN_DEPTH *n);
  s->reach = CAROM_PUSH(arena, double, n);
  s->directors = CAROM_PUSH(arena, carom_mat3, n);
  s->matrix = carom_arena_push(arena, (size_t)n * sizeof *s->matrix);
  s->inverse = carom_arena_push(arena, (size_t)n * sizeof *s->inverse);
  s->thickness = CAROM_PUSH(arena, double, s->model->part_count);
  s->number = CAROM_PUSH(arena, int, n);
  carom_loads_push(&s->loads, arena, s->model);
  carom_quasi_push_shadows(s, arena);
}

static void begin(carom_quasi *s) {
  const carom_model *m = s->model;
  int count = 0;
  for (int i = 0; i < m->body_count; i++) {
    if (m->support_count > 0) s->supports[i] = m->supports[i];
    s->number[i] = m->bodies[i].fixed ? -1 : count++;
  }
  carom_quasi_fill_shadows(s);
  for (int i = 0; i < m->part_count; i++) s->thickness[i] = carom_shape_half_depth(m->parts[i].shape);
}

carom_status carom_quasi_create(const carom_model *model, const carom_allocator *allocator, carom_quasi **quasi,
                                carom_error *error) {
  const carom_quasi initial = {.model = model, .allocator = carom_allocator_or_default(allocator), .friction_scale = 1};
  *quasi = NULL;
  carom_quasi *s = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  if (!s) return CAROM_ERR_MEMORY;
  begin(s);
  carom_status status = carom_contacts_create(model, allocator, &s->contacts, error);
  if (status == CAROM_OK) status = carom_solver_create(allocator, &s->solver, error);
  if (status != CAROM_OK)
    carom_quasi_destroy(s);
  else
    *quasi = s;
  return status;
}

void carom_quasi_destroy(carom_quasi *s) {
  if (!s) return;
  carom_contacts_destroy(s->contacts);
  carom_solver_destroy(s->solver);
  CAROM_RELEASE_ALL(&s->allocator, s->items, s->before, s->dense, s->choice);
  carom_object_destroy(s);
}

carom_status carom_quasi_room(carom_quasi *s, int numbers, int choices, carom_error *error) {
  if (carom_reserve(&s->allocator, (void **)&s->dense, &s->dense_capacity, numbers, sizeof *s->dense) &&
      carom_reserve(&s->allocator, (void **)&s->choice, &s->choice_capacity, choices, sizeof *s->choice))
    return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the %d contacts of a step", s->count);
}
