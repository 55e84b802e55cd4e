/// carom/base.h: what every other header stands on: version, status codes, errors with messages,
/// the allocator, the log and progress callbacks, random numbers, rates and the clock.
///
/// Rules that hold in every header, unless a function says otherwise:
/// - Arguments come in the order object, inputs, allocator, outputs, error. Pointers must not be null, but for
///   `allocator` (malloc and free), `error` (not interested), `options` (defaults), and what is said to be.
/// - An object that a function makes is the caller's, who ends it with carom_..._destroy (or _close). Where it fails,
///   null is left in its place. Whatever allocates can return CAROM_ERR_MEMORY.
/// - What a const pointer or a `char *` in a definition points to is copied where it is kept, but for models, scenes
///   and shapes: a shape is counted (carom_shape_retain), a model or scene must outlive what was made from it.
/// - Indices count from 0 and are not checked where a function has no way to tell of a mistake.
/// - Every function may be called from several threads as long as no two of them write the same object.
/// - The library prints nothing, never ends the process, and keeps nothing between calls but in the objects it makes.
///   Its only variables are locks around HDF5 (carom/result.h) and Ipopt (carom/control.h), the number under which
///   HDF5 knows how results are written, and a flag that OpenBLAS has the memory it works in. The libraries beneath
///   keep what is theirs: OpenMP its sleeping threads, HDF5 its tables, and PETSc with MPI, once a TAO method was asked
///   for (carom/contact.h), runs until the process ends.
#ifndef CAROM_BASE_H
#define CAROM_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CAROM_API __attribute__((visibility("default")))
#define CAROM_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define CAROM_API
#define CAROM_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_VERSION_MAJOR 0  ///< of these headers
#define CAROM_VERSION_MINOR 1  ///< of these headers
#define CAROM_VERSION_PATCH 0  ///< of these headers

/// The version of the library that is linked, as "major.minor.patch". Constant text.
CAROM_API const char *carom_version(void);

// ---- status -----------------------------------------------------------------------------------

/// The one list of outcomes: X(name, value, text). Zero is success. Positive is recoverable: the
/// same call may succeed with a smaller step or more iterations. Negative is final for this input.
#define CAROM_STATUS_LIST(X)                                                 \
  X(CAROM_OK, 0, "success")                                                  \
  X(CAROM_NOT_CONVERGED, 1, "an iteration did not converge")                 \
  X(CAROM_INTERRUPTED, 2, "interrupted by the caller")                       \
  X(CAROM_ERR_MEMORY, -1, "out of memory")                                   \
  X(CAROM_ERR_ARGUMENT, -2, "invalid argument")                              \
  X(CAROM_ERR_NUMBER, -3, "a number is not finite or out of range")          \
  X(CAROM_ERR_GEOMETRY, -4, "degenerate or unsuitable geometry")             \
  X(CAROM_ERR_NOT_CONVEX, -5, "the mesh is not convex")                      \
  X(CAROM_ERR_SINGULAR, -6, "a matrix is singular or not positive definite") \
  X(CAROM_ERR_IO, -7, "a file could not be read or written")                 \
  X(CAROM_ERR_FORMAT, -8, "a file is not in the expected format")            \
  X(CAROM_ERR_SCENE, -9, "the scene has errors")                             \
  X(CAROM_ERR_UNSUPPORTED, -10, "not available in this build")               \
  X(CAROM_ERR_LIMIT, -11, "a size limit was exceeded")

/// How a call ended: one of CAROM_STATUS_LIST.
typedef enum carom_status {
#define CAROM_STATUS_ENUM(name, value, text) name = value,
  CAROM_STATUS_LIST(CAROM_STATUS_ENUM)
#undef CAROM_STATUS_ENUM
} carom_status;

/// The text of a status, never null; "unknown status" for a value outside the list.
CAROM_API const char *carom_status_text(carom_status status);

/// What went wrong, in words that name the body, file or argument and the remedy. Functions that
/// can fail take a pointer to one of these as their last argument; null means "not interested".
/// It is written only on failure.
typedef struct carom_error {
  carom_status status;  ///< what the function returned
  char message[1000];   ///< ends with a zero; cut where it would be longer
} carom_error;

/// Fills *error (which may be null) as printf would and returns `status`, so that a failure is one line at its site.
CAROM_API carom_status carom_fail(carom_error *error, carom_status status, const char *format, ...) CAROM_PRINTF(3, 4);

// ---- memory -----------------------------------------------------------------------------------

/// The one door to the heap. All three take `context`. `resize` behaves as realloc; blocks are
/// aligned as malloc aligns them.
typedef struct carom_allocator {
  void *context;                                             ///< the caller's own, handed to all three
  void *(*allocate)(void *context, size_t size);             ///< null when out of memory
  void *(*resize)(void *context, void *block, size_t size);  ///< null when out of memory; the block then stays
  void (*release)(void *context, void *block);               ///< is never given null
} carom_allocator;

/// malloc, realloc and free. A null `const carom_allocator *` means this one everywhere.
CAROM_API carom_allocator carom_allocator_default(void);

/// A file that is already in memory. Borrowed: it holds as long as the call that takes it.
typedef struct carom_bytes {
  const char *name;  ///< stands for its path in messages
  const void *data;  ///< (size)
  size_t size;       ///< in bytes
} carom_bytes;

/// Writes the file `file->name` whole or not at all: under another name at first, to the disk, and renamed then. An
/// older file of that name stays as it was when anything fails, and nothing is left behind. Devices and pipes are
/// written directly. CAROM_ERR_IO with the reason and a remedy.
CAROM_API carom_status carom_write_file(const carom_bytes *file, carom_error *error);

// ---- log and progress -------------------------------------------------------------------------

/// How much a message matters, least first.
typedef enum carom_log_level { CAROM_LOG_DEBUG, CAROM_LOG_INFO, CAROM_LOG_NOTICE, CAROM_LOG_WARNING } carom_log_level;

/// Where messages go. A null `write` drops them. The library never prints by itself.
typedef struct carom_log {
  void *context;  ///< the caller's own
  /// `message` ends with a zero, has no line end, and holds during the call only.
  void (*write)(void *context, carom_log_level level, const char *message);
} carom_log;

/// Formats one message (of up to 999 characters) as printf would and hands it to `log` (which may be null). Allocates
/// nothing.
CAROM_API void carom_log_write(const carom_log *log, carom_log_level level, const char *format, ...) CAROM_PRINTF(3, 4);

/// How far long work has come. `report` returns false to ask the work to stop at the next safe
/// point; the work then returns CAROM_INTERRUPTED with everything so far kept.
typedef struct carom_progress {
  void *context;                                             ///< the caller's own
  bool (*report)(void *context, double done, double total);  ///< in a unit of the work's own; may be null
} carom_progress;

// ---- random numbers ---------------------------------------------------------------------------

/// A counter-based generator (Philox 4x32-10, Salmon et al. 2011): the i-th number of stream s
/// under seed k is a pure function of (k, s, i), so that results repeat whatever the order in which
/// threads or replicas draw them. A plain value: copy it freely.
typedef struct carom_random {
  uint64_t seed;    ///< k
  uint64_t stream;  ///< s
  uint64_t index;   ///< i: how many numbers have been drawn
} carom_random;

/// A generator at the beginning of a stream.
CAROM_API carom_random carom_random_make(uint64_t seed, uint64_t stream);
CAROM_API uint64_t carom_random_bits(carom_random *random);                       ///< 64 random bits
CAROM_API double carom_random_uniform(carom_random *random);                      ///< in [0, 1), 53 bits
CAROM_API double carom_random_between(carom_random *random, double a, double b);  ///< in [a, b)
CAROM_API double carom_random_normal(carom_random *random);                       ///< mean 0, standard deviation 1
CAROM_API uint32_t carom_random_below(carom_random *random, uint32_t n);          ///< in 0 .. n-1, unbiased

// ---- rates -----------------------------------------------------------------------------------

/// Both ends of an interval.
typedef struct carom_interval {
  double low, high;  ///< low <= high
} carom_interval;

/// The interval of Wilson (1927) for a rate, of which `hits` of `trials` were seen; z = 1.959964 is 95 percent. Without
/// trials it is [0, 1].
CAROM_API carom_interval carom_wilson(int64_t hits, int64_t trials, double z);
#define CAROM_Z95 1.959963984540054  ///< 97.5 percent of a normal distribution lie below

// ---- words ------------------------------------------------------------------------------------

/// The candidate (of a list that ends with null) nearest to a misspelt word, for "did you mean", or
/// null when none is close.
CAROM_API const char *carom_nearest_word(const char *word, const char *const *candidates);

/// Writes `text` into escaped (size) so that a terminal can show it, whoever wrote it: control characters (C0, C1),
/// marks of direction and the ASCII characters of `also` (null: none) become \uXXXX, bytes that are not UTF-8 become
/// \ufffd. With also = "\"\\" it is the inside of a JSON string. As snprintf does: cut where it would be longer, always
/// with a zero at the end; returns the whole length.
CAROM_API size_t carom_escape(const char *text, const char *also, char *escaped, size_t size);

// ---- clock ------------------------------------------------------------------------------------

/// Monotonic time in seconds, for durations only.
CAROM_API double carom_clock(void);

#ifdef __cplusplus
}
#endif
#endif
