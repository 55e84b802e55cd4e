// Elimination front by front, and solves with the factors.
#include "solve/front.h"

#include <string.h>

#include "base/threads.h"
#include "solve/front_factor.h"

enum { STRIP = 24 };

static size_t size_of(const carom_factor *f, int blocks) { return (size_t)f->block * (size_t)blocks; }
static size_t height_of(const carom_factor *f, const carom_front *front) {
  return size_of(f, front->width + front->below);
}

// ---- filling a front ------------------------------------------------------------------------------------------------

static void place_rows(carom_factor *f, const carom_front *front) {
  for (int k = 0; k < front->width; k++) f->position[front->first + k] = k;
  for (int k = 0; k < front->below; k++) f->position[f->rows[front->rows + (size_t)k]] = front->width + k;
}

static void add_diagonal(const carom_sparse *A, int B, int block, double *to, size_t height) {
  for (int j = 0; j < B; j++)
    for (int i = j; i < B; i++) to[(size_t)i + (size_t)j * height] = A->value[A->column_start[B * block + j] + i - j];
}

static void add_entry(const carom_sparse *A, int B, const carom_front_entry *e, double *to, size_t height) {
  for (int j = 0; j < B; j++) {
    const double *from = A->value + A->column_start[B * e->column + j] + (B - j) + B * e->number;
    for (int i = 0; i < B; i++)
      to[e->transposed ? (size_t)j + (size_t)i * height : (size_t)i + (size_t)j * height] = from[i];
  }
}

static void add_matrix(const carom_factor *f, const carom_front *front, const carom_sparse *A, double *panel) {
  size_t height = height_of(f, front);
  memset(panel, 0, height * size_of(f, front->width) * sizeof *panel);
  for (int k = 0; k < front->width; k++) {
    int j = front->first + k;
    double *column = panel + size_of(f, k) * height;
    add_diagonal(A, f->block, f->order[j], column + size_of(f, k), height);
    for (int e = f->entry_start[j]; e < f->entry_start[j + 1]; e++)
      add_entry(A, f->block, &f->entries[e], column + size_of(f, f->position[f->entries[e].row]), height);
  }
}

// A parent and what is put together there.
typedef struct gathering {
  const carom_front *parent;
  double *panel, *own;
} gathering;

// Adds a child's update (lower half, in blocks) to the panel and to the update of its parent. B is known where this is
// called, so that its loops unroll.
static inline __attribute__((always_inline)) void add_child(const carom_factor *f, const gathering *to,
                                                            const carom_front *child, const double *update, size_t B) {
  const int *rows = f->rows + child->rows;
  size_t height = B * (size_t)(to->parent->width + to->parent->below), below = B * (size_t)to->parent->below;
  size_t from = B * (size_t)child->below;
  for (int l = 0; l < child->below; l++) {
    int column = f->position[rows[l]], width = to->parent->width;
    bool inside = column < width;
    double *top = inside ? to->panel + B * (size_t)column * height : to->own + B * (size_t)(column - width) * below;
    size_t stride = inside ? height : below;
    for (int k = l; k < child->below; k++) {
      size_t row = B * (size_t)(f->position[rows[k]] - (inside ? 0 : width));
      for (size_t j = 0; j < B; j++)
        for (size_t i = 0; i < B; i++)
          top[row + i + j * stride] += update[B * (size_t)k + i + (B * (size_t)l + j) * from];
    }
  }
}

static void add_any_child(const carom_factor *f, const gathering *to, const carom_front *child, const double *update) {
  switch (f->block) {
    case 1:
      add_child(f, to, child, update, 1);
      break;
    case 2:
      add_child(f, to, child, update, 2);
      break;
    case CAROM_FRONT_BLOCK:
      add_child(f, to, child, update, CAROM_FRONT_BLOCK);
      break;
    default:
      add_child(f, to, child, update, (size_t)f->block);
  }
}

// ---- elimination ----------------------------------------------------------------------------------------------------

typedef struct trapezoid {
  double *C;
  size_t stride, rows, columns;
} trapezoid;

enum { SHARE = 4 * CAROM_FRONT_TALL };  // columns that a thread takes at a time

// C -= P P', where P is packed. Columns are independent of each other, so any thread may take any.
static void subtract(const carom_factor *f, trapezoid t, size_t depth) {
  double work = (double)t.rows * (double)t.columns * (double)depth;
  int threads = work > 2e6 ? f->threads : 1, shares = (int)((t.columns + SHARE - 1) / SHARE);
  CAROM_PARALLEL_FOR(
      threads, schedule(dynamic), for (int s = 0; s < shares; s++) {
        size_t j = SHARE * (size_t)s, columns = t.columns - j < SHARE ? t.columns - j : SHARE;
        carom_front_subtract(t.C + j + j * t.stride, t.stride, t.rows - j, columns, f->packed + j * depth, depth);
      });
}

// L of the panel; own -= L21 L21'. Right-looking: strips of columns, each followed by one product for all that is to
// the right of it in the panel, and one product of the whole panel for the update.
static bool eliminate(carom_factor *f, const carom_front *front, double *panel, double *own) {
  size_t w = size_of(f, front->width), r = size_of(f, front->below), height = w + r;
  for (size_t k = 0; k < w; k += STRIP) {
    size_t strip = w - k < STRIP ? w - k : STRIP, next = k + strip;
    double *corner = panel + k + k * height;
    if (!carom_front_strip(corner, height, height - k, strip)) return false;
    if (next == w) continue;
    carom_front_pack(corner + strip, height, height - next, strip, f->packed);
    subtract(f, (trapezoid){panel + next + next * height, height, height - next, w - next}, strip);
  }
  if (r == 0) return true;
  carom_front_pack(panel + w, height, r, w, f->packed);
  subtract(f, (trapezoid){own, r, r, r}, w);
  return true;
}

carom_status carom_factor_compute(carom_factor *f, const carom_sparse *A) {
  double *top = f->stack;
  int waiting = 0;
  for (int s = 0; s < f->front_count; s++) {
    const carom_front *front = &f->fronts[s];
    double *own = top, *base = top;
    gathering to = {front, f->panels + front->panel, own};
    size_t below = size_of(f, front->below), size = below * below;
    place_rows(f, front);
    add_matrix(f, front, A, to.panel);
    memset(own, 0, size * sizeof *own);
    for (int k = 0; k < front->child_count; k++) {
      const carom_front *child = &f->fronts[f->waiting[--waiting]];
      base -= size_of(f, child->below) * size_of(f, child->below);
      add_any_child(f, &to, child, base);
    }
    if (!eliminate(f, front, to.panel, own)) return CAROM_ERR_SINGULAR;
    memmove(base, own, size * sizeof *own);
    top = base + size;
    if (front->below > 0) f->waiting[waiting++] = s;
  }
  return CAROM_OK;
}

// ---- solves ---------------------------------------------------------------------------------------------------------

// Where a block of x stands.
static double *block_of(const carom_factor *f, int k) { return f->x + size_of(f, k); }

static void forward(carom_factor *f, const carom_front *front) {
  const double *L = f->panels + front->panel;
  size_t height = height_of(f, front), width = size_of(f, front->width), B = (size_t)f->block;
  double *x = block_of(f, front->first), *t = f->gathered;
  memset(t, 0, height * sizeof *t);
  for (size_t j = 0; j < width; j++, L += height) {
    double y = x[j] = (x[j] + t[j]) / L[j];
    carom_front_subtract_multiple(t + j + 1, y, L + j + 1, height - j - 1);
  }
  for (int k = 0; k < front->below; k++) {
    double *to = block_of(f, f->rows[front->rows + (size_t)k]);
    for (size_t i = 0; i < B; i++) to[i] += t[width + B * (size_t)k + i];
  }
}

static void backward(carom_factor *f, const carom_front *front) {
  size_t height = height_of(f, front), width = size_of(f, front->width), B = (size_t)f->block;
  double *x = block_of(f, front->first), *t = f->gathered;
  for (int k = 0; k < front->below; k++)
    memcpy(t + width + B * (size_t)k, block_of(f, f->rows[front->rows + (size_t)k]), B * sizeof *t);
  for (size_t j = width; j-- > 0;) {
    const double *L = f->panels + front->panel + j * height;
    t[j] = x[j] = (x[j] - carom_front_dot(L + j + 1, t + j + 1, height - j - 1)) / L[j];
  }
}

void carom_factor_solve(carom_factor *f, double *b) {
  size_t size = (size_t)f->block * sizeof *b;
  for (int k = 0; k < f->blocks; k++) memcpy(block_of(f, k), b + size_of(f, f->order[k]), size);
  for (int s = 0; s < f->front_count; s++) forward(f, &f->fronts[s]);
  for (int s = f->front_count - 1; s >= 0; s--) backward(f, &f->fronts[s]);
  for (int k = 0; k < f->blocks; k++) memcpy(b + size_of(f, f->order[k]), block_of(f, k), size);
}
