// Coarser images and finer fields; medians.
#include <math.h>
#include <stdlib.h>

#include "flow/program.h"

static int within(int i, int count) { return i < 0 ? 0 : i >= count ? count - 1 : i; }

// Pixel (X, Y) stands for pixel (2 X, 2 Y), blurred by (1, 4, 6, 4, 1)/16 (Burt and Adelson 1983).
carom_status carom_flow_halve(const carom_image *from, carom_image *to, carom_error *error) {
  static const double weight[5] = {1 / 16.0, 4 / 16.0, 6 / 16.0, 4 / 16.0, 1 / 16.0};
  int width = (from->width + 1) / 2, height = (from->height + 1) / 2;
  carom_status status = carom_image_init(width, height, &from->allocator, to, error);
  if (status != CAROM_OK) return status;
  for (int Y = 0; Y < height; Y++)
    for (int X = 0; X < width; X++) {
      double sum = 0;
      for (int l = 0; l < 5; l++) {
        const double *row = from->grey + (ptrdiff_t)within(2 * Y + l - 2, from->height) * from->width;
        for (int k = 0; k < 5; k++) sum += weight[l] * weight[k] * row[within(2 * X + k - 2, from->width)];
      }
      to->grey[(ptrdiff_t)Y * width + X] = sum;
    }
  return CAROM_OK;
}

static double interpolate(const double *values, const carom_flow_field *f, double x, double y) {
  int i = (int)x, j = (int)y, i1 = within(i + 1, f->width), j1 = within(j + 1, f->height);
  i = within(i, f->width), j = within(j, f->height);
  double s = x - i, t = y - j;
  const double *row = values + (ptrdiff_t)j * f->width, *next = values + (ptrdiff_t)j1 * f->width;
  return (1 - t) * ((1 - s) * row[i] + s * row[i1]) + t * ((1 - s) * next[i] + s * next[i1]);
}

void carom_flow_stretch(const carom_flow_field *from, carom_flow_field *to) {
  for (int y = 0, i = 0; y < to->height; y++)
    for (int x = 0; x < to->width; x++, i++) {
      to->u[i] = 2 * interpolate(from->u, from, 0.5 * x, 0.5 * y);
      to->v[i] = 2 * interpolate(from->v, from, 0.5 * x, 0.5 * y);
    }
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Of the window that is inside; of an even number the mean of the two in the middle.
typedef struct grid {
  const double *values;
  int width, height;
} grid;

static double median_at(const grid *g, int x, int y, int reach) {
  double window[15 * 15];
  int count = 0;
  for (int j = y - reach; j <= y + reach; j++)
    for (int i = x - reach; i <= x + reach; i++)
      if (i >= 0 && j >= 0 && i < g->width && j < g->height) window[count++] = g->values[(ptrdiff_t)j * g->width + i];
  qsort(window, (size_t)count, sizeof *window, by_size);
  return 0.5 * (window[count / 2] + window[(count - 1) / 2]);
}

void carom_flow_median(const carom_flow_field *from, int side, carom_flow_field *to) {
  const grid u = {from->u, from->width, from->height}, v = {from->v, from->width, from->height};
  for (int y = 0, i = 0; y < from->height; y++)
    for (int x = 0; x < from->width; x++, i++) {
      to->u[i] = median_at(&u, x, y, side / 2);
      to->v[i] = median_at(&v, x, y, side / 2);
    }
}

void carom_flow_calm(const carom_image *from, double most, carom_image *to) {
  const grid g = {from->grey, from->width, from->height};
  for (int y = 0, i = 0; y < from->height; y++)
    for (int x = 0; x < from->width; x++, i++) {
      double here = from->grey[i], median = median_at(&g, x, y, 1);
      to->grey[i] = fabs(here - median) > most ? median : here;
    }
}
