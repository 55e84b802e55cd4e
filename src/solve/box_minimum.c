// Projected quasi-Newton: variables that their bounds hold are left out of a BFGS step, the step is bent along the box,
// and shortened until it pays (Armijo). Bertsekas (1982), "Projected Newton methods for optimization problems with
// simple constraints".
#include "solve/box_minimum.h"

#include <math.h>
#include <string.h>

typedef struct work {
  const carom_box *box;
  double value, slopes[CAROM_BOX_MOST];
  double H[CAROM_BOX_MOST * CAROM_BOX_MOST];  // inverse Hessian
  bool held[CAROM_BOX_MOST];
} work;

static double clip(const carom_box *b, int i, double x) { return fmin(fmax(x, b->low[i]), b->high[i]); }

static void forget(work *w) {
  int n = w->box->n;
  memset(w->H, 0, sizeof w->H);
  for (int i = 0; i < n; i++) w->H[i + i * n] = 1;
}

// Which variables are held, and the largest slope of the others. Whoever is let go has no history.
static double hold(work *w, const double *x) {
  const carom_box *b = w->box;
  double largest = 0;
  bool changed = false;
  for (int i = 0; i < b->n; i++) {
    bool held = (x[i] <= b->low[i] && w->slopes[i] > 0) || (x[i] >= b->high[i] && w->slopes[i] < 0);
    changed = changed || held != w->held[i];
    w->held[i] = held;
    if (!held) largest = fmax(largest, fabs(w->slopes[i]));
  }
  if (changed) forget(w);
  return largest;
}

// -H g over the free variables; downhill, or the slope itself.
static double direct(work *w, double *d) {
  int n = w->box->n;
  for (int again = 0; again < 2; again++) {
    double descent = 0;
    for (int i = 0; i < n; i++) {
      d[i] = 0;
      for (int j = 0; !w->held[i] && j < n; j++)
        if (!w->held[j]) d[i] -= w->H[i + j * n] * w->slopes[j];
      descent += d[i] * w->slopes[i];
    }
    if (descent < 0) return descent;
    forget(w);
  }
  return 0;
}

// H := (I - s y'/sy) H (I - y s'/sy) + s s'/sy
static void learn(work *w, const double *s, const double *y) {
  int n = w->box->n;
  double sy = 0, yHy = 0, Hy[CAROM_BOX_MOST];
  for (int i = 0; i < n; i++) sy += s[i] * y[i];
  if (!(sy > 1e-14)) return;
  for (int i = 0; i < n; i++) {
    Hy[i] = 0;
    for (int j = 0; j < n; j++) Hy[i] += w->H[i + j * n] * y[j];
    yHy += y[i] * Hy[i];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      w->H[i + j * n] += (1 + yHy / sy) * s[i] * s[j] / sy - (Hy[i] * s[j] + s[i] * Hy[j]) / sy;
}

// A step that pays; false: none does.
static bool go(work *w, double *x, const double *d, double descent) {
  const carom_box *b = w->box;
  double to[CAROM_BOX_MOST], slopes[CAROM_BOX_MOST], s[CAROM_BOX_MOST], y[CAROM_BOX_MOST], longest = 0;
  for (int i = 0; i < b->n; i++) longest = fmax(longest, fabs(d[i]));
  double a = longest > 2 ? 2 / longest : 1;
  for (int k = 0; k < 17; k++, a /= 4) {
    for (int i = 0; i < b->n; i++) to[i] = clip(b, i, x[i] + a * d[i]);
    double value = b->value(b->context, to, slopes);
    if (!(value <= w->value + 1e-4 * a * descent)) continue;
    for (int i = 0; i < b->n; i++) s[i] = to[i] - x[i], y[i] = slopes[i] - w->slopes[i];
    learn(w, s, y);
    memcpy(x, to, (size_t)b->n * sizeof *x);
    memcpy(w->slopes, slopes, (size_t)b->n * sizeof *slopes);
    bool worth = value < w->value;
    w->value = value;
    return worth;
  }
  return false;
}

double carom_box_minimum(const carom_box *box, double *x) {
  work w = {.box = box};
  double d[CAROM_BOX_MOST];
  for (int i = 0; i < box->n; i++) x[i] = clip(box, i, x[i]);
  w.value = box->value(box->context, x, w.slopes);
  forget(&w);
  for (int k = 0; k < box->max_iterations && isfinite(w.value); k++) {
    if (hold(&w, x) <= box->tolerance) break;
    double descent = direct(&w, d);
    if (!(descent < 0) || !go(&w, x, d, descent)) break;
  }
  return w.value;
}
