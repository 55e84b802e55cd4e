// Elimination front by front, and solves with the factors.
#include "solve/front.h"

#include <string.h>

#include "solve/front_factor.h"

enum { B = CAROM_FRONT_BLOCK, STRIP = 4 * B };

static size_t height_of(const carom_front *front) { return B * (size_t)(front->width + front->below); }

// ---- filling a front ------------------------------------------------------------------------------------------------

static void place_rows(carom_factor *f, const carom_front *front) {
  for (int k = 0; k < front->width; k++) f->position[front->first + k] = k;
  for (int k = 0; k < front->below; k++) f->position[f->rows[front->rows + (size_t)k]] = front->width + k;
}

static void add_diagonal(const carom_sparse *A, int block, double *to, size_t height) {
  for (int j = 0; j < B; j++)
    for (int i = j; i < B; i++) to[(size_t)i + (size_t)j * height] = A->value[A->column_start[B * block + j] + i - j];
}

static void add_entry(const carom_sparse *A, const carom_front_entry *e, double *to, size_t height) {
  for (int j = 0; j < B; j++) {
    const double *from = A->value + A->column_start[B * e->column + j] + (B - j) + B * e->number;
    for (int i = 0; i < B; i++)
      to[e->transposed ? (size_t)j + (size_t)i * height : (size_t)i + (size_t)j * height] = from[i];
  }
}

static void add_matrix(const carom_factor *f, const carom_front *front, const carom_sparse *A, double *panel) {
  size_t height = height_of(front);
  memset(panel, 0, height * B * (size_t)front->width * sizeof *panel);
  for (int k = 0; k < front->width; k++) {
    int j = front->first + k;
    double *column = panel + B * (size_t)k * height;
    add_diagonal(A, f->order[j], column + B * k, height);
    for (int e = f->entry_start[j]; e < f->entry_start[j + 1]; e++)
      add_entry(A, &f->entries[e], column + B * (size_t)f->position[f->entries[e].row], height);
  }
}

// Adds a child's update (lower half, in blocks) to the panel and to the update of its parent.
static void add_child(const carom_factor *f, const carom_front *parent, const carom_front *child, const double *update,
                      double *panel, double *own) {
  const int *rows = f->rows + child->rows;
  size_t height = height_of(parent), below = B * (size_t)parent->below, from = B * (size_t)child->below;
  for (int l = 0; l < child->below; l++) {
    int column = f->position[rows[l]];
    bool inside = column < parent->width;
    double *to = inside ? panel + B * (size_t)column * height : own + B * (size_t)(column - parent->width) * below;
    size_t stride = inside ? height : below;
    for (int k = l; k < child->below; k++) {
      size_t row = B * (size_t)(f->position[rows[k]] - (inside ? 0 : parent->width));
      for (size_t j = 0; j < B; j++)
        for (size_t i = 0; i < B; i++)
          to[row + i + j * stride] += update[B * (size_t)k + i + (B * (size_t)l + j) * from];
    }
  }
}

// ---- elimination ----------------------------------------------------------------------------------------------------

// L of the panel; own -= L21 L21'. Right-looking: strips of columns, each followed by one product for all that is to
// the right of it in the panel, and one product of the whole panel for the update.
static bool eliminate(carom_factor *f, const carom_front *front, double *panel, double *own) {
  size_t w = B * (size_t)front->width, r = B * (size_t)front->below, height = w + r;
  for (size_t k = 0; k < w; k += STRIP) {
    size_t strip = w - k < STRIP ? w - k : STRIP, next = k + strip;
    double *corner = panel + k + k * height;
    if (!carom_front_strip(corner, height, height - k, strip)) return false;
    if (next == w) continue;
    carom_front_pack(corner + strip, height, height - next, strip, f->packed);
    carom_front_subtract(panel + next + next * height, height, height - next, w - next, f->packed, strip);
  }
  if (r == 0) return true;
  carom_front_pack(panel + w, height, r, w, f->packed);
  carom_front_subtract(own, r, r, r, f->packed, w);
  return true;
}

carom_status carom_factor_compute(carom_factor *f, const carom_sparse *A) {
  double *top = f->stack;
  int waiting = 0;
  for (int s = 0; s < f->front_count; s++) {
    const carom_front *front = &f->fronts[s];
    double *panel = f->panels + front->panel, *own = top, *base = top;
    size_t size = B * B * (size_t)front->below * (size_t)front->below;
    place_rows(f, front);
    add_matrix(f, front, A, panel);
    memset(own, 0, size * sizeof *own);
    for (int k = 0; k < front->child_count; k++) {
      const carom_front *child = &f->fronts[f->waiting[--waiting]];
      base -= B * B * (size_t)child->below * (size_t)child->below;
      add_child(f, front, child, base, panel, own);
    }
    if (!eliminate(f, front, panel, own)) return CAROM_ERR_SINGULAR;
    memmove(base, own, size * sizeof *own);
    top = base + size;
    if (front->below > 0) f->waiting[waiting++] = s;
  }
  return CAROM_OK;
}

// ---- solves ---------------------------------------------------------------------------------------------------------

static void forward(carom_factor *f, const carom_front *front) {
  const double *L = f->panels + front->panel;
  size_t height = height_of(front), width = B * (size_t)front->width;
  double *x = f->x + B * (size_t)front->first, *t = f->gathered;
  memset(t, 0, height * sizeof *t);
  for (size_t j = 0; j < width; j++, L += height) {
    double y = x[j] = (x[j] + t[j]) / L[j];
    carom_front_subtract_multiple(t + j + 1, y, L + j + 1, height - j - 1);
  }
  for (int k = 0; k < front->below; k++)
    for (size_t i = 0; i < B; i++)
      f->x[B * (size_t)f->rows[front->rows + (size_t)k] + i] += t[width + B * (size_t)k + i];
}

static void backward(carom_factor *f, const carom_front *front) {
  size_t height = height_of(front), width = B * (size_t)front->width;
  double *x = f->x + B * (size_t)front->first, *t = f->gathered;
  for (int k = 0; k < front->below; k++)
    memcpy(t + width + B * (size_t)k, f->x + B * (size_t)f->rows[front->rows + (size_t)k], B * sizeof *t);
  for (size_t j = width; j-- > 0;) {
    const double *L = f->panels + front->panel + j * height;
    t[j] = x[j] = (x[j] - carom_front_dot(L + j + 1, t + j + 1, height - j - 1)) / L[j];
  }
}

void carom_factor_solve(carom_factor *f, double *b) {
  for (int k = 0; k < f->blocks; k++) memcpy(f->x + B * k, b + B * f->order[k], B * sizeof *b);
  for (int s = 0; s < f->front_count; s++) forward(f, &f->fronts[s]);
  for (int s = f->front_count - 1; s >= 0; s--) backward(f, &f->fronts[s]);
  for (int k = 0; k < f->blocks; k++) memcpy(b + B * f->order[k], f->x + B * k, B * sizeof *b);
}
