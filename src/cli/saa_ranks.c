// Sums of all ranks on all ranks, by messages through the first: each sends its part, and gets back the whole. A part
// comes with a word on how its rank fares, so that all stop together.
#include <stdlib.h>
#include <string.h>

#include "cli/saa.h"

// In front of the numbers of a message.
typedef struct word {
  int status;  // carom_status of the rank; of the whole, that of the first one that is not well
  int rank;    // whose that is
} word;

typedef struct mail {
  word word;
  double values[];
} mail;

static mail *make_mail(size_t count) { return malloc(sizeof(mail) + count * sizeof(double)); }
static size_t mail_size(size_t count) { return sizeof(mail) + count * sizeof(double); }

static carom_status out_of_memory(carom_error *error) {
  if (error) *error = (carom_error){CAROM_ERR_MEMORY, "out of memory for messages between ranks"};
  return CAROM_ERR_MEMORY;
}

static carom_status judge(const cli_ranks *r, const word *w, carom_error *error) {
  if (w->status == CAROM_OK || w->status == CAROM_INTERRUPTED) return (carom_status)w->status;
  return carom_fail(error, (carom_status)w->status, "rank %d stops since rank %d has failed: %s", r->rank, w->rank,
                    carom_status_text((carom_status)w->status));
}

// Takes in one part from each of the others, whatever their order, and the first bad word.
static carom_status gather(const cli_ranks *r, const size_t *start, double *values, mail *m, word *told,
                           carom_error *error) {
  for (int k = 1; k < r->count; k++) {
    int from = -1;
    size_t size = 0;
    carom_status status = carom_ranks_receive(true, m, mail_size(start[r->count]), &from, &size, error);
    if (status != CAROM_OK) return status;
    memcpy(values + start[from], m->values, (start[from + 1] - start[from]) * sizeof *values);
    if (told->status == CAROM_OK) *told = m->word;
  }
  return CAROM_OK;
}

static carom_status as_first(const cli_ranks *r, const size_t *start, double *values, carom_error *error) {
  size_t all = start[r->count];
  mail *m = make_mail(all);
  if (!m) return out_of_memory(error);
  word told = {cli_interrupted() ? CAROM_INTERRUPTED : CAROM_OK, 0};
  carom_status status = gather(r, start, values, m, &told, error);
  m->word = told;
  memcpy(m->values, values, all * sizeof *values);
  for (int k = 1; k < r->count && status == CAROM_OK; k++) status = carom_ranks_send(k, m, mail_size(all), error);
  free(m);
  return status == CAROM_OK ? judge(r, &told, error) : status;
}

static carom_status as_other(const cli_ranks *r, const size_t *start, double *values, carom_error *error) {
  size_t all = start[r->count], own = start[r->rank + 1] - start[r->rank];
  mail *m = make_mail(all);
  int from;
  size_t size;
  if (!m) return out_of_memory(error);
  m->word = (word){cli_interrupted() ? CAROM_INTERRUPTED : CAROM_OK, r->rank};
  memcpy(m->values, values + start[r->rank], own * sizeof *values);
  carom_status status = carom_ranks_send(0, m, mail_size(own), error);
  if (status == CAROM_OK) status = carom_ranks_receive(true, m, mail_size(all), &from, &size, error);
  if (status == CAROM_OK) status = judge(r, &m->word, error);
  if (status == CAROM_OK) memcpy(values, m->values, all * sizeof *values);
  free(m);
  return status;
}

static carom_status exchange(void *context, const size_t *start, double *values, carom_error *error) {
  const cli_ranks *r = context;
  return r->rank == 0 ? as_first(r, start, values, error) : as_other(r, start, values, error);
}

carom_saa_ranks cli_saa_ranks(const cli_ranks *ranks) {
  if (ranks->count <= 1) return (carom_saa_ranks){0};
  return (carom_saa_ranks){ranks->rank, ranks->count, (void *)ranks, exchange};
}
