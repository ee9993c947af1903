"""The page docs/benchmarks.md from what was measured."""
import datetime

PEAK_MB = 25
SIZE_MB = 15


def ms(row, name):
    """A median, or None where it wasn't measured."""
    return row.get(name, {}).get("median_ms")


def cell(row, name):
    if name not in row:
        return "-"
    value = ms(row, name)
    return f"{value:.0f}" if value is not None else f"NOT RUN ({row[name]['not_run']})"


def ratio(row, above, below):
    a, b = ms(row, above), ms(row, below)
    return f"{a / b:.2f}" if a and b else "NOT RUN"


def fastest_rival(row, names):
    measured = [ms(row, n) for n in names if ms(row, n)]
    return min(measured) if measured else None


def times(rival, own):
    return f"{rival / own:.1f}" if rival and own else "NOT RUN"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " --: |" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def goals(result, facts):
    """Each aim with what was measured."""
    rows, ok = [], lambda good: "met" if good else "**missed**"
    real = [r for r in result.values() if ms(r, "snapshot")]

    def aim(what, measured, good):
        rows.append((what, measured, "NOT RUN" if good is None else ok(good)))

    floors = [(ms(r, "snapshot") / ms(r, "floor"), r["title"]) for r in real if ms(r, "floor")]
    if floors:
        worst = max(floors)
        aim("snapshot at most 1.5 x the floor", f"{min(floors)[0]:.2f} to {worst[0]:.2f} ({worst[1]})", worst[0] <= 1.5)
    page = result.get("chromium", {})
    rival = fastest_rival(page, ["libatspi", "xa11y_tree"])
    if rival and ms(page, "snapshot"):
        factor = rival / ms(page, "snapshot")
        aim("at least 20 x faster than the fastest rival on a page of 2,000 elements", f"{factor:.1f} x", factor >= 20)
    else:
        aim("at least 20 x faster than the fastest rival on a page of 2,000 elements", "NOT RUN", None)
    lookups = [(ms(r, "is"), r["title"]) for r in real if ms(r, "is")]
    if lookups:
        aim("`is REF` as a whole process at most 25 ms", f"{min(lookups)[0]:.0f} to {max(lookups)[0]:.0f} ms", max(lookups)[0] <= 25)
    peaks = [r[n]["peak_kib"] / 1024 for r in real for n in ("snapshot", "snapshot_bounds", "find", "is", "click") if "peak_kib" in r.get(n, {})]
    if peaks:
        aim(f"peak memory at most {PEAK_MB} MB", f"{max(peaks):.0f} MB at most", max(peaks) <= PEAK_MB)
    small, large = result.get("tree1k", {}), result.get("tree10k", {})
    if ms(small, "snapshot") and ms(large, "snapshot"):
        growth = ms(large, "snapshot") / ms(small, "snapshot")
        aim("10,000 elements cost at most 10 x 1,000 (and 10 % noise)", f"{growth:.1f} x", growth <= 11)
    slower = [(ms(r, "libatspi_bounds") / ms(r, "snapshot_bounds"), r["title"]) for r in real
              if ms(r, "libatspi_bounds") and ms(r, "snapshot_bounds")]
    if slower:
        worst = min(slower)
        aim("with `--include-bounds` at least 10 x faster than libatspi", f"{worst[0]:.1f} ({worst[1]}) to {max(slower)[0]:.1f}", worst[0] >= 10)
    aim(f"binary below {SIZE_MB} MB", f"{facts['size_mb']:.1f} MB", facts["size_mb"] < SIZE_MB)
    aim("start-up (`version`) below 10 ms", f"{facts['version']['median_ms']:.1f} ms", facts["version"]["median_ms"] < 10)
    return rows


def report(result, facts, runs):
    rows = list(result.values())
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    parts = [
        "# Benchmarks",
        "Written by `benches/run`, which anyone can run again: one go, one machine, the same live applications for every client. "
        "Ratios carry over to other machines; milliseconds don't.",
        f"Date: {datetime.date.today().isoformat()}. Medians of {runs} runs, fewer for clients that need seconds. Load while measuring: "
        f"{facts['load']:.1f} on {facts['cores']} cores. rustc {facts['rustc']}; "
        f"xa11y {facts['xa11y'] or 'NOT RUN'}; {packages}.",
        "## Aims",
        table(["aim", "measured", "verdict"], goals(result, facts)),
        "## Whole processes, milliseconds",
        table(["application", "nodes", "snapshot", "with bounds", "find", "is REF", "click REF", "libatspi", "libatspi, bounds", "xa11y tree",
               "xa11y find", "xa11y press"],
              [(r["title"], r["nodes"], *(cell(r, n) for n in ("snapshot", "snapshot_bounds", "find", "is", "click", "libatspi",
                                                               "libatspi_bounds", "xa11y_tree", "xa11y_find", "xa11y_press"))) for r in rows]),
        "`-`: not asked of this application. libatspi reads the same facts from Python with its cache off. "
        "xa11y's tree includes bounds.",
        "## Ratios",
        table(["application", "calls", "flights", "snapshot / floor", "snapshot / floor in one flight", "with bounds / floor",
               "fastest rival / snapshot", "libatspi / with bounds", "xa11y / with bounds", "peak MB"],
              [(r["title"], r.get("floor", {}).get("calls", "-"), r.get("floor", {}).get("flights", "-"), ratio(r, "snapshot", "floor"),
                ratio(r, "snapshot", "floor_free"), ratio(r, "snapshot_bounds", "floor_bounds"),
                times(fastest_rival(r, ["libatspi", "xa11y_tree"]), ms(r, "snapshot")), ratio(r, "libatspi_bounds", "snapshot_bounds"),
                ratio(r, "xa11y_tree", "snapshot_bounds"),
                f"{r['snapshot']['peak_kib'] / 1024:.1f}" if "peak_kib" in r.get("snapshot", {}) else "NOT RUN") for r in rows]),
        "The floor is a process that joins the buses and sends the very calls that our snapshot sent, in the same flights, over the application's own line where we use one, and throws "
        "the replies away; \"in one flight\" sends them without waiting for what depends on what, which no reader can do.",
    ]
    parts += ["## Processor time of one snapshot, milliseconds",
              table(["application", "ourselves", "the application", "the buses", "ours of all"],
                    [(r["title"], *(f"{r['processor'][k]:.1f}" for k in ("own_ms", "application_ms", "buses_ms")),
                      f"{100 * r['processor']['own_ms'] / sum(r['processor'].values()):.0f} %")
                     for r in rows if "own_ms" in r.get("processor", {})]),
              "Measured over the same runs; unlike time by the clock it hardly depends on what else the machine does. Floor and "
              "rivals cost the application and the buses the same for the same calls."]
    for row in rows:
        if "not_run" in row:
            parts.append(f"{row['title']}: NOT RUN: {row['not_run']}")
    return "\n\n".join(parts) + "\n"
