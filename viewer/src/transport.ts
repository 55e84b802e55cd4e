// The bar with the slider, the clock and the buttons of the playback.
import { byId, press } from "./dom";
import { fixed, speedLabel, timeDecimals } from "./format";
import { speeds, type Playback } from "./playback";

const sliderSteps = 10000;

export class Transport {
  private readonly play = byId<HTMLButtonElement>("play");
  private readonly slider = byId<HTMLInputElement>("slider");
  private readonly clock = byId("clock");
  private readonly counter = byId("counter");
  private readonly speed = byId<HTMLSelectElement>("speed");
  private readonly loop = byId("loop");
  private readonly decimals: number;

  constructor(private readonly playback: Playback) {
    const { motion } = playback;
    this.decimals = timeDecimals(motion.end - motion.start);
    this.slider.max = String(sliderSteps);
    this.slider.disabled = this.play.disabled = motion.end <= motion.start;
    this.fillSpeeds();
    this.connect();
    playback.onChange(() => this.update());
    this.update();
  }

  /** The list, and the present speed if an address asked for another one. */
  private fillSpeeds(): void {
    const all = [...new Set([...speeds, this.playback.speed])].sort((a, b) => a - b);
    this.speed.replaceChildren(...all.map((s) => new Option(speedLabel(s), String(s))));
  }

  private connect(): void {
    const { playback } = this;
    const { motion } = playback;
    this.play.addEventListener("click", () => playback.toggle());
    byId("back").addEventListener("click", () => playback.step(-1));
    byId("forward").addEventListener("click", () => playback.step(1));
    byId("rewind").addEventListener("click", () => playback.seek(motion.start));
    this.loop.addEventListener("click", () => playback.setLoop(!playback.loop));
    this.speed.addEventListener("change", () => {
      playback.setSpeed(Number(this.speed.value));
      this.speed.blur(); // gives the keys back to the page
    });
    this.slider.addEventListener("input", () => {
      playback.seek(motion.start + (Number(this.slider.value) / sliderSteps) * (motion.end - motion.start));
    });
  }

  update(): void {
    const { playback } = this;
    const { start, end, frames } = playback.motion;
    const share = end > start ? (playback.time - start) / (end - start) : 0;
    this.slider.value = String(Math.round(share * sliderSteps));
    this.slider.style.setProperty("--share", `${(share * 100).toFixed(2)}%`);
    const time = `${fixed(playback.time, this.decimals)} s`;
    this.slider.setAttribute("aria-valuetext", time);
    this.clock.textContent = `t = ${time}`;
    this.counter.textContent = frames > 0 ? `frame ${playback.frame + 1} / ${frames}` : "no frames";
    this.speed.value = String(playback.speed);
    this.play.setAttribute("aria-label", playback.playing ? "Pause" : "Play");
    this.play.classList.toggle("playing", playback.playing);
    press(this.loop, playback.loop);
  }
}
