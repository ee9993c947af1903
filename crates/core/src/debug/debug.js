
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";

  // Text of applications is shown as text: what would turn lines round or hide is spelt out.
  const ODD = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  const spelt = (c) => "\u27e8U+" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "\u27e9";
  const plain = (s) => String(s).replace(ODD, spelt);
  const line = (s) => plain(s).replace(/\n/g, "\u23ce");
  const short = (s, n) => (s.length > n ? s.slice(0, n) + "\u2026" : s);
  const make = (tag, cls, text) => {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const shape = (tag, cls, attributes) => {
    const e = document.createElementNS(SVG, tag);
    e.setAttribute("class", cls);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    return e;
  };

  const KINDS = [
    ["target", "click target"], ["action", "ref to act on"], ["anchor", "ref to drill into"], ["context", "context"],
  ];
  const unseen = (n) => (n.data.states || []).some((s) => s === "hidden" || s === "offscreen");

  let at = 0;            // the view
  let rows = [], boxes = [], nodes = [], children = [], folded = new Set();
  let chosen = -1, lit = -1, query = "", matches = new Set(), under = new Set();

  // What the page is about.
  const about = data.about;
  $("command").textContent = about.command;
  const when = new Date(about.made_at);
  function head() {
    const v = data.views[at] || {};
    $("window").textContent = v.window ? line(v.window.title || "(no title)") : "";
    const parts = [v.app ? line(v.app) : "", v.window ? "window " + line(v.window.id) : "", v.snapshot_id ? "snapshot " + v.snapshot_id : "",
      v.complete === false ? "tree incomplete" : "", isNaN(when) ? "" : when.toLocaleString(), "agent-desktop " + about.version];
    $("about").textContent = parts.filter(Boolean).join("  \u00b7  ");
  }
  $("warnings").textContent = (about.warnings || []).map((w) => line(w)).join("\n");

  // What became of the click.
  const DELIVERY = {
    delivered_verified: ["verified", "delivered, verified"], delivered_unverified: ["unverified", "delivered, unverified"],
    delivery_uncertain: ["uncertain", "delivery uncertain"], not_delivered: ["refused", "not delivered"], unknown: ["uncertain", "unknown"],
  };
  const click = about.click;
  if (click) {
    const put = (k, v, cls) => {
      if (v === undefined || v === null || v === "") return;
      const d = make("div");
      d.append(make("span", "k", k), make("span", cls || "v", plain(typeof v === "string" ? v : JSON.stringify(v))));
      $("click").append(d);
    };
    const d = click.disposition || {};
    const [cls, words] = Object.hasOwn(DELIVERY, d.delivery) ? DELIVERY[d.delivery] : ["uncertain", d.delivery];
    put("click", click.ref);
    put("disposition", words, "badge " + cls);
    put("retry", d.retry);
    if (click.error) put("error", click.error.code + (click.error.details && click.error.details.kind ? " / " + click.error.details.kind : "") + ": " + click.error.message);
    if (click.steps) put("steps", click.steps.map((s) => s.label + " " + s.outcome + (s.mechanism ? " (" + s.mechanism + ")" : "")).join(", "));
    if (click.details) { put("effect", click.details.effect); put("what", click.details.what); }
    const was = ((data.views[0] || {}).nodes || []).find((n) => n.kind === "target");
    put("before", was ? (was.data.states || []).join(" ") || "no states" : undefined);
    put("after", click.post_state ? (click.post_state.states || []).join(" ") || "no states" : undefined);
  }

  // Views: a snapshot has one, a click has before and after.
  data.views.forEach((v, i) => {
    if (data.views.length < 2) return;
    const b = make("button", "", v.label);
    b.type = "button";
    b.addEventListener("click", () => show(i));
    $("views").append(b);
  });

  // The legend switches kinds of outlines.
  const off = new Set();
  function legend() {
    $("legend").replaceChildren();
    for (const [kind, words] of KINDS) {
      const n = nodes.filter((x) => x.kind === kind).length;
      if (!n && kind !== "context") continue;
      const b = make("button", "key " + kind);
      b.type = "button";
      b.append(make("i"), make("span", "", words), make("b", "", String(n)));
      b.setAttribute("aria-pressed", String(!off.has(kind)));
      b.addEventListener("click", () => {
        if (off.has(kind)) off.delete(kind); else off.add(kind);
        b.setAttribute("aria-pressed", String(!off.has(kind)));
        $("picture").classList.toggle("no-" + kind, off.has(kind));
      });
      $("legend").append(b);
    }
  }

  function picture(v) {
    const svg = $("picture");
    svg.replaceChildren();
    const b = v.picture ? v.picture.bounds : box(nodes.map((n) => n.place).find(Boolean));
    if (!b) {
      svg.setAttribute("viewBox", "0 0 400 120");
      const t = shape("text", "", { x: 200, y: 64, "text-anchor": "middle", fill: "currentColor", "font-size": 13 });
      t.textContent = "no picture, and no places";
      svg.append(t);
      return;
    }
    svg.setAttribute("viewBox", [b.x, b.y, b.width, b.height].join(" "));
    svg.setAttribute("width", b.width);
    svg.setAttribute("height", b.height);
    if (v.png) svg.append(shape("image", "", { x: b.x, y: b.y, width: b.width, height: b.height, href: v.png, preserveAspectRatio: "none" }));
    for (const p of (v.picture ? v.picture.popups : []) || []) svg.append(shape("rect", "popup", { x: p.x, y: p.y, width: p.width, height: p.height }));
    boxes = nodes.map(() => null);
    for (const kind of ["context", "anchor", "action", "target"]) {
      nodes.forEach((n, i) => {
        const p = n.place;
        if (n.kind !== kind || !p || unseen(n)) return;
        if (p[0] >= b.x + b.width || p[1] >= b.y + b.height || p[0] + p[2] <= b.x || p[1] + p[3] <= b.y) return;
        boxes[i] = shape("rect", kind, { x: p[0], y: p[1], width: p[2], height: p[3], rx: 2 });
        svg.append(boxes[i]);
      });
    }
    const point = click && click.details && click.details.point;
    if (point) {
      svg.append(shape("path", "point", { d: `M${point.x - 9} ${point.y}h18M${point.x} ${point.y - 9}v18` }));
      svg.append(shape("circle", "point", { cx: point.x, cy: point.y, r: 5 }));
    }
  }
  const box = (p) => (p ? { x: p[0], y: p[1], width: p[2], height: p[3] } : null);

  // The tree: flat rows, each after its parent.
  function tree() {
    children = nodes.map(() => []);
    const level = [];
    nodes.forEach((n, i) => {
      const p = n.parent;
      level[i] = p === null ? 1 : level[p] + 1;
      if (p !== null) children[p].push(i);
    });
    rows = nodes.map((n, i) => {
      const r = make("div", "row " + n.kind);
      r.setAttribute("role", "treeitem");
      r.setAttribute("aria-level", level[i]);
      r.tabIndex = -1;
      r.style.setProperty("--level", Math.min(level[i] - 1, 24));
      r.append(make("span", "turn"), make("span", "role"), make("bdi", "name"));
      if (n.data.value !== undefined && n.data.value !== "") r.append(make("bdi", "value"));
      if (n.data.states) r.append(make("span", "state", n.data.states.join(" ")));
      const ref = n.data.ref_id;
      if (ref) r.append(make("span", "ref", ref.slice(ref.lastIndexOf(":") + 1)));
      r.addEventListener("mouseenter", () => light(i));
      r.addEventListener("mouseleave", () => light(-1));
      r.addEventListener("focus", () => choose(i));
      r.addEventListener("click", (ev) => {
        if (ev.target.classList.contains("turn") && children[i].length) turn(i, !folded.has(i));
        choose(i, true);
      });
      return r;
    });
    $("tree").replaceChildren(...rows);
    if (!rows.length) $("tree").append(make("p", "empty", "Nothing was read of the window."));
    else rows[0].tabIndex = 0;
  }

  function words(el, text) {
    el.replaceChildren();
    const lower = text.toLowerCase();
    let from = 0, hit = query ? lower.indexOf(query) : -1;
    while (hit >= 0 && lower.length === text.length) {
      el.append(text.slice(from, hit), make("mark", "", text.slice(hit, hit + query.length)));
      from = hit + query.length;
      hit = lower.indexOf(query, from);
    }
    el.append(text.slice(from));
  }

  function refresh() {
    matches = new Set();
    under = new Set();
    if (query) {
      nodes.forEach((n, i) => {
        const d = n.data;
        const all = [d.role, d.name, d.value, d.description, d.ref_id, (d.states || []).join(" "), d.native_id ? d.native_id.value : ""].map((t) => line(t || "").toLowerCase());
        if (!all.some((t) => t.includes(query))) return;
        matches.add(i);
        for (let p = i; p !== null && !under.has(p); p = nodes[p].parent) under.add(p);
      });
    }
    const closed = [];
    nodes.forEach((n, i) => {
      const p = n.parent;
      closed[i] = p !== null && (closed[p] || (!query && folded.has(p)));
      rows[i].hidden = query ? !under.has(i) : closed[i];
      const open = query ? true : !folded.has(i);
      rows[i].firstChild.textContent = children[i].length ? (open ? "\u25be" : "\u25b8") : "";
      if (children[i].length) rows[i].setAttribute("aria-expanded", String(open));
      words(rows[i].querySelector(".role"), n.data.role || "?");
      const name = n.data.name || (n.data.description ? "~ " + n.data.description : "");
      words(rows[i].querySelector(".name"), short(line(name), 160));
      const value = rows[i].querySelector(".value");
      if (value) words(value, "= " + short(line(n.data.value), 80));
    });
    $("count").textContent = query ? matches.size + " of " + nodes.length : nodes.length + " elements";
    $("fold").textContent = folded.size ? "Unfold all" : "Fold all";
  }

  function turn(i, fold) {
    if (fold) folded.add(i); else folded.delete(i);
    refresh();
  }

  function light(i) {
    if (lit >= 0 && lit !== chosen && boxes[lit]) boxes[lit].classList.remove("lit");
    if (lit >= 0 && rows[lit]) rows[lit].classList.remove("lit");
    lit = i;
    if (i < 0) return;
    if (boxes[i]) boxes[i].classList.add("lit");
    rows[i].classList.add("lit");
  }

  function choose(i, focus) {
    if (chosen >= 0 && rows[chosen]) {
      rows[chosen].setAttribute("aria-selected", "false");
      rows[chosen].tabIndex = -1;
      if (boxes[chosen]) boxes[chosen].classList.remove("lit");
    } else if (rows[0]) rows[0].tabIndex = -1;
    chosen = i;
    if (i < 0 || !rows[i]) {
      $("details").textContent = nodes.length ? "Choose an element in the tree or in the picture." : "";
      if (rows[0]) rows[0].tabIndex = 0;
      return;
    }
    // What was folded above it opens.
    let opened = false;
    for (let p = nodes[i].parent; p !== null; p = nodes[p].parent) opened = folded.delete(p) || opened;
    if (opened || rows[i].hidden) { if (rows[i].hidden && query) { query = ""; $("search").value = ""; } refresh(); }
    rows[i].setAttribute("aria-selected", "true");
    rows[i].tabIndex = 0;
    if (boxes[i]) boxes[i].classList.add("lit");
    $("details").textContent = plain(JSON.stringify(nodes[i].data, null, 2)) + (nodes[i].place || !Object.hasOwn(data.views[at], "picture") ? "" : "\n\nIts place on the screen is not known.");
    rows[i].scrollIntoView({ block: "nearest" });
    if (focus) rows[i].focus({ preventScroll: true });
  }

  function show(i) {
    const same = chosen >= 0 ? nodes[chosen].data.ref_id : undefined;
    at = i;
    const v = data.views[i] || {};
    nodes = v.nodes || [];
    chosen = -1; lit = -1; boxes = []; folded = new Set();
    [...$("views").children].forEach((b, k) => b.setAttribute("aria-pressed", String(k === i)));
    head();
    tree();
    legend();
    picture(v);
    refresh();
    const target = nodes.findIndex((n) => (same ? n.data.ref_id === same : n.kind === "target"));
    choose(target);
  }

  // The picture answers with the smallest element at the pointer.
  function beneath(ev) {
    const svg = $("picture"), m = svg.getScreenCTM();
    if (!m) return -1;
    const p = new DOMPoint(ev.clientX, ev.clientY).matrixTransform(m.inverse());
    let best = -1, size = Infinity;
    boxes.forEach((b, i) => {
      if (!b || off.has(nodes[i].kind)) return;
      const [x, y, w, h] = nodes[i].place;
      // Of two equal ones the deeper.
      if (p.x >= x && p.y >= y && p.x < x + w && p.y < y + h && w * h <= size) { best = i; size = w * h; }
    });
    return best;
  }
  $("picture").addEventListener("mousemove", (ev) => {
    const i = beneath(ev);
    if (i === lit) return;
    light(i);
    if (i >= 0 && !rows[i].hidden) rows[i].scrollIntoView({ block: "nearest" });
  });
  $("picture").addEventListener("mouseleave", () => light(-1));
  $("picture").addEventListener("click", (ev) => { const i = beneath(ev); if (i >= 0) choose(i, true); });

  function zoom() {
    const on = $("frame").classList.toggle("actual");
    $("zoom").setAttribute("aria-pressed", String(on));
  }
  $("zoom").addEventListener("click", zoom);
  $("fold").addEventListener("click", () => {
    const fold = !folded.size;
    folded = new Set();
    if (fold) nodes.forEach((n, i) => { if (n.parent !== null && children[i].length) folded.add(i); });
    refresh();
  });
  $("search").addEventListener("input", () => { query = line($("search").value).trim().toLowerCase(); refresh(); });
  document.querySelector("form").addEventListener("submit", (ev) => ev.preventDefault());

  const seen = () => rows.map((r, i) => i).filter((i) => !rows[i].hidden);
  document.addEventListener("keydown", (ev) => {
    if (ev.ctrlKey || ev.metaKey || ev.altKey) return;
    const field = ev.target === $("search"), key = ev.key;
    if (key === "Escape") {
      query = ""; $("search").value = ""; refresh();
      if (field && rows.length) choose(Math.max(chosen, 0), true);
      return;
    }
    if (field) {
      if (key === "ArrowDown" || key === "Enter") {
        const first = matches.size ? Math.min(...matches) : seen()[0];
        if (first !== undefined) { choose(first, true); ev.preventDefault(); }
      }
      return;
    }
    if (key === "/") { $("search").focus(); $("search").select(); ev.preventDefault(); return; }
    if (key === "v" && data.views.length > 1) { show((at + 1) % data.views.length); return; }
    if (key === "z") { zoom(); return; }
    if (ev.target === $("details") || ev.target.tagName === "BUTTON" && (key === "Enter" || key === " ")) return;
    const list = seen(), here = list.indexOf(chosen);
    const go = (i) => { if (i !== undefined) { choose(i, true); ev.preventDefault(); } };
    if (key === "ArrowDown") go(list[Math.min(here + 1, list.length - 1)]);
    else if (key === "ArrowUp") go(list[Math.max(here - 1, 0)]);
    else if (key === "Home") go(list[0]);
    else if (key === "End") go(list[list.length - 1]);
    else if (key === "ArrowRight" && chosen >= 0) {
      if (folded.has(chosen)) { turn(chosen, false); ev.preventDefault(); } else go(children[chosen][0]);
    } else if (key === "ArrowLeft" && chosen >= 0) {
      if (children[chosen].length && !folded.has(chosen) && !query) { turn(chosen, true); ev.preventDefault(); }
      else if (nodes[chosen].parent !== null) go(nodes[chosen].parent);
    }
  });

  show(0);
})();
