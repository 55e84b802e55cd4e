// Loops over scenarios. They are cut into chunks, as many whatever threads and ranks there are; each chunk is summed in
// order, and then the chunks are, so that no bit depends on who did what.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "solve/saa_work.h"

carom_saa_boxes carom_saa_boxes_of(const carom_saa_work *w, int i) {
  const carom_saa_layout *l = &w->layout;
  double *at = w->state + (size_t)i * w->stride;
  carom_saa_boxes b;
  double **const fields[] = {&b.v, &b.tl, &b.tu, &b.zl, &b.zu, &b.cl, &b.cu, &b.dv};
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) *fields[k] = at, at += l->boxes;
  b.w = at, at += l->rows;
  b.side = at, at += l->rows;
  b.diagonal = at, at += l->size;
  b.right = at, at += l->size;
  b.solution = at, at += l->size;
  b.error = at;
  return b;
}

void carom_saa_load(const carom_saa_work *w, int i, carom_saa_scratch *s) {
  const carom_saa_layout *l = &w->layout;
  const double *random = w->random + (size_t)i * (size_t)l->random_count;
  memcpy(s->data, l->base, (size_t)l->data_size * sizeof *s->data);
  for (int k = 0; k < l->target_count; k++) {
    const carom_saa_target *t = &l->targets[k];
    double value = t->scale * random[t->random];
    s->data[t->at] = t->set ? value : s->data[t->at] + value;
  }
}

static void run_chunk(carom_saa_work *w, int chunk, carom_saa_kernel *kernel, int sums, int maxima) {
  double *at = w->sums + (size_t)chunk * (size_t)(sums + maxima);
  int first = carom_team_share((carom_team){w->chunks, chunk}, w->count),
      end = carom_team_share_end((carom_team){w->chunks, chunk}, w->count);
  carom_team me = {1, 0};
  if (w->threads > 1) me = carom_team_here();
  memset(at, 0, (size_t)(sums + maxima) * sizeof *at);
  for (int i = first; i < end; i++) kernel(w, i - w->first, &w->scratch[me.me], at, at + sums);
}

static carom_status exchange(carom_saa_work *w, int width, carom_error *error) {
  const carom_saa_ranks *r = &w->options.ranks;
  if (r->count <= 1 || width == 0) return CAROM_OK;
  for (int k = 0; k <= r->count; k++)
    w->exchange_start[k] = (size_t)carom_team_share((carom_team){r->count, k}, w->chunks) * (size_t)width;
  return r->exchange(r->context, w->exchange_start, w->sums, error);
}

carom_status carom_saa_pass(carom_saa_work *w, carom_saa_kernel *kernel, int sums, int maxima, carom_error *error) {
  int width = sums + maxima;
  CAROM_PARALLEL_FOR(w->threads, schedule(dynamic, 1),
                     for (int c = w->chunk_first; c < w->chunk_end; c++) run_chunk(w, c, kernel, sums, maxima));
  carom_status status = exchange(w, width, error);
  if (status != CAROM_OK) return status;
  memset(w->total, 0, (size_t)width * sizeof *w->total);
  for (int c = 0; c < w->chunks; c++) {
    const double *at = w->sums + (size_t)c * (size_t)width;
    for (int k = 0; k < sums; k++) w->total[k] += at[k];
    for (int k = sums; k < width; k++) w->total[k] = fmax(w->total[k], isnan(at[k]) ? INFINITY : at[k]);
  }
  return CAROM_OK;
}
