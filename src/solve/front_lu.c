// Elimination and solves without symmetry, on the fronts of a symmetric pattern. A front has two panels: its columns
// (L, and U where it meets them) and, transposed, what U has to the right of them. Rows may take each other's place
// within the columns of a front only, so that the fronts stay as they were analysed.
#include <math.h>
#include <string.h>

#include "solve/front.h"
#include "solve/front_factor.h"

enum { STRIP = 24 };
static const double STAYS = 0.1;  // a pivot on the diagonal that is no less, over the largest of its column

static size_t size_of(const carom_factor *f, int blocks) { return (size_t)f->block * (size_t)blocks; }

// A front being eliminated: w columns, r rows below them.
typedef struct work {
  carom_factor *f;
  const carom_front *front;
  size_t w, r, height;
  double *left, *right, *own;
} work;

// ---- filling a front ------------------------------------------------------------------------------------------------

static void place_rows(carom_factor *f, const carom_front *front) {
  for (int k = 0; k < front->width; k++) f->position[front->first + k] = k;
  for (int k = 0; k < front->below; k++) f->position[f->rows[front->rows + (size_t)k]] = front->width + k;
}

// Where entry (0, 0) of a block of the front stands, and how far it is to the next row and the next column.
typedef struct place {
  double *at;
  size_t row, column;
} place;

static place place_of(const work *k, int row, int column) {
  const carom_factor *f = k->f;
  size_t i = size_of(f, row), j = size_of(f, column);
  if (j < k->w) return (place){k->left + i + j * k->height, 1, k->height};
  if (i < k->w) return (place){k->right + (j - k->w) + i * k->r, k->r, 1};
  return (place){k->own + (i - k->w) + (j - k->w) * k->r, 1, k->r};
}

static inline __attribute__((always_inline)) void add_block(place to, const double *from, size_t stride, size_t B) {
  for (size_t j = 0; j < B; j++)
    for (size_t i = 0; i < B; i++) to.at[i * to.row + j * to.column] += from[i + j * stride];
}

static void add_matrix(const work *k, const carom_block_values *A) {
  const carom_factor *f = k->f;
  size_t B = (size_t)f->block, area = B * B;
  memset(k->left, 0, k->height * k->w * sizeof *k->left);
  memset(k->right, 0, k->r * k->w * sizeof *k->right);
  for (int c = 0; c < k->front->width; c++) {
    int j = k->front->first + c;
    add_block(place_of(k, c, c), A->diagonal + area * (size_t)f->order[j], B, B);
    for (int e = f->entry_start[j]; e < f->entry_start[j + 1]; e++) {
      const carom_front_entry *entry = &f->entries[e];
      int row = f->position[entry->row];
      const double *below = A->below + area * (size_t)(f->pattern_start[entry->column] + entry->number);
      const double *above = A->above + area * (size_t)(f->pattern_start[entry->column] + entry->number);
      add_block(place_of(k, row, c), entry->transposed ? above : below, B, B);
      add_block(place_of(k, c, row), entry->transposed ? below : above, B, B);
    }
  }
}

// B is known where this is called, so that its loops unroll.
static inline __attribute__((always_inline)) void add_child(const work *k, const carom_front *child,
                                                            const double *update, size_t B) {
  const carom_factor *f = k->f;
  const int *rows = f->rows + child->rows;
  size_t stride = B * (size_t)child->below;
  int inside = 0;  // rows of the child that are columns of this front come first
  while (inside < child->below && f->position[rows[inside]] < k->front->width) inside++;
  for (int l = 0; l < child->below; l++) {
    const double *from = update + B * (size_t)l * stride;
    place top = place_of(k, 0, f->position[rows[l]]), below = place_of(k, k->front->width, f->position[rows[l]]);
    for (int i = 0; i < child->below; i++) {
      place to = i < inside ? top : below;
      to.at += to.row * B * (size_t)(f->position[rows[i]] - (i < inside ? 0 : k->front->width));
      add_block(to, from + B * (size_t)i, stride, B);
    }
  }
}

static void add_any_child(const work *k, const carom_front *child, const double *update) {
  switch (k->f->block) {
    case 2:
      add_child(k, child, update, 2);
      break;
    case 3:
      add_child(k, child, update, 3);
      break;
    default:
      add_child(k, child, update, (size_t)k->f->block);
  }
}

// ---- elimination ----------------------------------------------------------------------------------------------------

static void swap_rows(const work *k, size_t a, size_t b) {
  for (size_t j = 0; j < k->w; j++) {
    double *column = k->left + j * k->height, t = column[a];
    column[a] = column[b], column[b] = t;
  }
  for (size_t i = 0; i < k->r; i++) {
    double t = k->right[i + a * k->r];
    k->right[i + a * k->r] = k->right[i + b * k->r], k->right[i + b * k->r] = t;
  }
}

// The row to eliminate column j with.
static bool choose_pivot(const work *k, size_t j) {
  const double *column = k->left + j * k->height;
  size_t most = j;
  for (size_t i = j + 1; i < k->w; i++)
    if (fabs(column[i]) > fabs(column[most])) most = i;
  if (!(fabs(column[most]) > 0) || !isfinite(column[most])) return false;
  size_t pivot = fabs(column[j]) >= STAYS * fabs(column[most]) ? j : most;
  k->f->swap[size_of(k->f, k->front->first) + j] = (int)pivot;
  if (pivot != j) swap_rows(k, j, pivot);
  return true;
}

// Columns first .. last - 1 of L, and those rows of U.
static bool eliminate_strip(const work *k, size_t first, size_t last) {
  size_t h = k->height;
  for (size_t j = first; j < last; j++) {
    if (!choose_pivot(k, j)) return false;
    double *column = k->left + j * h, *next = column + h + j, inverse = 1 / column[j];
    for (size_t i = j + 1; i < h; i++) column[i] *= inverse;
    carom_front_subtract_outer(next + 1, h, h - j - 1, last - j - 1, column + j + 1, next, h);
  }
  for (size_t j = first; j < last; j++) {
    double *row = k->left + j + last * h;
    carom_front_subtract_outer(row + 1, h, last - j - 1, k->w - last, k->left + j * h + j + 1, row, h);
    carom_front_subtract_outer(k->right + (j + 1) * k->r, k->r, k->r, last - j - 1, k->right + j * k->r,
                               k->left + j * h + j + 1, 1);
  }
  return true;
}

// What a strip does to the columns after it and to the rows of U after it.
static void subtract_strip(const work *k, size_t first, size_t last, double *corner) {
  carom_factor *f = k->f;
  size_t depth = last - first, rest = k->w - last;
  for (size_t j = 0; j < rest; j++)
    for (size_t i = 0; i < depth; i++) corner[j + i * rest] = k->left[first + i + (last + j) * k->height];
  carom_front_pack(corner, rest, rest, depth, f->packed_right);
  carom_front_pack(k->left + last + first * k->height, k->height, k->height - last, depth, f->packed);
  carom_front_subtract_product(k->left + last + last * k->height, k->height, k->height - last, rest, f->packed,
                               f->packed_right, depth);
  if (k->r == 0) return;
  carom_front_pack(k->right + first * k->r, k->r, k->r, depth, f->packed_right);
  carom_front_subtract_product(k->right + last * k->r, k->r, k->r, rest, f->packed_right, f->packed, depth);
}

static bool eliminate(const work *k) {
  carom_factor *f = k->f;
  for (size_t first = 0; first < k->w; first += STRIP) {
    size_t last = k->w - first < STRIP ? k->w : first + STRIP;
    if (!eliminate_strip(k, first, last)) return false;
    if (last < k->w) subtract_strip(k, first, last, f->corner);
  }
  if (k->r == 0) return true;
  carom_front_pack(k->left + k->w, k->height, k->r, k->w, f->packed);
  carom_front_pack(k->right, k->r, k->r, k->w, f->packed_right);
  carom_front_subtract_product(k->own, k->r, k->r, k->r, f->packed, f->packed_right, k->w);
  return true;
}

static work work_on(carom_factor *f, const carom_front *front) {
  size_t w = size_of(f, front->width), r = size_of(f, front->below);
  return (work){f, front, w, r, w + r, f->panels + front->panel, f->rights + front->right, NULL};
}

carom_status carom_factor_compute_lu(carom_factor *f, const carom_block_values *A) {
  double *top = f->stack;
  int waiting = 0;
  for (int s = 0; s < f->front_count; s++) {
    const carom_front *front = &f->fronts[s];
    work k = work_on(f, front);
    double *base = k.own = top;
    place_rows(f, front);
    add_matrix(&k, A);
    memset(k.own, 0, k.r * k.r * sizeof *k.own);
    for (int c = 0; c < front->child_count; c++) {
      const carom_front *child = &f->fronts[f->waiting[--waiting]];
      base -= size_of(f, child->below) * size_of(f, child->below);
      add_any_child(&k, child, base);
    }
    if (!eliminate(&k)) return CAROM_ERR_SINGULAR;
    memmove(base, k.own, k.r * k.r * sizeof *base);
    top = base + k.r * k.r;
    if (front->below > 0) f->waiting[waiting++] = s;
  }
  return CAROM_OK;
}

// ---- solves ---------------------------------------------------------------------------------------------------------

static double *block_of(const carom_factor *f, int k) { return f->x + size_of(f, k); }

static void forward(carom_factor *f, const carom_front *front) {
  work k = work_on(f, front);
  const int *swap = f->swap + size_of(f, front->first);
  double *x = block_of(f, front->first), *t = f->gathered;
  for (size_t j = 0; j < k.w; j++) {
    double y = x[j];
    x[j] = x[swap[j]], x[swap[j]] = y;
  }
  memset(t, 0, k.r * sizeof *t);
  for (size_t j = 0; j < k.w; j++) {
    const double *L = k.left + j * k.height;
    carom_front_subtract_multiple(x + j + 1, x[j], L + j + 1, k.w - j - 1);
    carom_front_subtract_multiple(t, x[j], L + k.w, k.r);
  }
  for (int i = 0; i < front->below; i++) {
    double *to = block_of(f, f->rows[front->rows + (size_t)i]);
    for (size_t b = 0; b < (size_t)f->block; b++) to[b] += t[size_of(f, i) + b];
  }
}

static void backward(carom_factor *f, const carom_front *front) {
  work k = work_on(f, front);
  double *x = block_of(f, front->first), *t = f->gathered;
  for (int i = 0; i < front->below; i++)
    memcpy(t + size_of(f, i), block_of(f, f->rows[front->rows + (size_t)i]), size_of(f, 1) * sizeof *t);
  for (size_t j = 0; j < k.w; j++) x[j] -= carom_front_dot(k.right + j * k.r, t, k.r);
  for (size_t j = k.w; j-- > 0;) {
    const double *U = k.left + j * k.height;
    x[j] /= U[j];
    carom_front_subtract_multiple(x, x[j], U, j);
  }
}

void carom_factor_solve_lu(carom_factor *f, double *b) {
  size_t size = size_of(f, 1) * sizeof *b;
  for (int k = 0; k < f->blocks; k++) memcpy(block_of(f, k), b + size_of(f, f->order[k]), size);
  for (int s = 0; s < f->front_count; s++) forward(f, &f->fronts[s]);
  for (int s = f->front_count - 1; s >= 0; s--) backward(f, &f->fronts[s]);
  for (int k = 0; k < f->blocks; k++) memcpy(b + size_of(f, f->order[k]), block_of(f, k), size);
}
