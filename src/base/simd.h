// Functions marked so are compiled twice on x86-64 and the wider one is chosen when the program is loaded. Contraction
// is off everywhere (-ffp-contract=off), so both give the same bits. Sanitizers cannot follow the resolver.
#ifndef CAROM_SRC_BASE_SIMD_H
#define CAROM_SRC_BASE_SIMD_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAROM_SIMD_CLONES
#elif defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && defined(__gnu_linux__)
#define CAROM_SIMD_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CAROM_SIMD_CLONES
#endif

#endif
