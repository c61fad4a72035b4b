// Draws the page's charts from the JSON in #charts. Y axes begin at zero, or are logarithmic where
// the values of a chart span more than two decades; the reader may choose the other.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const root = document.documentElement;
  const DASHES = [[], [9, 4], [2, 3], [9, 3, 2, 3], [5, 5], [14, 3]];
  const BORDERS = ["solid", "dashed", "dotted", "dashed", "dotted", "dashed"];
  const PRINT_WIDTH = 700;
  // Charts above each other begin at the same place unless a number needs more.
  const AXIS_WIDTH = 58;
  const theme = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const colour = (i) => theme("c" + (i % 6));

  // ---- numbers as people read them --------------------------------------------------------------
  const significant = (v) => {
    const a = Math.abs(v);
    const places = a === 0 || a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2;
    return v.toFixed(places);
  };
  const scaled = (v, units) => {
    for (const [size, name] of units) {
      if (Math.abs(v) >= size * 0.9995) return significant(v / size) + name;
    }
    const [size, name] = units[units.length - 1];
    return significant(v / size) + name;
  };
  const RATE = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
  const TIME = [[1e9, " s"], [1e6, " ms"], [1e3, " us"], [1, " ns"]];
  const THROUGHPUT = [[1e9, " GB/s"], [1e6, " MB/s"], [1e3, " kB/s"], [1, " B/s"]];
  const POWER = [[1, " W"], [1e-3, " mW"]];
  const PERCENT = [[1, " %"]];
  const UNITS = { rate: RATE, time: TIME, throughput: THROUGHPUT, power: POWER, percent: PERCENT };
  const show = (unit, v) => (v == null ? "-" : v === 0 ? "0" : scaled(v, UNITS[unit]));
  const tick = (unit, v) => show(unit, v).replace(/\.0+(?=\D|$)|(\.\d*?)0+(?=\D|$)/, "$1");
  const clock = (s) => {
    if (Math.abs(s) < 60) return s + " s";
    const rest = Math.round(Math.abs(s) % 60);
    return Math.trunc(s / 60) + (rest ? ":" + String(rest).padStart(2, "0") : "") + " min";
  };
  const size = (log2) => {
    const step = Math.max(0, Math.min(5, Math.floor((log2 + 1e-9) / 10)));
    return significant(2 ** (log2 - 10 * step)).replace(/\.0+$/, "")
      + " " + ["B", "KiB", "MiB", "GiB", "TiB", "PiB"][step];
  };
  const AXES = {
    time: { show: clock, incrs: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
      14400, 28800, 43200, 86400] },
    writers: { show: String, incrs: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] },
    size: { show: size, incrs: [1, 2, 4, 5, 10, 20] },
    writes: { show: (v) => tick("rate", v) + "x", incrs: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5,
      10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] },
    rounds: { show: String, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] },
    block: { show: size, incrs: [1, 2, 4] },
    rate: { show: (v) => tick("rate", v), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3,
      1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6] },
    depth: { show: (v) => String(Math.round(2 ** v)), incrs: [1, 2, 4] },
    months: { show: (v) => v + (v === 1 ? " month" : " months"), incrs: [1, 2, 3, 6, 12, 24] },
    percent: { show: (v) => tick("rate", v) + " %", incrs: [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 25, 50,
      100, 200, 500] },
  };

  // ---- data -------------------------------------------------------------------------------------
  const times = (line) => {
    let at = line.from;
    return line.y.map((_, i) => (i === 0 ? at : (at += line.steps ? line.steps[i - 1] : 1)));
  };
  const table = (chart) => uPlot.join(chart.lines.map((line) => [times(line), line.y]));
  const highest = (chart) => Math.max(0, ...chart.lines.filter((l) => !l.hidden)
    .map((l) => l.y.reduce((a, v) => (v != null && v > a ? v : a), 0)));
  const alike = (chart) => charts
    .filter((c) => c.same_scale && c.group === chart.group && c.unit === chart.unit);
  const common = (chart) => Math.max(...alike(chart).map(highest));
  const lowest = (chart) => Math.min(...alike(chart).flatMap((c) => c.lines)
    .map((l) => l.y.reduce((a, v) => (v > 0 && v < a ? v : a), Infinity)));
  const shownValues = (chart) => alike(chart).concat(chart).flatMap((c) => c.lines)
    .filter((l) => !l.hidden).flatMap((l) => l.y).filter((v) => v > 0);
  const spansDecades = (chart) => {
    const values = shownValues(chart);
    const least = values.reduce((a, v) => Math.min(a, v), Infinity);
    return values.reduce((a, v) => Math.max(a, v), 0) > 100 * least;
  };
  const longest = (chart) => Math.max(...charts
    .filter((c) => c.same_scale && c.group === chart.group)
    .flatMap((c) => c.lines.map((l) => times(l)[l.y.length - 1])));

  // ---- options ----------------------------------------------------------------------------------
  const axisSize = (u, values, at, cycle) => {
    const axis = u.axes[at];
    if (cycle > 1) return axis._size;
    const text = (values || []).reduce((a, v) => (v && v.length > a.length ? v : a), "");
    u.ctx.font = axis.font[0];
    const width = axis.ticks.size + axis.gap + u.ctx.measureText(text).width / uPlot.pxRatio + 4;
    return Math.max(AXIS_WIDTH, Math.ceil(width));
  };
  const linear = (fixed) => (_u, _min, max) => {
    const top = fixed || max;
    return top > 0 ? [0, top * 1.08] : [0, 1];
  };
  const logarithmic = (fixed, least) => (_u, min, max) => {
    const [from, to] = fixed ? [least, fixed] : [min, max];
    if (!(from > 0)) return [1, 10];
    const low = 10 ** Math.floor(Math.log10(from));
    return [low, Math.max(low * 10, 10 ** Math.ceil(Math.log10(to)))];
  };
  // Points over writers, sizes and queue depths, which were chosen; else lines.
  const over = (chart) => !["writers", "size", "depth", "block", "rate"].includes(chart.axis);
  const xRange = (chart) => (_u, min, max) => {
    if (over(chart)) return min === max ? [min - 1, max + 1] : [min, max];
    const pad = (max - min) * 0.03 || 1;
    return chart.axis === "writers" ? [0, max + pad] : [min - pad, max + pad];
  };
  const axis = (extra) => ({
    stroke: theme("quiet"), font: "12px system-ui, sans-serif", gap: 4,
    grid: { stroke: theme("grid"), width: 1 }, ticks: { stroke: theme("grid"), size: 5 }, ...extra,
  });
  const axes = (chart, log) => [
    axis({
      space: 64, incrs: AXES[chart.axis].incrs, size: 28,
      values: (_u, splits) => splits.map((v) => AXES[chart.axis].show(v)),
    }),
    axis({
      size: axisSize,
      values: (_u, splits) => splits.map((v) =>
        v == null || (log && !/^1e/.test(v.toExponential())) ? "" : tick(chart.unit, v)),
    }),
  ];
  const series = (chart) => [
    {
      label: { writers: "writers", size: "dirty", depth: "depth", rounds: "round",
        block: "size", rate: "IOPS" }[chart.axis] || "at",
      value: (_u, v) => (v == null ? "-" : AXES[chart.axis].show(v)),
    },
    ...chart.lines.map((line) => ({
      label: line.label, stroke: colour(line.colour), width: over(chart) ? 1.4 : 2,
      dash: DASHES[line.dash % 6], show: !line.hidden, spanGaps: true,
      points: {
        show: !over(chart) || line.y.length < 3, size: 6, fill: colour(line.colour),
      },
      value: (_u, v) => show(chart.unit, v),
    })),
  ];

  // ---- what is pointed out: steady windows, cliffs, phases --------------------------------------
  // Words and strips stand above the plot, so that they never hide a line.
  const STRIP = 5, ROW = 16;
  const steadies = (chart) => chart.notes.filter((n) => n.kind === "steady");
  // The latest is named lowest, so that no cliff's line runs through another's words.
  const cliffs = (chart) => chart.notes.filter((n) => n.kind === "cliff")
    .sort((a, b) => b.at - a.at);
  const headroom = (chart) => Math.max(...charts
    .filter((c) => c === chart || (chart.same_scale && c.group === chart.group
      && c.unit === chart.unit))
    .map((c) => 10 + steadies(c).length * STRIP + cliffs(c).length * ROW));
  const inside = (u, x) => Math.min(u.bbox.left + u.bbox.width, Math.max(u.bbox.left, x));
  const shade = (u, chart) => {
    const { top, height } = u.bbox, px = uPlot.pxRatio, ctx = u.ctx;
    ctx.save();
    steadies(chart).forEach((note, row) => {
      const from = inside(u, u.valToPos(note.from, "x", true));
      const to = inside(u, u.valToPos(note.to, "x", true));
      ctx.fillStyle = colour(note.colour);
      ctx.fillRect(from, top - (row + 1) * STRIP * px, to - from, (STRIP - 1) * px);
      ctx.globalAlpha = Number(theme("tint"));
      if (note.colour === 0) ctx.fillRect(from, top, to - from, height);
      ctx.globalAlpha = 1;
    });
    ctx.restore();
  };
  const vertical = (u, note, up) => {
    const { left, top, width, height } = u.bbox, px = uPlot.pxRatio, ctx = u.ctx;
    const x = u.valToPos(note.at, "x", true);
    if (x < left || x > left + width) return null;
    ctx.strokeStyle = note.kind === "cliff" ? colour(note.colour) : theme("quiet");
    ctx.lineWidth = px;
    ctx.setLineDash([4 * px, 3 * px]);
    ctx.beginPath();
    ctx.moveTo(x, top - up);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    return x;
  };
  const annotate = (u, chart) => {
    const { left, top, width } = u.bbox, px = uPlot.pxRatio, ctx = u.ctx;
    ctx.save();
    ctx.font = `${12 * px}px system-ui, sans-serif`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    chart.notes.filter((n) => n.kind === "phase").forEach((note) => vertical(u, note, 0));
    cliffs(chart).forEach((note, row) => {
      const up = (steadies(chart).length * STRIP + (row + 0.5) * ROW) * px;
      const x = vertical(u, note, up);
      if (x === null) return;
      const text = `cliff: ${note.text}`, length = ctx.measureText(text).width, gap = 5 * px;
      const right = x + gap + length < left + width;
      ctx.fillStyle = colour(note.colour);
      ctx.fillText(text, right ? x + gap : Math.max(0, x - gap - length), top - up);
    });
    ctx.restore();
  };

  // ---- drawing ----------------------------------------------------------------------------------
  const draw = (place, width) => {
    const { chart } = place;
    if (place.plot) place.plot.destroy();
    const log = place.log.checked;
    place.scale.hidden = !log;
    const data = table(chart);
    if (log) data.slice(1).forEach((ys) => ys.forEach((v, i) => { if (v === 0) ys[i] = null; }));
    if (chart.same_scale) {
      const xs = data[0], end = longest(chart);
      if (xs[xs.length - 1] < end) data.forEach((column, i) => column.push(i ? null : end));
    }
    const fixed = chart.same_scale ? common(chart) : 0;
    const high = (window.innerWidth < 720 ? 180 : 210) + headroom(chart);
    place.plot = new uPlot({
      width, height: high, pxAlign: 0, padding: [headroom(chart), null, 0, 0],
      series: series(chart), axes: axes(chart, log),
      scales: {
        x: { time: false, range: xRange(chart) },
        y: log
          ? { distr: 3, log: 10, range: logarithmic(fixed, fixed && lowest(chart)) }
          : { range: linear(fixed) },
      },
      cursor: { sync: { key: chart.group, setSeries: false }, points: { size: 6 } },
      legend: {
        markers: { width: 3, dash: (_u, i) => BORDERS[chart.lines[i - 1].dash % 6] },
      },
      hooks: { drawClear: [(u) => shade(u, chart)], draw: [(u) => annotate(u, chart)] },
    }, data, place.figure);
    place.plot.root.setAttribute("role", "img");
    place.plot.root.setAttribute("aria-label", chart.title + "; the numbers are in the tables");
  };
  const logSwitch = (place) => {
    const caption = place.figure.querySelector("figcaption");
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox";
    box.checked = spansDecades(place.chart);
    box.addEventListener("change", () => draw(place, place.figure.clientWidth));
    label.append(box, "log axis");
    place.scale = document.createElement("span");
    place.scale.textContent = " (logarithmic axis, not from zero)";
    caption.firstElementChild.append(place.scale);
    caption.append(label);
    place.log = box;
  };
  const places = [...document.querySelectorAll("[data-chart]")].map((figure) => {
    const place = { figure, chart: charts[Number(figure.dataset.chart)], plot: null, width: 0 };
    logSwitch(place);
    return place;
  });
  const drawAll = () => places.forEach((place) => draw(place, place.figure.clientWidth || 600));

  let printing = false;
  const fit = () => places.forEach((place) => {
    const width = place.figure.clientWidth;
    if (printing || width === 0 || width === place.width) return;
    place.width = width;
    place.plot.setSize({ width, height: place.plot.height });
  });
  new ResizeObserver(() => requestAnimationFrame(fit)).observe(document.querySelector("main"));

  // ---- theme and print --------------------------------------------------------------------------
  document.addEventListener("theme", drawAll);
  window.addEventListener("beforeprint", () => {
    printing = root.dataset.theme || "system";
    root.dataset.theme = "light";
    places.forEach((place) => {
      const half = place.figure.closest(".pair") && !place.figure.matches(":only-child");
      draw(place, half ? PRINT_WIDTH / 2 - 14 : PRINT_WIDTH);
    });
  });
  window.addEventListener("afterprint", () => {
    if (printing === "system") delete root.dataset.theme;
    else root.dataset.theme = printing;
    printing = false;
    drawAll();
  });
  drawAll();
})();
