// Pairs of convex bodies with certified signed distances: read from files or made in memory, for tests and benchmarks.
//
// Little endian, ints int32, reals double:
//
//     char magic[8] = "SSHPAIR1"; int V, nbody, npair, nregime, seqlen, 0
//     nbody   x { int nf, 0; double vert[V][3]; int tri[nf][3]; (int 0 if nf is odd) }
//     nregime x npair x { int ia, ib; double qa[4], pa[3], qb[4], pb[3], dist, n[3] }
//
// Regimes in order: separated (gap 1), near (gap 1e-3), overlap (depth 0.05). When seqlen > 1 the pairs of a regime are
// npair / seqlen sequences along which B turns and orbits by 0.01 rad a step.
#ifndef CAROM_SAMPLES_PAIR_FILE_H
#define CAROM_SAMPLES_PAIR_FILE_H

#include "carom/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PAIR_SEPARATED, PAIR_NEAR, PAIR_OVERLAP, PAIR_REGIMES };
extern const char *const pair_regime_names[PAIR_REGIMES];

typedef struct pair_case {
  int a, b;  // bodies
  carom_pose pose_a, pose_b;
  double distance;    // Euclidean signed distance
  carom_vec3 normal;  // unit, from B to A
} pair_case;

typedef struct pair_set {
  int vertex_count, body_count, pair_count;
  int sequence_length;         // 0 or 1: independent pairs
  const carom_shape **bodies;  // (body_count)
  pair_case *cases;            // (PAIR_REGIMES x pair_count)
} pair_set;

// False, with a reason in message (200), when the file is missing or not of this kind.
bool pair_set_read(pair_set *set, const char *path, char *message);

// The bodies are hulls of V random points on the unit sphere, shifted to vertex mean 0. With sequence_length > 1
// pair_count must be a multiple of it. False when out of memory or when a hull fails.
bool pair_set_generate(pair_set *set, int vertex_count, int body_count, int pair_count, int sequence_length,
                       uint64_t seed);

void pair_set_release(pair_set *set);

static inline const pair_case *pair_at(const pair_set *set, int regime, int i) {
  return &set->cases[regime * set->pair_count + i];
}

// ---- the judges ----------------------------------------------------------------------------------------------------
// They know vertices, faces and edges, and nothing of the library's queries.

typedef struct pair_reference {
  double distance;
  carom_vec3 normal;
  double error;  // certified bound on |distance - true| but for round-off of the data
} pair_reference;

// Shortest distance between bodies that are apart: the point of least norm of A - B, in long double, certified by its
// duality gap. False when the bodies meet.
bool pair_reference_gap(const carom_polytope *a, carom_pose pose_a, const carom_polytope *b, carom_pose pose_b,
                        pair_reference *reference);

// Depth of bodies that meet: the least support of A - B over the normals of all its facets, which are faces of A, faces
// of -B, and edge pairs whose arcs cross on the Gauss sphere. Works (as an upper bound of -gap) for bodies apart.
pair_reference pair_reference_depth(const carom_polytope *a, carom_pose pose_a, const carom_polytope *b,
                                    carom_pose pose_b);

// Whichever of the two applies.
pair_reference pair_reference_of(const carom_polytope *a, carom_pose pose_a, const carom_polytope *b,
                                 carom_pose pose_b);

#ifdef __cplusplus
}
#endif
#endif
