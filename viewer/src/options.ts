// Options in the address: #t=1.5&paused&theme=dark&pick=NAME

export interface Options {
  time: number | null;
  paused: boolean;
  theme: "light" | "dark" | null;
  pick: string | null;
  speed: number | null;
  labels: boolean;
  contacts: boolean | null;
  trails: "off" | "picked" | "all" | null;
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
  return {
    time: time !== null && Number.isFinite(Number(time)) ? Number(time) : null,
    paused: params.has("paused"),
    theme: theme === "light" || theme === "dark" ? theme : null,
    pick: params.get("pick"),
    speed: positive(params.get("speed")),
    labels: params.has("labels"),
    contacts: params.has("contacts") ? params.get("contacts") !== "off" : null,
    trails: trails === "off" || trails === "picked" || trails === "all" ? trails : null,
  };
}
