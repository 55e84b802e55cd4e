// How far apart are two convex bodies: the interface behind which every engine answers.
#ifndef CAROM_BENCH_SEPARATION_H
#define CAROM_BENCH_SEPARATION_H

#include "bench.h"
#include "pair_file.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct separation_engine {
  const char *name;
  const char *version;     // null for Carom itself
  const char *precision;   // of the vertices: "double" or "single"
  bool lp;                 // answers the linear program (gap along the line of centres), else the Euclidean distance
  bool gap[PAIR_REGIMES];  // gives a number there; else it says no more than whether the bodies meet
  bool warm;               // begins from the last answer along a path
  // Null when the engine cannot hold these bodies.
  void *(*create)(const pair_set *set);
  // Signed distance, or what stands for it; NaN on failure. `fresh`: the last answer was for other bodies.
  double (*query)(void *world, const pair_case *pair, bool fresh);
  void (*destroy)(void *world);
} separation_engine;

extern const separation_engine separation_ssh_cold, separation_ssh_warm;
extern const separation_engine separation_distance_cold, separation_distance_warm;
#ifdef BENCH_CCD
extern const separation_engine separation_ccd_gjk, separation_ccd_mpr;
#endif
#ifdef BENCH_FCL
extern const separation_engine separation_fcl_ccd, separation_fcl_indep;
#endif
#ifdef BENCH_BULLET
extern const separation_engine separation_bullet, separation_bullet_epa2;
#endif
#ifdef BENCH_MUJOCO
extern const separation_engine separation_mujoco;
#endif
#ifdef BENCH_GLPK
extern const separation_engine separation_glpk_cold, separation_glpk_warm;
#endif
#ifdef BENCH_CLP
extern const separation_engine separation_clp_cold, separation_clp_warm;
#endif

// The program as posed (Johnson 2012, eq. 2.29): rows alpha.x - a1 >= 0, then alpha.y - a2 <= 0, then beta.alpha = 1;
// columns alpha (3), a1, a2. World coordinates relative to B's position.
typedef struct separation_program {
  int na, nb;
  double *vertices;  // (na + nb) x 3
  double beta[3];
} separation_program;

// Times of Carom's queries for 32 to 8192 vertices, `seconds` for each, as a table and in the log.
void separation_growth(double seconds, bench_log *log);

bool separation_program_create(separation_program *program, const pair_set *set);
void separation_program_place(separation_program *program, const pair_set *set, const pair_case *pair);
void separation_program_destroy(separation_program *program);

#ifdef __cplusplus
}
#endif
#endif
