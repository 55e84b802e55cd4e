#include "base/vtk_block.h"

#include <string.h>

void carom_vtk_add_block(carom_text_buffer *text, const void *data, size_t size) {
  unsigned char first[12];
  uint64_t header = size;
  memcpy(first, &header, sizeof header);
  size_t lead = size < 4 ? size : 4;  // 8 + 4 bytes are whole groups of three
  memcpy(first + sizeof header, data, lead);
  carom_text_buffer_base64(text, first, sizeof header + lead);
  carom_text_buffer_base64(text, (const unsigned char *)data + lead, size - lead);
}

size_t carom_vtk_block_length(size_t size) { return (sizeof(uint64_t) + size + 2) / 3 * 4; }

const char *carom_vtk_byte_order(void) {
  const uint16_t probe = 1;
  unsigned char first;
  memcpy(&first, &probe, 1);
  return first ? "LittleEndian" : "BigEndian";
}
