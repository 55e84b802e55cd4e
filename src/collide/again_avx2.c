#include "collide/avx2.h"

#ifdef CAROM_HAS_AVX2
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#define CAROM_QUAD_AVX2
#define DISTANCE_AGAIN carom_distance_again_avx2
#define SSH_AGAIN carom_ssh_again_avx2
#include "collide/again_distance.h"
#include "collide/again_ssh.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
