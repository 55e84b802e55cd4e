// The matrix as JSON lines and as a page that needs nothing else.
#include <stdio.h>
#include <string.h>

#include "conformance.h"

static const char *const words[] = {"right", "refused", "wrong"};

// ---- JSON -----------------------------------------------------------------------------------------------------------

static void put_text(FILE *out, const char *text) {
  fputc('"', out);
  for (const char *p = text; *p; p++) {
    unsigned char ch = (unsigned char)*p;
    if (ch == '"' || ch == '\\')
      fprintf(out, "\\%c", ch);
    else if (ch < 32)
      fprintf(out, "\\u%04x", ch);
    else if (ch == '<')
      fputs("\\u003c", out);  // so that it may stand in a page
    else
      fputc(ch, out);
  }
  fputc('"', out);
}

static void put_cell(FILE *out, const cell *c) {
  fprintf(out, "{\"scene\":\"%s\",\"family\":\"%s\",\"integrator\":", c->scene->name, c->scene->family);
  put_text(out, c->integrator);
  fprintf(out, ",\"step\":%g,\"outcome\":\"%s\",\"claims\":%d,\"seconds\":%.3f,\"reason\":", c->h, words[c->outcome],
          c->claims, c->seconds);
  put_text(out, c->reason);
  fputc('}', out);
}

bool write_json(const matrix *m, const char *path) {
  FILE *out = fopen(path, "w");
  if (!out) return false;
  for (int i = 0; i < m->count; i++) put_cell(out, &m->cells[i]), fputc('\n', out);
  return fclose(out) == 0;
}

// ---- the page ------------------------------------------------------------------------------------------------------

static const char head[] =
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
    "<title>Carom: conformance</title><style>"
    ":root{color-scheme:light dark;--ink:#1b1f24;--quiet:#59636e;--paper:#fff;--line:#d8dee4;--good:#2da44e;"
    "--no:#afb8c1;--bad:#cf222e;--lift:#f6f8fa}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--quiet:#9198a1;--paper:#0d1117;--line:#30363d;"
    "--good:#3fb950;--no:#484f58;--bad:#f85149;--lift:#161b22}}"
    "body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:2rem auto;"
    "max-width:75rem;padding:0 1rem 9rem}h1{font-size:1.5rem;margin:0}p{color:var(--quiet);max-width:48rem}"
    "table{border-collapse:collapse}th{font-weight:600;text-align:left;padding:.2rem .5rem}"
    "thead th{position:sticky;top:0;background:var(--paper);border-bottom:1px solid "
    "var(--line);font-size:.85rem;z-index:1}"
    "th.family{padding-top:1.2rem;color:var(--quiet);font-weight:400}tbody th.scene{font-weight:400;white-space:nowrap}"
    "td{padding:.1rem .35rem;border-bottom:1px solid var(--line);white-space:nowrap}"
    "td.part{border-left:3px double var(--line)}"
    "button{font:inherit;width:2.1rem;height:1.5rem;border:0;border-radius:.25rem;margin:1px;cursor:pointer;"
    "color:var(--paper)}button:focus-visible{outline:2px solid var(--ink)}"
    ".right{background:var(--good)}.refused{background:var(--no)}.wrong{background:var(--bad)}"
    ".sums td{border:0;padding:.1rem .9rem .1rem 0;text-align:right}.sums th{padding-left:0}"
    "#detail{position:fixed;left:0;right:0;bottom:0;background:var(--lift);border-top:1px solid var(--line);"
    "padding:.7rem 1.2rem;max-height:8rem;overflow:auto}#detail b{margin-right:.6rem}"
    "label{color:var(--quiet)}.hide .fine{display:none}</style>";

static const char script[] =
    "<script>const "
    "all=JSON.parse(document.getElementById('cells').textContent),sign={right:'\\u2713',refused:'\\u2013',"
    "wrong:'\\u2717'},columns=[...new Set(all.map(c=>c.integrator))],peers=new Set(PEERS),rows=new Map();"
    "for(const c of all){if(!rows.has(c.scene))rows.set(c.scene,{family:c.family,cells:{}});"
    "(rows.get(c.scene).cells[c.integrator]?\?=[]).push(c)}"
    "const make=(tag,text,name)=>{const e=document.createElement(tag);if(text!==undefined)e.textContent=text;"
    "if(name)e.className=name;return e},detail=document.getElementById('detail');"
    "const show=c=>{detail.replaceChildren(make('b',c.outcome),`${c.scene}, ${c.integrator}, step ${c.step} s: `,"
    "c.reason)};"
    "const button=c=>{const b=make('button',sign[c.outcome],c.outcome);b.title=c.reason;"
    "b.setAttribute('aria-label',`${c.scene} ${c.integrator} ${c.step} s: ${c.outcome}`);"
    "b.onclick=()=>show(c);return b};"
    "const sums=document.querySelector('.sums');{const h=sums.insertRow();h.append(make('th'));"
    "for(const w of['right','refused','wrong'])h.append(make('th',w))}"
    "for(const i of columns){const r=sums.insertRow(),own=all.filter(c=>c.integrator===i);r.append(make('th',i));"
    "for(const w of['right','refused','wrong'])r.append(make('td',own.filter(c=>c.outcome===w).length))}"
    "const "
    "table=document.querySelector('.matrix'),heading=table.createTHead().insertRow();heading.append(make('th','scene'))"
    ";"
    "const first=columns.find(i=>peers.has(i));"
    "for(const i of columns)heading.append(make('th',i));const body=table.createTBody();let family='';"
    "for(const[scene,row]of rows){if(row.family!==family){family=row.family;const r=body.insertRow(),"
    "h=make('th',family,'family');h.colSpan=columns.length+1;r.append(h)}"
    "const r=body.insertRow(),own=Object.values(row.cells).flat();r.append(make('th',scene,'scene'));"
    "if(!own.some(c=>c.outcome==='wrong'&&!peers.has(c.integrator)))r.className='fine';"
    "for(const i of columns){const d=r.insertCell();if(i===first)d.className='part';"
    "for(const c of row.cells[i]??[])d.append(button(c))}}"
    "document.getElementById('only').onchange=e=>document.body.classList.toggle('hide',e.target.checked)</script>";

static void put_peers(FILE *out) {
  fputs("<script>const PEERS=[", out);
  for (int i = 0; conformance_peers[i]; i++) fprintf(out, "%s\"%s\"", i ? "," : "", conformance_peers[i]->name);
  fputs("]</script>", out);
}

bool write_page(const matrix *m, const char *path) {
  FILE *out = fopen(path, "w");
  if (!out) return false;
  fputs(head, out);
  fprintf(
      out,
      "<h1>Conformance of Carom %s</h1><p>Every scene has a truth that no integrator produced: a closed form, a "
      "conserved quantity, a symmetry, a limit load, or events followed at high precision. A cell is right "
      "(\xe2\x9c\x93) "
      "when the truth holds and the audit passes, refused (\xe2\x80\x93) when the scene is turned down with a reason "
      "before it starts, and wrong (\xe2\x9c\x97) otherwise. Of each pair the first is the coarse step, the second the "
      "fine one. Choose a cell to read its reason. Other engines stand to the right of the double line; of them the "
      "truth alone is asked.</p>",
      carom_version());
  fputs(
      "<table class=sums></table><p><label><input type=checkbox id=only> only scenes with a wrong cell</label></p>"
      "<table class=matrix></table><div id=detail>Choose a cell.</div>"
      "<script type=application/json id=cells>[",
      out);
  for (int i = 0; i < m->count; i++) {
    if (i) fputc(',', out);
    put_cell(out, &m->cells[i]);
  }
  fputs("]</script>", out);
  put_peers(out);
  fputs(script, out);
  return fclose(out) == 0;
}
