#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

enum { LONGEST = 48, MOST_TRIED = 20000 };  // longer words and more candidates help nobody and cost time

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static int smaller(int a, int b) { return a < b ? a : b; }

// Edit distance with transpositions of neighbours (optimal string alignment; Damerau 1964), case ignored.
static int distance(const char *a, int m, const char *b, int n) {
  int d[3][LONGEST + 2];  // the rows i-2, i-1 and i of the usual table, in turn
  for (int j = 0; j <= n; j++) d[0][j] = j;
  for (int i = 1; i <= m; i++) {
    int *row = d[i % 3], *above = d[(i + 2) % 3], *before = d[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      char p = lower(a[i - 1]), q = lower(b[j - 1]);
      row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (p != q));
      if (i > 1 && j > 1 && p == lower(b[j - 2]) && lower(a[i - 2]) == q) row[j] = smaller(row[j], before[j - 2] + 1);
    }
  }
  return d[m % 3][n];
}

carom_nearest carom_nearest_begin(const char *word, size_t length) {
  // About a third of the letters may be wrong.
  int allowed = length < 5 ? 1 : length < 9 ? 2 : (int)(length > LONGEST ? LONGEST : length) / 3;
  return (carom_nearest){.word = word, .length = length, .distance = allowed + 1};
}

// Beginnings of words count as near: "pos" for "position". Among equally near words the alphabetically first wins, so
// that the order of a hash table does not show.
void carom_nearest_try(carom_nearest *nearest, const char *candidate) {
  size_t m = nearest->length, n = strlen(candidate);
  if (m > LONGEST || n > LONGEST || m == 0 || nearest->tried++ > MOST_TRIED) return;
  bool begins = m >= 3 && n > m && memcmp(nearest->word, candidate, m) == 0;
  if (!begins && (m > n ? m - n : n - m) > (size_t)nearest->distance) return;
  int d = begins ? 1 : distance(nearest->word, (int)m, candidate, (int)n);
  bool tie = d == nearest->distance && nearest->best && strcmp(candidate, nearest->best) < 0;
  if ((d >= nearest->distance && !tie) || d >= (int)n) return;
  nearest->distance = d;
  nearest->best = candidate;
}

void carom_nearest_try_all(carom_nearest *nearest, const carom_names *names) {
  for (int i = 0; i < names->capacity; i++)
    if (names->name[i]) carom_nearest_try(nearest, names->name[i]);
}

void carom_nearest_hint(const carom_nearest *nearest, char *hint, size_t size) {
  if (size > 0) hint[0] = '\0';
  if (nearest->best) snprintf(hint, size, "did you mean '%s'?", nearest->best);
}

const char *carom_nearest_word(const char *word, const char *const *candidates) {
  carom_nearest nearest = carom_nearest_begin(word, strlen(word));
  for (; *candidates; candidates++) carom_nearest_try(&nearest, *candidates);
  return nearest.best;
}
