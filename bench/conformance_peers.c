// The engines that stand beside Carom in the conformance matrix, as far as they are installed.
#include "conformance.h"

extern const conformance_peer conformance_mujoco, conformance_bullet, conformance_ode, conformance_dart;

const conformance_peer *const conformance_peers[] = {
#ifdef BENCH_MUJOCO
    &conformance_mujoco,
#endif
#ifdef BENCH_BULLET
    &conformance_bullet,
#endif
#ifdef BENCH_ODE
    &conformance_ode,
#endif
#ifdef BENCH_DART
    &conformance_dart,
#endif
    NULL};
