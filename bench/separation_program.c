// The linear program's data for one pair, as the general solvers want it.
#include <stdlib.h>

#include "separation.h"

bool separation_program_create(separation_program *program, const pair_set *set) {
  *program = (separation_program){.vertices = malloc(6 * (size_t)set->vertex_count * sizeof(double))};
  return program->vertices;
}

void separation_program_destroy(separation_program *program) { free(program->vertices); }

static void place(const carom_polytope *p, carom_quat q, carom_vec3 offset, double *out) {
  carom_mat3 R = cm_rotation(q);
  for (int i = 0; i < p->vertex_count; i++) {
    carom_vec3 v = cm_add(cm_mulv(R, p->vertices[i]), offset);
    out[3 * i] = v.x, out[3 * i + 1] = v.y, out[3 * i + 2] = v.z;
  }
}

void separation_program_place(separation_program *program, const pair_set *set, const pair_case *pair) {
  const carom_polytope *a = carom_shape_polytope(set->bodies[pair->a]), *b = carom_shape_polytope(set->bodies[pair->b]);
  carom_vec3 offset = cm_sub(pair->pose_a.p, pair->pose_b.p), beta = cm_unit(offset);
  program->na = a->vertex_count, program->nb = b->vertex_count;
  place(a, pair->pose_a.q, offset, program->vertices);
  place(b, pair->pose_b.q, cm_zero3(), program->vertices + 3 * program->na);
  program->beta[0] = beta.x, program->beta[1] = beta.y, program->beta[2] = beta.z;
}
