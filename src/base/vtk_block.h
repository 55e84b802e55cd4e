// Binary data in VTK's XML files, which name the byte order; this is the host's.
#ifndef CAROM_SRC_BASE_VTK_BLOCK_H
#define CAROM_SRC_BASE_VTK_BLOCK_H

#include "base/text_buffer.h"

// A block: its size as 64 bits (header_type UInt64), then the bytes, in one run of base64.
void carom_vtk_add_block(carom_text_buffer *text, const void *data, size_t size);
size_t carom_vtk_block_length(size_t size);  // in characters
const char *carom_vtk_byte_order(void);

#endif
