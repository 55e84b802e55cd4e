// Options in the address: #t=1.5&paused&theme=dark&pick=NAME

export interface Options {
  time: number | null;
  paused: boolean;
  theme: "light" | "dark" | null;
  pick: string | null;
  speed: number | null;
  labels: boolean;
  contacts: boolean | null;
  stress: boolean | null;
  joints: boolean | null;
  forces: boolean | null;
  planes: boolean | null;
  trails: "off" | "picked" | "all" | null;
  /** Instants of stick figures; 0: none, -1: as many as is usual. */
  ghosts: number | null;
}

function positive(text: string | null): number | null {
  const value = Number(text);
  return text && Number.isFinite(value) && value > 0 ? value : null;
}

export function readOptions(hash: string): Options {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const time = params.get("t");
  const theme = params.get("theme");
  const trails = params.get("trails");
  const toggle = (name: string) => (params.has(name) ? params.get(name) !== "off" : null);
  const ghosts = params.get("ghosts");
  return {
    time: time !== null && Number.isFinite(Number(time)) ? Number(time) : null,
    paused: params.has("paused"),
    theme: theme === "light" || theme === "dark" ? theme : null,
    pick: params.get("pick"),
    speed: positive(params.get("speed")),
    labels: params.has("labels"),
    contacts: toggle("contacts"),
    stress: toggle("stress"),
    joints: toggle("joints"),
    forces: toggle("forces"),
    planes: toggle("planes"),
    trails: trails === "off" || trails === "picked" || trails === "all" ? trails : null,
    ghosts: ghosts === null ? null : ghosts === "off" ? 0 : (positive(ghosts) ?? -1),
  };
}
