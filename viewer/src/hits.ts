// Ticks above the slider where bodies collided.
import { byId } from "./dom";
import type { Playback } from "./playback";
import type { Theme } from "./theme";

const lasting = 1;

export function showHits(playback: Playback, theme: Theme): void {
  const { motion } = playback;
  const { events } = motion.header;
  const canvas = byId<HTMLCanvasElement>("hits");
  const times = events.time.filter((_, i) => events.kind[i] !== lasting);
  canvas.hidden = times.length === 0 || motion.end <= motion.start;
  if (canvas.hidden) return;
  const draw = () => paint(canvas, times, motion.start, motion.end, theme.colors.muted);
  new ResizeObserver(draw).observe(canvas);
  theme.onChange(draw);
}

/** The slider's thumb has a width: time runs between the places of its centre. */
const margin = 7;

function paint(canvas: HTMLCanvasElement, times: number[], start: number, end: number, color: string): void {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  const context = canvas.getContext("2d")!;
  context.fillStyle = color;
  const columns = new Set(times.map((t) => Math.round((margin + ((t - start) / (end - start)) * (width - 2 * margin)) * ratio)));
  for (const x of columns) context.fillRect(x, 0, Math.max(1, ratio), canvas.height);
}
