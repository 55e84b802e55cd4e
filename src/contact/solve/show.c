// The assembled problem as others solve it: Coulomb friction at every contact, W by sparse blocks.
#include "base/memory.h"
#include "contact/solve/solver.h"

static bool is_coupled(const carom_system *s, const carom_block *a, const carom_block *b) {
  for (int j = b->first; j < b->first + b->width; j++)
    for (int i = a->first; i < a->first + a->width; i++)
      if (a == b || s->W[(size_t)i + (size_t)j * (size_t)s->rows] != 0) return true;
  return false;
}

// The most rows of a block; contacts without friction have fewer than those with. 0 when a block is no contact.
static int dimension_of(const carom_system *s) {
  int most = 2;
  for (int i = 0; i < s->count; i++) {
    if (s->blocks[i].kind != CAROM_BLOCK_CONTACT) return 0;
    if (s->blocks[i].width > most) most = s->blocks[i].width;
  }
  return most;
}

static void fill_row(const carom_system *s, carom_shown_friction *f, int i) {
  const carom_block *a = &s->blocks[i];
  int d = f->problem.dimension, filled = f->start[i];
  for (int j = 0; j < s->count; j++) {
    const carom_block *b = &s->blocks[j];
    if (!is_coupled(s, a, b)) continue;
    for (int c = 0; c < b->width; c++)
      for (int r = 0; r < a->width; r++)
        f->W[d * d * filled + r + d * c] = s->W[(size_t)(a->first + r) + (size_t)(b->first + c) * (size_t)s->rows];
    f->column[filled++] = j;
  }
  for (int r = 0; r < a->width; r++) f->q[d * i + r] = s->u0[a->first + r];
  f->mu[i] = a->width > 1 ? a->mu : 0;
}

carom_status carom_shown_friction_make(const carom_system *s, const carom_allocator *allocator, carom_shown_friction *f,
                                       carom_error *error) {
  int d = dimension_of(s), n = s->count;
  size_t blocks = 0, size = (size_t)(d * n) + 1;
  if (d == 0) return CAROM_OK;
  if (!(f->start = CAROM_NEW(allocator, int, n + 1)))
    return carom_fail(error, CAROM_ERR_MEMORY, "no memory to show a contact problem");
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) blocks += is_coupled(s, &s->blocks[i], &s->blocks[j]);
    f->start[i + 1] = (int)blocks;
  }
  if (!CAROM_NEW_ALL(allocator, CAROM_ROOM(f->column, blocks + 1), CAROM_ROOM(f->W, (size_t)(d * d) * blocks + 1),
                     CAROM_ROOM(f->q, size), CAROM_ROOM(f->mu, size)))
    return carom_fail(error, CAROM_ERR_MEMORY, "no memory to show a contact problem");
  f->problem = (carom_friction_problem){d, n, f->start, f->column, f->W, f->q, f->mu};
  for (int i = 0; i < n; i++) fill_row(s, f, i);
  return CAROM_OK;
}

void carom_shown_friction_release(const carom_allocator *allocator, const carom_shown_friction *f) {
  CAROM_RELEASE_ALL(allocator, f->start, f->column, f->W, f->q, f->mu);
}
