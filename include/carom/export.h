/// carom/export.h: tables, pictures and replay pages out of result files.
#ifndef CAROM_EXPORT_H
#define CAROM_EXPORT_H

#include "carom/result.h"

#ifdef __cplusplus
extern "C" {
#endif

// Each writes to a temporary name first, so that a failure never leaves half a file under `path`, over an older file of
// that name; CAROM_ERR_IO when it cannot. `progress` may be null; when it asks to stop, CAROM_INTERRUPTED, and nothing
// is written. Allocates by the result's allocator.

/// One self-contained HTML page. CAROM_ERR_UNSUPPORTED when the library was built without the viewer.
CAROM_API carom_status carom_export_replay(carom_result *result, const char *path, const carom_progress *progress,
                                           carom_error *error);
/// A table of comma-separated values: time, body, position, orientation, velocity, angular velocity; a line per body
/// and frame. Beside it the audit ("name.audit.csv") and, if there are any, the events ("name.events.csv"), the
/// channels ("name.channels.csv": time, then a column for each) and the solids that deform ("name.solids.csv": centre
/// of mass, momentum, angular momentum about the world's origin, energies, least det F, largest stress; a line per
/// solid and frame).
CAROM_API carom_status carom_export_csv(carom_result *result, const char *path, const carom_progress *progress,
                                        carom_error *error);
/// A .pvd collection at `path` and one .vtp file a frame beside it, for ParaView; where there are solids that deform
/// one .vtu file a frame as well, with their tetrahedra, von Mises stresses and velocities.
CAROM_API carom_status carom_export_vtk(carom_result *result, const char *path, const carom_progress *progress,
                                        carom_error *error);
/// An animated binary glTF 2.0 scene of the rigid bodies. Solids that deform are left out: glTF has no shapes that are
/// given frame by frame.
CAROM_API carom_status carom_export_glb(carom_result *result, const char *path, const carom_progress *progress,
                                        carom_error *error);

/// Fields of granular matter on a regular grid.
typedef struct carom_granular_options {
  int cells[3];          ///< along x, y, z; default 0: cells about three grains wide
  carom_vec3 low, high;  ///< the box, m; default equal: around all that moves in the window
  double from, until;    ///< s, the window; default all
  bool every_frame;      ///< a line a cell and frame; default false: means over the window
  double contact_gap;    ///< grains nearer than this part of the smaller radius touch; default 0.01
} carom_granular_options;

/// Options with the defaults named above.
CAROM_API carom_granular_options carom_granular_default_options(void);
/// A table of packing fraction, mean velocity of the matter, grains, coordination number, residence time (since the
/// grain last came back, or since the start) and contact stress (compression positive), a line a cell; what is not
/// known stays empty. Means over a window are also written as image data for ParaView beside it ("name.csv" and
/// "name.vti"). Stress needs the contacts that the run recorded at its frames; contacts with boundaries count for
/// stress, not for coordination. Null options mean defaults.
CAROM_API carom_status carom_export_granular(carom_result *result, const char *path,
                                             const carom_granular_options *options, const carom_progress *progress,
                                             carom_error *error);

#ifdef __cplusplus
}
#endif
#endif
