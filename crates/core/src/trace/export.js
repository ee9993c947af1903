
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const events = data.events, pictures = data.pictures || {}, names = data.names || {};

  // Text of applications is shown as text: what would turn lines round or hide is spelt out.
  const ODD = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  const plain = (s) => String(s).replace(ODD, (c) => "\u27e8U+" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "\u27e9");
  const short = (s, n) => (s.length > n ? s.slice(0, n) + " \u2026 (" + (s.length - n).toLocaleString() + " more characters)" : s);
  const isObject = (v) => v !== null && typeof v === "object";
  const hidden = (v) => isObject(v) && !Array.isArray(v) && v.redacted === true;
  const shown = (v) => (hidden(v) ? "(redacted)" : plain(short(isObject(v) ? JSON.stringify(v) : String(v), 20000)));
  const make = (tag, cls, text) => {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    if (text !== undefined) e.textContent = text;
    return e;
  };

  // What became of a command: one class, one word.
  const KINDS = {
    delivered_verified: ["verified", "verified"],
    delivered_unverified: ["unverified", "delivered, unverified"],
    delivery_uncertain: ["uncertain", "uncertain"],
    not_delivered: ["refused", "not delivered"],
    done: ["unverified", "done"],
    wait: ["read", "wait"],
    read: ["read", "read"],
    unknown: ["open", "unknown"],
    no_end: ["open", "no end recorded"],
  };
  const kindOf = (end, does) => {
    if (!end) return "no_end";
    // Reads and waits deliver nothing, whether they fail or not.
    if (does === "read" || does === "wait") return does;
    const d = isObject(end.disposition) ? end.disposition.delivery : undefined;
    if (d === undefined) return does === "action" ? "done" : "read";
    return Object.hasOwn(KINDS, d) ? d : "unknown";
  };

  // Commands with the events inside them; calls of one process may stand inside each other.
  const open = new Map(), commands = [];
  const all = events.map((e, at) => ({ e, at, inner: [], kind: null, command: null }));
  const shots = new Map();
  for (const item of all) {
    const e = item.e, pid = String(e.pid);
    if (!open.has(pid)) open.set(pid, []);
    const stack = open.get(pid);
    if (e.event === "command.start") {
      item.inner.push(item);
      item.owner = item;
      stack.push(item);
      commands.push(item);
      continue;
    }
    let at = stack.length - 1;
    if (e.event === "command.end") {
      while (at >= 0 && stack[at].e.call !== e.call) at--;
      if (at >= 0) {
        stack[at].end = e;
        stack[at].inner.push(item);
        item.owner = stack[at];
        stack.splice(at, 1);
        continue;
      }
    } else if (at >= 0) {
      stack[at].inner.push(item);
      item.owner = stack[at];
      continue;
    }
    // Without a beginning: it was cut off, or belongs to no command.
    if (e.event !== "trace.meta") commands.push(item);
  }
  for (const c of commands) {
    const began = c.e.event === "command.start";
    c.kind = began ? kindOf(c.end, c.e.does) : c.e.event === "command.end" ? kindOf(c.e) : "read";
    c.name = began || c.e.command ? String(c.e.command) : String(c.e.event);
    const end = began ? c.end : c.e;
    c.code = end && end.code ? String(end.code) + (end.kind ? " / " + String(end.kind) : "") : "";
    c.took = end && typeof end.duration_ms === "number" ? end.duration_ms : null;
    for (const i of began ? c.inner : [c]) {
      i.kind = c.kind;
      if (i.e.event === "action.artifacts") c.shots = i.e;
    }
  }
  const first = events.length ? events[0].ts_ms : 0;
  const last = events.reduce((t, e) => Math.max(t, e.ts_ms), first);
  const since = (ms) => {
    const s = (ms - first) / 1000;
    if (s < 60) return "+" + s.toFixed(2) + " s";
    const m = Math.floor(s / 60);
    return m < 60 ? "+" + m + ":" + (s % 60).toFixed(1).padStart(4, "0") : "+" + Math.floor(m / 60) + " h " + (m % 60) + " min";
  };
  const span = (ms) => {
    if (ms === null) return "";
    if (ms < 1000) return ms + " ms";
    if (ms < 60000) return (ms / 1000).toFixed(ms < 10000 ? 2 : 1) + " s";
    const minutes = Math.round(ms / 60000);
    return minutes < 60 ? minutes + " min" : Math.floor(minutes / 60) + " h " + (minutes % 60) + " min";
  };
  const clock = (ms) => new Date(ms).toLocaleTimeString();
  const target = (c) => {
    const entry = c.inner.find((x) => x.e.event === "ref.resolve.entry");
    if (state.view === "commands" && entry && entry.e.role) {
      const full = String(entry.e.ref || ""), ref = full.split(":").pop();
      const name = Object.hasOwn(names, full) ? "\u201c" + short(names[full], 60) + "\u201d" : "";
      return short(plain([entry.e.role + (name ? " " + name : ""), ref, entry.e.app].filter(Boolean).join("  \u00b7  ")), 160);
    }
    const a = isObject(c.e.args) ? c.e.args : c.e;
    const parts = [];
    for (const k of ["ref_id", "ref", "element", "root", "operation", "app", "window_id", "combo", "xy", "role", "property", "snapshot_id"]) {
      if (a[k] !== undefined && !hidden(a[k]) && !isObject(a[k])) parts.push(short(plain(a[k]), 80));
    }
    return parts.slice(0, 2).join("  \u00b7  ");
  };

  // Head.
  $("session").textContent = data.about.session_id ? plain(data.about.session_id) : "";
  const pids = [...new Set(events.map((e) => String(e.pid)))];
  const meta = events.find((e) => e.event === "trace.meta") || {};
  $("about").textContent = [
    commands.length.toLocaleString() + " commands",
    events.length.toLocaleString() + (events.length < data.about.total_events ? " of " + data.about.total_events.toLocaleString() : "") + " events",
    pids.length.toLocaleString() + " processes",
    events.length ? new Date(first).toLocaleString() + ", " + span(last - first) : "",
    "agent-desktop " + plain(meta.version || data.about.version) + (meta.os ? " on " + plain(meta.os) : ""),
  ].filter(Boolean).join("  \u00b7  ");
  if (data.about.warnings) {
    $("warnings").textContent = "\u26a0 " + data.about.warnings.map((w) => w.count + " \u00d7 " + plain(w.kind).replaceAll("_", " ")).join(", ");
  }

  // Filters.
  const state = { view: "commands", kind: "", search: "", event: "", command: "", pid: "", rows: [], at: -1 };
  const count = new Map();
  for (const c of commands) count.set(c.kind, (count.get(c.kind) || 0) + 1);
  for (const [kind, [cls, word]] of Object.entries(KINDS)) {
    if (!count.has(kind)) continue;
    const b = make("button", "chip " + cls);
    b.type = "button";
    b.setAttribute("aria-pressed", "false");
    b.dataset.kind = kind;
    b.append(make("span", "dot"), make("span", "", word), make("b", "", count.get(kind).toLocaleString()));
    b.addEventListener("click", () => { state.kind = state.kind === kind ? "" : kind; refresh(); });
    $("chips").append(b);
  }
  const fill = (id, values) => {
    const s = $(id);
    s.append(new Option("all", ""));
    for (const v of [...new Set(values)].sort()) s.append(new Option(short(plain(v), 60), v));
    s.addEventListener("change", () => { state[id.slice(3)] = s.value; refresh(); });
  };
  fill("by-event", events.map((e) => String(e.event)));
  fill("by-command", commands.map((c) => c.name));
  fill("by-pid", pids);
  const text = (i) => (i.text ??= JSON.stringify(i.e).toLowerCase());
  const passes = (i) => {
    const owner = i.owner || i;
    const inside = state.view === "commands" && i.inner.length ? i.inner : [i];
    return (!state.kind || owner.kind === state.kind)
      && (!state.pid || String(i.e.pid) === state.pid)
      && (!state.command || (owner.name || String(i.e.command)) === state.command)
      && (!state.event || inside.some((x) => String(x.e.event) === state.event))
      && (!state.search || inside.some((x) => text(x).includes(state.search)));
  };
  const refresh = () => {
    const chosen = state.rows[state.at];
    state.rows = (state.view === "commands" ? commands : all).filter(passes);
    state.at = Math.max(chosen ? state.rows.indexOf(chosen) : 0, state.rows.length ? 0 : -1);
    for (const b of $("chips").children) b.setAttribute("aria-pressed", String(b.dataset.kind === state.kind));
    for (const v of ["commands", "events"]) $("view-" + v).setAttribute("aria-pressed", String(state.view === v));
    const of = state.view === "commands" ? commands.length : all.length;
    $("count").textContent = state.rows.length.toLocaleString() + (state.rows.length < of ? " of " + of.toLocaleString() : "") + " " + state.view;
    $("pad").style.height = state.rows.length * ROW + "px";
    choose(state.at);
    draw();
  };

  // List: only the rows that can be seen exist.
  const ROW = 34, list = $("list");
  const row = (i, at) => {
    const owner = i.owner || i, [cls, word] = KINDS[owner.kind] || ["read", ""];
    const r = make("div", "row");
    r.id = "row-" + at;
    r.setAttribute("role", "option");
    r.setAttribute("aria-selected", String(at === state.at));
    r.setAttribute("aria-setsize", state.rows.length);
    r.setAttribute("aria-posinset", at + 1);
    r.style.top = at * ROW + "px";
    const asCommand = state.view === "commands";
    const time = make("span", "time", since(i.e.ts_ms));
    time.title = clock(i.e.ts_ms);
    const badge = make("span", "badge " + cls);
    if (asCommand || i.e.event === "command.end") {
      badge.append(make("span", "dot"), make("span", "", word));
      if (owner.code) badge.append(make("bdi", "code", short(plain(owner.code.split(" / ")[0]), 40)));
    } else if (/\.error$/.test(i.e.event)) {
      badge.append(make("bdi", "code", plain(i.e.code || "error")));
    }
    r.append(make("span", "stripe " + (owner.code ? "failed" : cls)), time,
      make("bdi", asCommand ? "what" : "what inner", short(plain(asCommand ? i.name : i.e.event), 120)),
      make("bdi", "to", target(i)), badge, make("span", "took", asCommand ? span(i.took) : "pid " + i.e.pid));
    r.addEventListener("click", () => { choose(at); });
    return r;
  };
  const paint = () => {
    const from = Math.max(0, Math.floor(list.scrollTop / ROW) - 8);
    const to = Math.min(state.rows.length, from + Math.ceil(list.clientHeight / ROW) + 16);
    const rows = [];
    for (let at = from; at < to; at++) rows.push(row(state.rows[at], at));
    if (!state.rows.length) rows.push(make("p", "empty", events.length ? "Nothing matches this filter. Esc clears it." : "This trace has no events."));
    $("pad").replaceChildren(...rows);
    list.setAttribute("aria-activedescendant", state.at >= 0 ? "row-" + state.at : "");
  };
  const choose = (at) => {
    state.at = Math.max(Math.min(at, state.rows.length - 1), state.rows.length ? 0 : -1);
    const top = state.at * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    paint();
    details();
    draw();
  };

  // Details.
  const SKIP = new Set(["event", "ts_ms", "seq", "pid", "call"]);
  const facts = (o) => {
    const dl = make("dl");
    for (const [k, v] of Object.entries(o)) {
      if (SKIP.has(k) || v === undefined) continue;
      dl.append(make("dt", "", short(plain(k), 80)), make("dd", hidden(v) ? "v hidden" : "v", shown(v)));
    }
    return dl.children.length ? dl : make("p", "sub", "nothing more");
  };
  const picture = (name) => (typeof name === "string" && Object.hasOwn(pictures, name) && pictures[name].startsWith("data:image/png;base64,") ? pictures[name] : null);
  const details = () => {
    const d = $("details"), i = state.rows[state.at];
    d.replaceChildren();
    d.scrollTop = 0;
    if (!i) return d.append(make("p", "empty", "Nothing is chosen."));
    const asCommand = state.view === "commands", owner = i.owner || i, [cls, word] = KINDS[owner.kind] || ["read", ""];
    const h = make("h2");
    h.append(make("bdi", "", short(plain(asCommand ? i.name : i.e.event), 200)));
    const badge = make("span", "badge " + cls);
    badge.append(make("span", "dot"), make("span", "", word));
    if (owner.code) badge.append(make("bdi", "code", plain(owner.code)));
    if (asCommand || i.owner) h.append(badge);
    d.append(h, make("p", "sub", clock(i.e.ts_ms) + "  \u00b7  " + since(i.e.ts_ms) + "  \u00b7  process " + i.e.pid + (asCommand && i.took !== null ? "  \u00b7  " + span(i.took) : "")));
    const s = owner.shots;
    if (s && (asCommand || i.e.event === "action.artifacts")) {
      const box = make("div", "shots");
      for (const when of ["before", "after"]) {
        const src = picture(s[when]);
        if (!src) continue;
        const b = make("button");
        b.type = "button";
        const img = make("img");
        img.src = src;
        img.alt = "The window " + when + " the action";
        b.append(img, make("span", "", when));
        b.addEventListener("click", () => zoom(when));
        box.append(b);
      }
      if (box.children.length) d.append(make("h3", "", "Before and after"), box);
      else if (s.before || s.after) d.append(make("h3", "", "Before and after"), make("p", "sub", "The pictures are not in this file: it would have become too large, or they are gone."));
      const missing = Array.isArray(s.skipped) ? s.skipped : [];
      if (missing.length) d.append(make("p", "sub", "No picture: " + missing.map((m) => short(plain(m.what), 20) + " (" + short(plain(m.kind || m.code || "unknown"), 60).replaceAll("_", " ") + ")").join(", ")));
    }
    if (asCommand && i.e.event === "command.start") {
      const { command, args, ...rest } = i.e;
      d.append(make("h3", "", "Arguments"), facts({ ...(isObject(args) ? args : {}), ...rest }));
      if (i.end) {
        const { command: c2, disposition, duration_ms, ...more } = i.end;
        d.append(make("h3", "", "Answer"), facts({ ...(isObject(disposition) ? disposition : {}), ...more }));
      } else d.append(make("h3", "", "Answer"), make("p", "sub", "None recorded: the process was stopped, or the trace ends here."));
      const steps = i.inner.filter((x) => x !== i && x.e !== i.end);
      if (steps.length) {
        const ol = make("ol", "steps");
        for (const x of steps.slice(0, 400)) {
          const li = make("li");
          const rest = Object.entries(x.e).filter(([k]) => !SKIP.has(k)).map(([k, v]) => short(plain(k), 40) + "=" + short(shown(v), 160)).join("  ");
          li.append(make("span", "time", "+" + (x.e.ts_ms - i.e.ts_ms) + " ms"), make("bdi", "", short(plain(x.e.event), 120)), make("span", "v", short(rest, 600)));
          ol.append(li);
        }
        d.append(make("h3", "", "Events"), ol);
        if (steps.length > 400) d.append(make("p", "sub", steps.length - 400 + " more: see the Events view."));
      }
    } else {
      d.append(make("h3", "", "Fields"), facts(i.e), make("h3", "", "As recorded"), make("pre", "", plain(short(JSON.stringify(i.e, null, 2), 40000)).replaceAll("\u27e8U+000A\u27e9", "\n")));
    }
  };

  // Pictures, large.
  let zoomed = "";
  const zoom = (when) => {
    const s = state.rows[state.at] && (state.rows[state.at].owner || state.rows[state.at]).shots;
    const src = s && picture(s[when]);
    if (!src) return false;
    zoomed = when;
    $("zoomed").src = src;
    $("zoomed").alt = "The window " + when + " the action";
    $("caption").textContent = when + "  \u00b7  B or \u2190 \u2192 turns to the other one, Esc closes";
    if (!$("zoom").open) $("zoom").showModal();
    return true;
  };
  $("zoom").addEventListener("click", () => $("zoom").close());
  $("zoom").addEventListener("close", () => list.focus());

  // Timeline: a bar for each command, as long as it took; the colour is what became of it.
  const canvas = $("line");
  let drawn;
  const place = (ms, width) => 10 + ((ms - first) / Math.max(1, last - first)) * (width - 20);
  const draw = () => {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = 56;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const g = canvas.getContext("2d"), css = getComputedStyle(document.documentElement);
    g.scale(ratio, ratio);
    const colours = new Map();
    const colour = (name) => colours.get(name) || (colours.set(name, css.getPropertyValue("--" + name).trim()), colours.get(name));
    const chosen = state.rows[state.at] && (state.rows[state.at].owner || state.rows[state.at]);
    const seen = state.view === "commands" ? new Set(state.rows) : new Set(state.rows.map((r) => r.owner || r));
    g.fillStyle = colour("line");
    g.fillRect(10, 44, width - 20, 1);
    // What went wrong is drawn last: among thousands it must not vanish.
    const grave = (c) => (c.code ? 2 : 0) + (c.kind === "delivery_uncertain" ? 1 : 0);
    drawn ??= [...commands].sort((a, b) => grave(a) - grave(b));
    for (const c of drawn) {
      const x = place(c.e.ts_ms, width), w = Math.max(3, place(c.e.ts_ms + (c.took || 0), width) - x);
      g.globalAlpha = seen.has(c) ? (c === chosen ? 1 : 0.75) : 0.12;
      g.fillStyle = colour(c.code ? "failed" : KINDS[c.kind][0]);
      const tall = c === chosen ? 36 : c.kind === "read" ? 12 : 24;
      g.fillRect(x, 44 - tall, w, tall);
    }
    g.globalAlpha = 1;
    if (chosen) {
      g.strokeStyle = colour("accent");
      g.lineWidth = 2;
      const x = place(chosen.e.ts_ms, width);
      g.strokeRect(x - 2, 6, Math.max(3, place(chosen.e.ts_ms + (chosen.took || 0), width) - x) + 4, 42);
    }
  };
  canvas.addEventListener("click", (ev) => {
    const x = ev.offsetX, width = canvas.clientWidth;
    let best = -1, gap = Infinity;
    state.rows.forEach((r, at) => {
      const g = Math.abs(place(r.e.ts_ms, width) - x);
      if (g < gap) { gap = g; best = at; }
    });
    if (best >= 0) choose(best);
    list.focus();
  });
  if (events.length) for (let n = 0; n <= 4; n++) $("ticks").append(make("span", "", since(first + ((last - first) * n) / 4)));

  // Keys.
  const clear = () => {
    Object.assign(state, { kind: "", search: "", event: "", command: "", pid: "" });
    $("search").value = "";
    for (const id of ["by-event", "by-command", "by-pid"]) $(id).value = "";
    refresh();
  };
  const view = (v) => {
    const chosen = state.rows[state.at];
    state.view = v;
    refresh();
    const to = chosen && state.rows.indexOf(v === "commands" ? chosen.owner || chosen : chosen);
    if (to >= 0) choose(to);
  };
  $("view-commands").addEventListener("click", () => view("commands"));
  $("view-events").addEventListener("click", () => view("events"));
  $("clear").addEventListener("click", clear);
  $("search").addEventListener("input", () => { state.search = $("search").value.toLowerCase(); refresh(); });
  $("filters").addEventListener("submit", (ev) => { ev.preventDefault(); list.focus(); });
  document.addEventListener("keydown", (ev) => {
    if (ev.ctrlKey || ev.metaKey || ev.altKey) return;
    const key = ev.key.length === 1 ? ev.key.toLowerCase() : ev.key;
    if ($("zoom").open) {
      if (["b", "ArrowLeft", "ArrowRight", " "].includes(key)) { zoom(zoomed === "before" ? "after" : "before"); ev.preventDefault(); }
      return;
    }
    const typing = ev.target instanceof HTMLInputElement, field = typing || ev.target instanceof HTMLSelectElement;
    if (key === "Escape") {
      if (field || $("details").contains(ev.target)) list.focus();
      else clear();
      return ev.preventDefault();
    }
    if (typing && (key === "Enter" || key === "ArrowDown")) { list.focus(); return ev.preventDefault(); }
    if (field) return;
    const page = Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (Object.hasOwn(moves, key) && !$("details").contains(ev.target)) {
      choose(Math.max(0, Math.min(state.rows.length - 1, state.at + moves[key])));
      list.focus();
      ev.preventDefault();
    } else if (key === "/") { $("search").focus(); $("search").select(); ev.preventDefault(); }
    else if (key === "Enter" && !(ev.target instanceof HTMLButtonElement)) { if (!zoom("before") && !zoom("after")) $("details").focus(); ev.preventDefault(); }
    else if (key === "b") zoom("after");
    else if (key === "e") view(state.view === "commands" ? "events" : "commands");
  });
  list.addEventListener("scroll", paint, { passive: true });
  window.addEventListener("resize", () => { paint(); draw(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  refresh();
  list.focus();
})();
