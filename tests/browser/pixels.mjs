// Just enough of PNG to look at a screenshot.
import { inflateSync } from "node:zlib";

function chunks(png) {
  const found = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    found.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return found;
}

function paeth(a, b, c) {
  const p = a + b - c;
  const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

function unfilter(raw, width, height, size) {
  const stride = width * size;
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const left = x >= size ? out[y * stride + x - size] : 0;
      const up = y > 0 ? out[(y - 1) * stride + x] : 0;
      const corner = x >= size && y > 0 ? out[(y - 1) * stride + x - size] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      out[y * stride + x] = raw[y * (stride + 1) + 1 + x] + guess;
    }
  }
  return out;
}

/** 8-bit RGB or RGBA without interlacing, as browsers write them. */
export function decodePng(png) {
  const all = chunks(png);
  const head = all.find((c) => c.type === "IHDR").data;
  const size = { 2: 3, 6: 4 }[head[9]];
  if (head[8] !== 8 || !size || head[12] !== 0) throw new Error("unexpected kind of PNG");
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const raw = inflateSync(Buffer.concat(all.filter((c) => c.type === "IDAT").map((c) => c.data)));
  return { width, height, size, data: unfilter(raw, width, height, size) };
}

export function distinctColors(png) {
  const { size, data } = decodePng(png);
  const seen = new Set();
  for (let i = 0; i < data.length; i += size) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return seen.size;
}

/** Mean brightness from 0 to 255. */
export function brightness(png) {
  const { size, data } = decodePng(png);
  let sum = 0;
  for (let i = 0; i < data.length; i += size) sum += data[i] + data[i + 1] + data[i + 2];
  return sum / (3 * (data.length / size));
}

/** Share of pixels that differ visibly. */
export function difference(a, b) {
  const [p, q] = [decodePng(a), decodePng(b)];
  let count = 0;
  for (let i = 0; i < p.data.length; i += p.size) {
    if (Math.abs(p.data[i] - q.data[i]) + Math.abs(p.data[i + 1] - q.data[i + 1]) + Math.abs(p.data[i + 2] - q.data[i + 2]) > 24) count++;
  }
  return count / (p.width * p.height);
}
