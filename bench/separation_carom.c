// Carom's own answers: the linear program and the Euclidean distance, from nothing and from the last basis. Beta is the
// line between the bodies' origins, which are their vertex means, so that all solvers see one program.
#include <stdlib.h>

#include "carom/collide.h"
#include "separation.h"

typedef struct carom_world {
  const pair_set *set;
  carom_ssh_cache cache;
  carom_ssh_options options;
} carom_world;

static void *create(const pair_set *set) {
  carom_world *w = calloc(1, sizeof *w);
  if (w) w->set = set, w->options = carom_ssh_default_options();
  return w;
}

static double ssh(carom_world *w, const pair_case *pair, carom_ssh_cache *cache) {
  carom_placed a = {w->set->bodies[pair->a], pair->pose_a}, b = {w->set->bodies[pair->b], pair->pose_b};
  carom_ssh_result x;
  w->options.given_beta = true;
  w->options.beta = cm_sub(pair->pose_a.p, pair->pose_b.p);
  return carom_ssh(&a, &b, &w->options, cache, &x) == CAROM_OK ? x.gap : NAN;
}

static double distance(carom_world *w, const pair_case *pair, carom_ssh_cache *cache) {
  carom_placed a = {w->set->bodies[pair->a], pair->pose_a}, b = {w->set->bodies[pair->b], pair->pose_b};
  carom_distance_result x;
  return carom_distance(&a, &b, cache, &x) == CAROM_OK ? x.distance : NAN;
}

static double ssh_cold(void *world, const pair_case *pair, bool fresh) {
  (void)fresh;
  return ssh(world, pair, NULL);
}

static double ssh_warm(void *world, const pair_case *pair, bool fresh) {
  carom_world *w = world;
  if (fresh) w->cache = (carom_ssh_cache){0};
  return ssh(w, pair, &w->cache);
}

static double distance_cold(void *world, const pair_case *pair, bool fresh) {
  (void)fresh;
  return distance(world, pair, NULL);
}

static double distance_warm(void *world, const pair_case *pair, bool fresh) {
  carom_world *w = world;
  if (fresh) w->cache = (carom_ssh_cache){0};
  return distance(w, pair, &w->cache);
}

#define EVERYWHERE \
  { true, true, true }
const separation_engine separation_ssh_cold = {"Carom ssh", NULL,   "double", true, EVERYWHERE,
                                               false,       create, ssh_cold, free};
const separation_engine separation_ssh_warm = {"Carom ssh, warm", NULL, "double", true, EVERYWHERE, true, create,
                                               ssh_warm,          free};
const separation_engine separation_distance_cold = {"Carom distance", NULL,          "double", false, EVERYWHERE, false,
                                                    create,           distance_cold, free};
const separation_engine separation_distance_warm = {
    "Carom distance, warm", NULL, "double", false, EVERYWHERE, true, create, distance_warm, free};
