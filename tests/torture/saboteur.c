// Preloaded into a program that is to be tortured. It lets one thing go wrong, chosen by a count and not by a time, so
// that the same run goes wrong in the same place on every machine:
//
//   SABOTEUR_ALLOCATION=N   the N-th request for memory that Carom makes gets nothing (with _ALL=1 all later ones as
//   well) SABOTEUR_OF=PREFIX      requests of the library libhdf5..., say, in the place of Carom's SABOTEUR_KILL=N
//   before the N-th call that changes a file, the process is killed (SIGKILL) SABOTEUR_FULL=N         the N-th call
//   that changes a file, and all after it, find the disk full SABOTEUR_REPORT=FD      there, at exit, what was counted:
//   requests, blocks of Carom's that were not given back, calls
//
// Only what Carom's own code asks for counts as its memory; what its libraries ask for has their own rules.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

// ---- what is Carom's -----------------------------------------------------------------------------------------------

enum { MOST_RANGES = 8, SLOTS = 1 << 20 };
static struct { uintptr_t low, high; } ranges[MOST_RANGES];
static int range_count;
static bool ready;

static int note_object(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  const char *base = strrchr(info->dlpi_name, '/'), *whose = getenv("SABOTEUR_OF");
  bool program = (*(int *)context)++ == 0 && !whose;
  if (!whose) whose = "libcarom";
  if (!program && strncmp(base ? base + 1 : info->dlpi_name, whose, strlen(whose)) != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum && range_count < MOST_RANGES; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
      ranges[range_count].low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      ranges[range_count].high = ranges[range_count].low + info->dlpi_phdr[i].p_memsz;
      range_count++;
    }
  return 0;
}

static bool is_own(const void *caller) {
  for (int i = 0; i < range_count; i++)
    if ((uintptr_t)caller >= ranges[i].low && (uintptr_t)caller < ranges[i].high) return true;
  return false;
}

// ---- blocks --------------------------------------------------------------------------------------------------------

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *blocks[SLOTS];  // open addressing; GONE marks a slot that was in use
static char gone;
static long requests, refused, live, changes, fail_at, kill_at, full_at;
static bool fail_all;

static size_t slot_of(const void *block) { return ((uintptr_t)block >> 4) * 0x9E3779B97F4A7C15u >> 44; }

static void remember(void *block) {
  if (live > SLOTS / 2) return;
  for (size_t i = slot_of(block);; i = (i + 1) % SLOTS)
    if (!blocks[i] || blocks[i] == &gone) {
      blocks[i] = block;
      live++;
      return;
    }
}

static bool forget(const void *block) {
  for (size_t i = slot_of(block), looks = 0; blocks[i] && looks < SLOTS; i = (i + 1) % SLOTS, looks++)
    if (blocks[i] == block) {
      blocks[i] = &gone;
      live--;
      return true;
    }
  return false;
}

static bool refuses(void) {
  requests++;
  if (!fail_at || requests < fail_at || (requests > fail_at && !fail_all)) return false;
  refused++;
  errno = ENOMEM;
  return true;
}

static void *serve(void *caller, void *(*get)(size_t, size_t), size_t a, size_t b) {
  if (!ready || !is_own(caller)) return get(a, b);
  pthread_mutex_lock(&lock);
  void *block = refuses() ? NULL : get(a, b);
  if (block) remember(block);
  pthread_mutex_unlock(&lock);
  return block;
}

static void *get_block(size_t size, size_t ignored) {
  (void)ignored;
  return __libc_malloc(size);
}

void *malloc(size_t size) { return serve(__builtin_return_address(0), get_block, size, 0); }
void *calloc(size_t count, size_t size) { return serve(__builtin_return_address(0), __libc_calloc, count, size); }
void *aligned_alloc(size_t alignment, size_t size) {
  return serve(__builtin_return_address(0), __libc_memalign, alignment, size);
}

void free(void *block) {
  if (ready && block) {
    pthread_mutex_lock(&lock);
    forget(block);
    pthread_mutex_unlock(&lock);
  }
  __libc_free(block);
}

void *realloc(void *block, size_t size) {
  if (!ready) return __libc_realloc(block, size);
  bool own = is_own(__builtin_return_address(0));
  pthread_mutex_lock(&lock);
  void *moved = NULL;
  if (!own || !refuses()) {
    bool known = block && forget(block);
    moved = __libc_realloc(block, size);
    if (moved && (own || known)) remember(moved);
    if (!moved && known && size > 0) remember(block);
  }
  pthread_mutex_unlock(&lock);
  return moved;
}

// ---- files ---------------------------------------------------------------------------------------------------------

static bool on_disk(int file) {
  struct stat what;
  return fstat(file, &what) == 0 && S_ISREG(what.st_mode);
}

// True when the disk is full.
static bool change(void) {
  long n = __atomic_add_fetch(&changes, 1, __ATOMIC_RELAXED);
  if (kill_at && n == kill_at) kill(getpid(), SIGKILL);
  if (!full_at || n < full_at) return false;
  errno = ENOSPC;
  return true;
}

#define NEXT(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))
ssize_t write(int file, const void *data, size_t size) {
  return ready && on_disk(file) && change() ? -1 : NEXT(write)(file, data, size);
}
ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
  return ready && on_disk(file) && change() ? -1 : NEXT(pwrite)(file, data, size, at);
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
  return ready && on_disk(file) && change() ? -1 : NEXT(pwrite64)(file, data, size, at);
}
size_t fwrite(const void *data, size_t size, size_t count, FILE *file) {
  return ready && on_disk(fileno(file)) && change() ? 0 : NEXT(fwrite)(data, size, count, file);
}
int fsync(int file) { return ready && on_disk(file) && change() ? -1 : NEXT(fsync)(file); }
int fclose(FILE *file) {
  bool full = ready && on_disk(fileno(file)) && change();
  int result = NEXT(fclose)(file);
  if (full) errno = ENOSPC;
  return full ? EOF : result;
}
int ftruncate(int file, off_t size) { return ready && on_disk(file) && change() ? -1 : NEXT(ftruncate)(file, size); }
int ftruncate64(int file, off64_t size) {
  return ready && on_disk(file) && change() ? -1 : NEXT(ftruncate64)(file, size);
}
int rename(const char *from, const char *to) { return ready && change() ? -1 : NEXT(rename)(from, to); }
int link(const char *from, const char *to) { return ready && change() ? -1 : NEXT(link)(from, to); }

// ---- begin and end -------------------------------------------------------------------------------------------------

static long count_from(const char *name) {
  const char *text = getenv(name);
  return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void) {
  int number = 0;
  dl_iterate_phdr(note_object, &number);
  fail_at = count_from("SABOTEUR_ALLOCATION");
  fail_all = count_from("SABOTEUR_ALL") != 0;
  kill_at = count_from("SABOTEUR_KILL");
  full_at = count_from("SABOTEUR_FULL");
  ready = true;
}

__attribute__((destructor)) static void end(void) {
  char text[200];
  ready = false;
  if (!getenv("SABOTEUR_REPORT")) return;
  int size = snprintf(text, sizeof text, "{\"requests\": %ld, \"refused\": %ld, \"live\": %ld, \"changes\": %ld}\n",
                      requests, refused, live, changes);
  if (NEXT(write)((int)count_from("SABOTEUR_REPORT"), text, (size_t)size) < 0) abort();
}
