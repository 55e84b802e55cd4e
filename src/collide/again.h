// The last answer once more: when bodies move little from query to query, the vertices that carried the answer still
// do. One support query on each body proves it.
//
// True, and the answer, when both bodies are polytopes and the cached columns are proven to carry it. False when they
// do not, and then nothing is lost but the look. Each is there twice, with the same bits: for any machine, and for
// those with AVX2.
#ifndef CAROM_SRC_COLLIDE_AGAIN_H
#define CAROM_SRC_COLLIDE_AGAIN_H

#include "collide/avx2.h"
#include "collide/difference.h"
#include "collide/quad.h"
#include "collide/ssh.h"

typedef bool carom_distance_again_fn(const carom_placed *a, const carom_placed *b, carom_ssh_cache *cache,
                                     carom_distance_result *result);
carom_distance_again_fn carom_distance_again_plain, carom_distance_again_avx2;

static inline bool carom_distance_again(const carom_placed *a, const carom_placed *b, carom_ssh_cache *cache,
                                        carom_distance_result *result) {
#ifdef CAROM_HAS_AVX2
  if (carom_has_avx2()) return carom_distance_again_avx2(a, b, cache, result);
#endif
  return carom_distance_again_plain(a, b, cache, result);
}

typedef bool carom_ssh_again_fn(const carom_placed *a, const carom_placed *b, const carom_ssh_options *options,
                                carom_ssh_cache *cache, carom_ssh_result *result);
carom_ssh_again_fn carom_ssh_again_plain, carom_ssh_again_avx2;

static inline bool carom_ssh_again(const carom_placed *a, const carom_placed *b, const carom_ssh_options *options,
                                   carom_ssh_cache *cache, carom_ssh_result *result) {
#ifdef CAROM_HAS_AVX2
  if (carom_has_avx2()) return carom_ssh_again_avx2(a, b, options, cache, result);
#endif
  return carom_ssh_again_plain(a, b, options, cache, result);
}

#endif
