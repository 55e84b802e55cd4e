// Light or dark: follows the system until the reader chooses.

export type ThemeName = "light" | "dark";

export interface Colors {
  background: string;
  ground: string;
  grid: string;
  accent: string;
  ink: string;
  muted: string;
  line: string;
  series: string[];
  joint: string;
  /** Of contacts beside stresses. */
  contact: string;
  force: string;
  torque: string;
}

const seriesCount = 6;

export class Theme {
  private chosen: ThemeName | null;
  private readonly system = window.matchMedia("(prefers-color-scheme: dark)");
  private readonly listeners: Array<() => void> = [];
  colors: Colors;

  constructor(chosen: ThemeName | null) {
    this.chosen = chosen;
    this.colors = this.apply();
    this.system.addEventListener("change", () => this.update());
  }

  get name(): ThemeName {
    return this.chosen ?? (this.system.matches ? "dark" : "light");
  }

  toggle(): void {
    this.chosen = this.name === "dark" ? "light" : "dark";
    this.update();
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private update(): void {
    this.colors = this.apply();
    for (const listener of this.listeners) listener();
  }

  /** The style sheet is the only place where colours are written down. */
  private apply(): Colors {
    document.documentElement.dataset.theme = this.name;
    const style = getComputedStyle(document.documentElement);
    const read = (name: string) => style.getPropertyValue(`--${name}`).trim();
    return {
      background: read("stage"),
      ground: read("ground"),
      grid: read("grid"),
      accent: read("accent"),
      ink: read("ink"),
      muted: read("muted"),
      line: read("line"),
      series: Array.from({ length: seriesCount }, (_, i) => read(`series-${i}`)),
      joint: read("joint"),
      contact: read("contact"),
      force: read("force"),
      torque: read("torque"),
    };
  }
}
