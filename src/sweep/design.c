// Where the cases of a design lie in the unit cube, and on the axes. Every function here is pure: the inputs of case i
// are the same whoever asks, and whatever was asked before.
#include <math.h>

#include "carom/sweep.h"

static const char *const names[] = {"grid", "random", "latin", "halton", "star", "sobol"};

const char *carom_design_name(carom_design design) {
  return (size_t)design < sizeof names / sizeof *names ? names[design] : NULL;
}

// ---- sizes ----------------------------------------------------------------------------------------------------------

#define MOST_CASES ((int64_t)1000000000)

static int64_t grid_size(const carom_axis *axes, int axis_count) {
  int64_t size = 1;
  for (int i = 0; i < axis_count; i++) {
    if (axes[i].count < 1 || size > MOST_CASES / axes[i].count) return -1;
    size *= axes[i].count;
  }
  return size;
}

int64_t carom_sampling_size(carom_design design, const carom_axis *axes, int axis_count, int64_t points) {
  int64_t each = design == CAROM_DESIGN_SOBOL ? axis_count + 2 : 1;
  if (design == CAROM_DESIGN_GRID) return grid_size(axes, axis_count);
  if (design == CAROM_DESIGN_STAR) return 2 * (int64_t)axis_count + 1;
  return points < 0 || points > MOST_CASES / each ? -1 : points * each;
}

// ---- axes -----------------------------------------------------------------------------------------------------------

static double blend(const carom_axis *a, double lower, double upper) {  // weights that sum to one
  if (a->logarithmic) return exp(lower * log(a->from) + upper * log(a->to));
  return lower * a->from + upper * a->to;
}

double carom_axis_value(const carom_axis *axis, double u) {
  if (axis->values) {
    int i = (int)(u * axis->count);
    return axis->values[i < axis->count ? i : axis->count - 1];
  }
  return blend(axis, 1 - u, u);
}

// Weighted from both ends, so that an axis from -a to a has points that are mirror images to the last bit.
static double grid_value(const carom_axis *a, int i) {
  if (a->values) return a->values[i];
  if (a->count == 1 || i == 0) return a->from;
  if (i == a->count - 1) return a->to;
  double n = a->count - 1;
  if (a->logarithmic) return blend(a, (n - i) / n, i / n);
  return ((n - i) * a->from + i * a->to) / n;
}

static void grid_inputs(const carom_sampling *s, int64_t number, double *inputs) {
  for (int i = s->axis_count - 1; i >= 0; i--) {
    inputs[i] = grid_value(&s->axes[i], (int)(number % s->axes[i].count));
    number /= s->axes[i].count;
  }
}

// ---- Latin hypercube ------------------------------------------------------------------------------------------------

static uint64_t mix(uint64_t seed, uint64_t stream, uint64_t x) {
  carom_random random = {.seed = seed, .stream = stream, .index = x};
  return carom_random_bits(&random);
}

// Streams of their own, far from those of cases.
enum { AXIS_STREAMS = 64 };
static uint64_t axis_stream(int axis, int use) { return UINT64_MAX - (uint64_t)(AXIS_STREAMS * use + axis); }

// One round-trip through a Feistel network on pairs of b bits: a permutation of 0 .. 4^b - 1 for any round function.
static uint64_t scramble(uint64_t x, int b, uint64_t seed, uint64_t stream) {
  enum { ROUNDS = 6 };
  uint64_t mask = ((uint64_t)1 << b) - 1, left = x >> b, right = x & mask;
  for (uint64_t round = 0; round < ROUNDS; round++) {
    uint64_t next = left ^ (mix(seed, stream, (round << 32) | right) & mask);
    left = right;
    right = next;
  }
  return (left << b) | right;
}

// A permutation of 0 .. n-1 that needs no memory: the network on the next power of four, walked until it lands inside.
static int64_t permuted(int64_t i, int64_t n, uint64_t seed, int axis) {
  int b = 1;
  while (((int64_t)1 << 2 * b) < n) b++;
  uint64_t x = (uint64_t)i;
  do x = scramble(x, b, seed, axis_stream(axis, 0));
  while (x >= (uint64_t)n);
  return (int64_t)x;
}

static double latin(const carom_sampling *s, int64_t number, int axis, double jitter) {
  double n = (double)s->count, u = ((double)permuted(number, s->count, s->seed, axis) + jitter) / n;
  return u < 1 ? u : nextafter(1, 0);
}

// ---- Halton ---------------------------------------------------------------------------------------------------------

static double radical_inverse(uint64_t i, uint64_t base) {
  double value = 0, digit = 1;
  for (; i > 0; i /= base) {
    digit /= (double)base;
    value += digit * (double)(i % base);
  }
  return value;
}

static double halton(const carom_sampling *s, int64_t number, int axis) {
  static const unsigned char primes[CAROM_MOST_AXES] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
  carom_random random = carom_random_make(s->seed, axis_stream(axis, 1));
  double u = radical_inverse((uint64_t)number + 1, primes[axis]) + carom_random_uniform(&random);
  return u - floor(u);
}

// ---- star and Sobol -------------------------------------------------------------------------------------------------

static double star(const carom_sampling *s, int64_t number, int axis) {
  if (number == 0 || (number - 1) / 2 != axis) return 0.5;
  return number % 2 ? 0.5 - s->delta : 0.5 + s->delta;
}

// Row r of A is stream 2 r, of B 2 r + 1. Block 0 of a row is A, 1 is B, 2 + i is A with column i of B.
static uint64_t sobol_stream(const carom_sampling *s, int64_t number, int axis) {
  int64_t blocks = s->axis_count + 2, row = number / blocks, block = number % blocks;
  return 2 * (uint64_t)row + (block == 1 || block == 2 + axis);
}

static double uniform(uint64_t seed, uint64_t stream, int axis) {
  carom_random random = {.seed = seed, .stream = stream, .index = (uint64_t)axis};
  return carom_random_uniform(&random);
}

static double coordinate(const carom_sampling *s, int64_t number, int axis) {
  double jitter = uniform(s->seed, (uint64_t)number, axis);
  switch (s->design) {
    case CAROM_DESIGN_LATIN:
      return latin(s, number, axis, jitter);
    case CAROM_DESIGN_HALTON:
      return halton(s, number, axis);
    case CAROM_DESIGN_STAR:
      return star(s, number, axis);
    case CAROM_DESIGN_SOBOL:
      return uniform(s->seed, sobol_stream(s, number, axis), axis);
    default:
      return jitter;
  }
}

void carom_sampling_inputs(const carom_sampling *sampling, int64_t number, double *inputs) {
  if (sampling->design == CAROM_DESIGN_GRID) {
    grid_inputs(sampling, number, inputs);
    return;
  }
  for (int i = 0; i < sampling->axis_count; i++)
    inputs[i] = carom_axis_value(&sampling->axes[i], coordinate(sampling, number, i));
}
