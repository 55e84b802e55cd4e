// What the pages of sweeps and designs share: elements, numbers, scales and axes.
const SVG = "http://www.w3.org/2000/svg";
const main = document.getElementById("main");
function make(parent, tag, attributes, text) {
  const e = document.createElement(tag);
  for (const k in attributes || {}) e.setAttribute(k, attributes[k]);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.appendChild(e);
  return e;
}
function draw(parent, tag, attributes, text) {
  const e = document.createElementNS(SVG, tag);
  for (const k in attributes || {}) e.setAttribute(k, attributes[k]);
  if (text !== undefined) e.textContent = text;
  parent.appendChild(e);
  return e;
}
function section(title) { const s = make(main, "section"); make(s, "h2", {}, title); return s; }
function show(x, digits) {
  if (x === null || x === undefined) return "–";
  if (x === "inf") return "never";
  if (x === "-inf") return "−∞";
  return String(+Number(x).toPrecision(digits || 5));
}
function withUnit(a) { return a.unit ? a.name + " (" + a.unit + ")" : a.name; }
function percent(x) { return (100 * x).toFixed(1) + " %"; }
function quote(t) { return /^[\w.\/@%+=:,-]+$/.test(t) ? t : "'" + t.replace(/'/g, "'\\''") + "'"; }

// ---- scales and axes ----
function scale(a, from, to) {
  const f = a.log ? Math.log : x => x, lo = f(a.from), hi = f(a.to);
  const s = x => from + (hi > lo ? (f(x) - lo) / (hi - lo) : 0.5) * (to - from);
  s.back = p => { const v = lo + (p - from) / (to - from) * (hi - lo); return a.log ? Math.exp(v) : v; };
  return s;
}
function ticks(a) {
  if (a.log) {
    const t = [];
    for (let e = Math.ceil(Math.log10(a.from) - 1e-9); e <= Math.log10(a.to) + 1e-9; e++) t.push(Math.pow(10, e));
    if (t.length >= 2) return t;
  }
  const span = a.to - a.from;
  if (!(span > 0)) return [a.from];
  const rough = span / 5, p = Math.pow(10, Math.floor(Math.log10(rough))), r = rough / p;
  const step = p * (r < 1.5 ? 1 : r < 3.5 ? 2 : r < 7.5 ? 5 : 10), t = [];
  for (let i = Math.ceil(a.from / step - 1e-9); i * step <= a.to + 1e-9 * span; i++) t.push(i * step);
  return t;
}
function frame(svg, box, x, y, xs, ys) {
  for (const t of ticks(y)) {
    const p = ys(t);
    draw(svg, "path", {class: "grid", d: `M${box.l} ${p}H${box.r}`});
    draw(svg, "text", {class: "tick", x: box.l - 6, y: p + 4, "text-anchor": "end"}, show(t, 6));
  }
  for (const t of ticks(x)) {
    const p = xs(t);
    draw(svg, "path", {class: "grid", d: `M${p} ${box.t}V${box.b}`});
    draw(svg, "text", {class: "tick", x: p, y: box.b + 16, "text-anchor": "middle"}, show(t, 6));
  }
  draw(svg, "text", {class: "label", x: (box.l + box.r) / 2, y: box.b + 34, "text-anchor": "middle"}, withUnit(x));
  draw(svg, "text", {class: "label", x: box.l, y: box.t - 8}, withUnit(y));
}
function newSvg(parent, w, h, label) {
  const s = draw(parent, "svg", {viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": label});
  return s;
}

function band(at, low, high, xs, ys) {
  let up = "", down = "";
  at.forEach((v, i) => {
    if (low[i] === null || high[i] === null) return;
    up += `${up ? "L" : "M"}${xs(v).toFixed(1)} ${ys(high[i]).toFixed(1)}`;
    down = `L${xs(v).toFixed(1)} ${ys(low[i]).toFixed(1)}` + down;
  });
  return up + down + (up ? "z" : "");
}
function polyline(at, values, xs, ys) {
  let d = "", pen = false;
  at.forEach((v, i) => {
    if (values[i] === null) { pen = false; return; }
    d += `${pen ? "L" : "M"}${xs(v).toFixed(1)} ${ys(values[i]).toFixed(1)}`;
    pen = true;
  });
  return d;
}
function tableOf(parent, head, rows) {
  const t = make(make(parent, "div", {class: "wide"}), "table"), h = make(t, "tr");
  head.forEach(x => make(h, "th", {}, x));
  for (const r of rows) { const tr = make(t, "tr"); r.forEach(x => make(tr, "td", {}, x)); }
}
function glyph(c, x, y, r) {
  if (c % 3 === 1) return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
  if (c % 3 === 2) return `M${x} ${y - 1.3 * r}l${1.2 * r} ${2.2 * r}h${-2.4 * r}z`;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}
