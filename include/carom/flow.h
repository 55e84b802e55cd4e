/// carom/flow.h: optical flow: how the pixels of one image move to those of the next, as a linear program in the
/// 1-norm (Gavrea, habilitation thesis, 2.5.1), with the Horn-Schunck least squares beside it. docs/flow.md has the
/// mathematics.
///
/// Stands on carom/l1.h. The flow (u, v) of images A and B, in pixels, x to the right and y down, makes
///
///     E1 = sum |Ix u + Iy v + It| + lambda (|ux| + |uy| + |vx| + |vy|)
///
/// least, where I are derivatives of the images. That is |A x + b|_1 with a sparse A of two unknowns a pixel.
#ifndef CAROM_FLOW_H
#define CAROM_FLOW_H

#include "carom/l1.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Limits of sizes.
enum {
  CAROM_IMAGE_SIDE = 16384,      ///< pixels, at most, of an image's width and height
  CAROM_IMAGE_PIXELS = 1 << 24,  ///< and of all of it
  CAROM_FLOW_FORMS_PIXELS = 36   ///< of images whose dense programs are solved
};

// ---- images ---------------------------------------------------------------------------------------------------------

/// A grey image. Black is 0 and white is 1 in what is read from files; others may have any range.
typedef struct carom_image {
  int width, height;          ///< pixels
  double *grey;               ///< (width x height) row by row from the top
  carom_allocator allocator;  ///< of `grey`, for carom_image_release
} carom_image;

/// An image of zeros. CAROM_ERR_LIMIT beyond the sizes above.
CAROM_API carom_status carom_image_init(int width, int height, const carom_allocator *allocator, carom_image *image,
                                        carom_error *error);
/// From a file: PNG of any kind, or PGM and PPM (P2, P3, P5, P6), of 8 or 16 bits. Colour becomes 0.299 R + 0.587 G +
/// 0.114 B, what is transparent is laid on black. CAROM_ERR_IO, CAROM_ERR_FORMAT or CAROM_ERR_LIMIT with the file's
/// name.
CAROM_API carom_status carom_image_read(const char *path, const carom_allocator *allocator, carom_image *image,
                                        carom_error *error);
/// The same from memory.
CAROM_API carom_status carom_image_parse(const carom_bytes *file, const carom_allocator *allocator, carom_image *image,
                                         carom_error *error);
/// Writes a grey PNG of 16 bits; what is outside of 0 to 1 is cut.
CAROM_API carom_status carom_image_write(const carom_image *image, const char *path, carom_error *error);
CAROM_API void carom_image_release(carom_image *image);  ///< zeroes it; a zeroed one is fine

// ---- flow -----------------------------------------------------------------------------------------------------------

/// A motion of every pixel, in pixels: x to the right, y down. NaN where it is not known.
typedef struct carom_flow_field {
  int width, height;          ///< pixels
  double *u;                  ///< (width x height) to the right, row by row from the top
  double *v;                  ///< (width x height) down
  carom_allocator allocator;  ///< of both, for carom_flow_field_release
} carom_flow_field;

/// A field at rest. CAROM_ERR_LIMIT beyond the sizes of images.
CAROM_API carom_status carom_flow_field_init(int width, int height, const carom_allocator *allocator,
                                             carom_flow_field *field, carom_error *error);
/// Middlebury's .flo (Baker et al. 2011): single precision; what is beyond 1e9 is not known.
CAROM_API carom_status carom_flow_field_read(const char *path, const carom_allocator *allocator,
                                             carom_flow_field *field, carom_error *error);
/// The same from memory.
CAROM_API carom_status carom_flow_field_parse(const carom_bytes *file, const carom_allocator *allocator,
                                              carom_flow_field *field, carom_error *error);
/// Writes a .flo.
CAROM_API carom_status carom_flow_field_write(const carom_flow_field *field, const char *path, carom_error *error);
CAROM_API void carom_flow_field_release(carom_flow_field *field);  ///< zeroes it; a zeroed one is fine

/// Writes a PNG with the direction as hue, on a wheel as Baker et al. (2011) have it, and the length as saturation:
/// white at rest, full at `longest` pixels (0: the longest of the field), darker beyond, black where it is not known.
CAROM_API carom_status carom_flow_field_draw(const carom_flow_field *field, double longest, const char *path,
                                             carom_error *error);
/// The same colour for one motion, over `longest`: red, green and blue, 0 to 255.
CAROM_API void carom_flow_color(double u, double v, double longest, unsigned char rgb[3]);
/// The longest motion of a field that is known; 0 where none is.
CAROM_API double carom_flow_field_longest(const carom_flow_field *field);

/// How far a field is from a given one, over pixels where both are known.
typedef struct carom_flow_error {
  int64_t pixels;         ///< how many those are
  double end_point;       ///< mean of |(u, v) - (u', v')|, pixels
  double end_point_most;  ///< the largest of these
  double angular;         ///< mean angle between (u, v, 1) and (u', v', 1) (Barron et al. 1994), degrees
} carom_flow_error;

/// CAROM_ERR_ARGUMENT when the sizes differ, or when no pixel is known in both.
CAROM_API carom_status carom_flow_compare(const carom_flow_field *field, const carom_flow_field *truth,
                                          carom_flow_error *distance, carom_error *error);

// ---- estimates ------------------------------------------------------------------------------------------------------

/// Two images of one size, borrowed.
typedef struct carom_flow_pair {
  const carom_image *A;  ///< the first
  const carom_image *B;  ///< the next
} carom_flow_pair;

/// Which sum is made least.
typedef enum carom_flow_norm {
  CAROM_FLOW_L1,  ///< E1 as above: outliers hardly count, and motions may jump
  CAROM_FLOW_L2   ///< Horn and Schunck (1981): squares of the same terms, with lambda before the squares
} carom_flow_norm;

/// How derivatives are taken.
typedef enum carom_flow_stencil {
  CAROM_FLOW_TWO_POINT,  ///< of images (-1, 0, 1)/2; of the flow (-1, 1), which no checkerboard escapes
  CAROM_FLOW_FIVE_POINT  ///< (1, -8, 0, 8, -1)/12; of the flow, as the thesis has it, it hardly sees a checkerboard
} carom_flow_stencil;

/// Begin with carom_flow_default_options(); nothing is ever written here.
typedef struct carom_flow_options {
  carom_flow_norm norm;           ///< default CAROM_FLOW_L1
  double lambda;                  ///< weight of the smoothness, >= 0; default 0.1, for images of range 1
  carom_flow_stencil derivative;  ///< of the images; default CAROM_FLOW_FIVE_POINT
  carom_flow_stencil smoothness;  ///< of the flow; default CAROM_FLOW_TWO_POINT
  double impulses;  ///< pixels that differ by more than this from the median of the 3 x 3 about them are replaced by it
                    ///< where slopes are taken: wild pixels would get into A, where no norm forgives them. Of images of
                    ///< range 1; 0: none are; default 0.25
  int levels;       ///< of the pyramid, each half as wide as the one below; 1: none; 0 (default): as many as leave
                    ///< 16 pixels on the shorter side
  int warps;        ///< programs a level, each about the flow of the one before; default 2
  int median;       ///< side of the window of medians between programs, odd; 1: none; default 5. The last program's
                    ///< answer is left as it is
  int max_iterations;       ///< of the interior point, a program; default 100
  double tolerance;         ///< of the last program (carom/l1.h); default 1e-11. Those before need 1e-6
  int threads;              ///< 0 (default): one per processor. The answer does not depend on it
  carom_progress progress;  ///< done of total programs; default: none
} carom_flow_options;

/// Options with the defaults named above.
CAROM_API carom_flow_options carom_flow_default_options(void);

/// How an estimate went.
typedef struct carom_flow_info {
  int levels, programs;  ///< how many
  int rows, unknowns;    ///< of the last program
  int iterations;        ///< of all programs; 0 for least squares
  double energy1;        ///< |A x + b|_1 of the last program at its answer, in either norm: E1
  double energy2;        ///< E2, in either norm
  carom_l1_info l1;      ///< of the last program, with its certificate; zero for least squares
} carom_flow_info;

/// The flow from A to B. CAROM_ERR_ARGUMENT for images that differ in size or have less than 2 x 2 pixels, and for
/// options out of range; CAROM_ERR_NUMBER for a pixel that is not finite; CAROM_INTERRUPTED when `progress` asked for
/// it. A last program that did not reach its tolerance is told by info->l1.outcome.
CAROM_API carom_status carom_flow_estimate(const carom_flow_pair *images, const carom_flow_options *options,
                                           const carom_allocator *allocator, carom_flow_field *field,
                                           carom_flow_info *info, carom_error *error);

// ---- the program itself ---------------------------------------------------------------------------------------------

typedef struct carom_flow_program carom_flow_program;  ///< A and b of two images; opaque

/// Of images A and B about `around` (null: at rest), in the norm of `options`. Unknown 2k is u and 2k + 1 is v of pixel
/// k. Its first width x height rows are those of the pixels, where B is looked at moved by `around`; those that come to
/// lie outside are zero. Fails as carom_flow_estimate does.
CAROM_API carom_status carom_flow_program_create(const carom_flow_pair *images, const carom_flow_field *around,
                                                 const carom_flow_options *options, const carom_allocator *allocator,
                                                 carom_flow_program **program, carom_error *error);
CAROM_API void carom_flow_program_destroy(carom_flow_program *program);  ///< null is fine
/// A view that holds as long as the program does.
CAROM_API carom_l1_problem carom_flow_program_problem(const carom_flow_program *program);

/// The value of one program by four ways, for small images: they must agree.
typedef struct carom_flow_forms {
  double structured;   ///< by the interior point with its structure (carom/l1.h)
  double constrained;  ///< (2.5.5): D u >= 0 as constraints; a dense interior point
  double bounded;      ///< (2.5.6): the same with bounds
  double eliminated;   ///< (2.5.7): x eliminated by a basis of the null space of A'
  int iterations[4];   ///< of each
} carom_flow_forms;

/// CAROM_ERR_LIMIT for images of more than CAROM_FLOW_FORMS_PIXELS.
CAROM_API carom_status carom_flow_solve_forms(const carom_flow_pair *images, const carom_flow_options *options,
                                              const carom_allocator *allocator, carom_flow_forms *forms,
                                              carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
