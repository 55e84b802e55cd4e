#include "contact/assemble.h"

#include <string.h>

#include "base/memory.h"

static void lay_out(void *owner, carom_arena *arena) {
  carom_assembly *s = owner;
  carom_vec3 **const vectors[] = {&s->p, &s->l, &s->twists.v, &s->twists.w};
  s->row_start = CAROM_PUSH(arena, int, s->model->body_count + 2);
  for (int i = 0; i < 4; i++) *vectors[i] = CAROM_PUSH(arena, carom_vec3, s->model->body_count);
}

carom_status carom_assembly_create(const carom_model *model, const carom_allocator *allocator,
                                   carom_assembly **assembly, carom_error *error) {
  const carom_assembly initial = {.model = model};
  *assembly = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  return *assembly ? CAROM_OK : CAROM_ERR_MEMORY;
}

void carom_assembly_destroy(carom_assembly *s) {
  if (!s) return;
  carom_release(&s->arena.allocator, s->ends);
  carom_object_destroy(s);
}

// ---- free bodies ----------------------------------------------------------------------------------------------------

// A counting sort of the ends of all rows by body.
static bool sort_by_body(carom_assembly *s, const carom_row *rows, int count) {
  int *start = s->row_start, bodies = s->model->body_count;
  if (!carom_reserve(&s->arena.allocator, (void **)&s->ends, &s->end_capacity, 2 * count, sizeof *s->ends))
    return false;
  memset(start, 0, ((size_t)bodies + 2) * sizeof *start);
  for (int i = 0; i < 2 * count; i++)
    if (carom_body_moves(s->model, rows[i / 2].body[i % 2])) start[rows[i / 2].body[i % 2] + 2]++;
  for (int b = 0; b < bodies; b++) start[b + 2] += start[b + 1];
  for (int i = 0; i < 2 * count; i++)  // start[b + 1] moves from where b begins to where b + 1 does
    if (carom_body_moves(s->model, rows[i / 2].body[i % 2])) s->ends[start[rows[i / 2].body[i % 2] + 1]++] = i;
  return true;
}

carom_status carom_assemble(carom_assembly *s, const carom_row *rows, int count, const carom_mat3 *inverse_inertia,
                            double *W, carom_error *error) {
  if (!sort_by_body(s, rows, count))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a contact problem of %d rows", count);
  memset(W, 0, (size_t)count * (size_t)count * sizeof *W);
  for (int b = 0; b < s->model->body_count; b++)
    for (int q = s->row_start[b]; q < s->row_start[b + 1]; q++) {
      int j = s->ends[q] / 2, end = s->ends[q] % 2;
      double *column = W + (size_t)j * (size_t)count;
      carom_vec3 v = cm_scale(s->model->bodies[b].inverse_mass, rows[j].linear[end]);
      carom_vec3 w = cm_mulv(inverse_inertia[b], rows[j].angular[end]);
      for (int p = s->row_start[b]; p < s->row_start[b + 1]; p++) {
        const carom_row *row = &rows[s->ends[p] / 2];
        int at = s->ends[p] % 2;
        column[s->ends[p] / 2] += cm_dot(row->linear[at], v) + cm_dot(row->angular[at], w);
      }
    }
  return CAROM_OK;
}

// ---- bodies that something couples ----------------------------------------------------------------------------------

carom_status carom_assemble_by(carom_assembly *s, const carom_row *rows, int count, const carom_response *response,
                               double *W, carom_error *error) {
  for (int j = 0; j < count; j++) {
    carom_row_push(s->model, &rows[j], 1, s->p, s->l);
    carom_status status = response->answer(response->context, s->p, s->l, &s->twists, error);
    for (int end = 0; end < 2; end++)
      if (carom_body_moves(s->model, rows[j].body[end])) s->p[rows[j].body[end]] = s->l[rows[j].body[end]] = cm_zero3();
    if (status != CAROM_OK) return status;
    double *column = W + (size_t)j * (size_t)count;
    for (int i = 0; i < count; i++) column[i] = carom_row_rate(s->model, &rows[i], s->twists.v, s->twists.w);
  }
  return CAROM_OK;
}
