// Time of impact of two bodies on curved paths, by conservative advancement on separating planes: the same idea as in
// impact_time.c, for paths that are given as functions of time with a bound on how fast they bend.
#ifndef CAROM_SRC_COLLIDE_PATH_TIME_H
#define CAROM_SRC_COLLIDE_PATH_TIME_H

#include "carom/collide.h"

typedef struct carom_path_duel {
  const carom_shape *a, *b;
  void *context;
  void (*poses)(void *context, double time, carom_pose *a, carom_pose *b);  // of the shapes, at a time in [0, end]
  double end;                                                               // s
  double bend;        // bounds |d^2/dt^2 n.(x - y)| for any points x of A, y of B that move along, and any unit n, m/s2
  double rate[2];     // bounds |w| of A and of B, rad/s,
  double turning[2];  // and |w|^2 + |w'|, 1/s2
  double speed;       // bounds the relative speed of any two points, m/s
  double reach;       // and their distance, m. All four may be 0 when nothing turns
  double within;      // m: an impact is found when the bodies are this near
  bool planar;        // the normal must lie in the plane z = 0
} carom_path_duel;

typedef struct carom_path_impact {
  bool found;
  double time;  // at which the bodies are still apart (or not closer than they began), or the end
  double gap;   // Euclidean, there
  int queries;
} carom_path_impact;

// First time at which the bodies come within duel->within of each other; never past it. `start` is the separation at
// time 0, if it is known (else null). Bodies that are this near at the start already are allowed to part, or to stay:
// an impact is then what brings them nearer by another sixteenth of `within`. CAROM_NOT_CONVERGED when planes do not
// lead on, with *impact at the last safe time.
carom_status carom_path_impact_time(const carom_path_duel *duel, const carom_distance_result *start,
                                    carom_ssh_cache *cache, carom_path_impact *impact);

#endif
