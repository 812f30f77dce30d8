"use strict";
// Draws the charts when they come near the screen, in the colours of the page, and again when these change.
(() => {
  const { texts, charts } = JSON.parse(document.getElementById("page-data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const narrow = window.matchMedia("(max-width: 600px), (pointer: coarse)");
  const drawn = new Set();
  let chosen = null;

  // Hover texts are stored once for all maps; points refer to them by number.
  for (const chart of Object.values(charts)) {
    for (const trace of chart.data) {
      if (trace.customdata) trace.hovertext = trace.customdata.map((point) => texts[point]);
    }
  }

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const faint = (name, alpha = 0.4) => {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour(name).slice(at, at + 2), 16));
    return `rgba(${red},${green},${blue},${alpha})`;
  };
  const SCALES = {
    share: () => [[0, colour("--card")], [1, colour("--accent")]],
    sign: () => [[0, colour("--bad")], [0.5, colour("--card")], [1, colour("--accent")]],
  };

  const onTop = (layout) => layout.xaxis?.side === "top";

  // Heat maps and flows are coloured as a whole, other traces by the hue of their cluster or by their part.
  function dressWhole(trace, layout) {
    const { scale, nodes, links } = trace.meta;
    if (scale) {
      const below = { orientation: "h", x: 0.5, xanchor: "center", y: onTop(layout) ? -0.01 : -0.25, yanchor: "top", len: 0.8, thickness: 8 };
      const bar = { ...trace.colorbar, ...(narrow.matches ? below : {}), tickfont: { color: colour("--muted") } };
      return { ...trace, colorscale: SCALES[scale](), colorbar: bar };
    }
    const node = { ...trace.node, color: nodes.map((hue) => colour(hue < 0 ? "--muted" : `--hue-${hue}`)) };
    const link = { ...trace.link, color: links.map((hue) => faint(`--hue-${hue}`)) };
    return { ...trace, node, link, textfont: { color: colour("--ink"), size: 12 } };
  }

  function dressTrace(trace, position, layout) {
    const { hue, role, scale, nodes, of: owner = position, band } = trace.meta;
    if (scale || nodes) return dressWhole(trace, layout);
    const of = colour(hue === undefined ? `--${role}` : `--hue-${hue}`);
    const dressed = { ...trace };
    if (trace.marker) {
      const shrink = hue !== undefined && narrow.matches ? 0.75 : 1;
      const size = Array.isArray(trace.marker.size) ? trace.marker.size : trace.marker.size * shrink;
      const scaled = Array.isArray(trace.marker.color);  // a colour for each point says something itself
      dressed.marker = { ...trace.marker, color: scaled ? trace.marker.color : of, size: size || undefined };
    }
    if (trace.line) dressed.line = { ...trace.line, color: of };
    if (trace.fillcolor) dressed.fillcolor = band ? faint(`--hue-${hue}`, 0.16) : of;
    for (const bars of ["error_x", "error_y"]) if (trace[bars]) dressed[bars] = { ...trace[bars], color: of };
    if (trace.mode && trace.mode.includes("text")) dressed.textfont = { color: colour("--muted"), size: 11 };
    if (hue !== undefined) dressed.opacity = chosen === null || chosen === owner ? 1 : 0.07;
    return dressed;
  }

  // A heat map on a telephone: the scale below it, shorter names, and no taller than it is wide where it is square.
  function fitted(place, { data, layout }) {
    const { scale, ticks } = data[0]?.meta ?? {};
    if (!scale || !narrow.matches) return layout;
    const font = { size: 10 };
    const height = place.classList.contains("square") ? place.clientWidth + 40 : layout.height + 50;
    return {
      ...layout,
      height,
      margin: { ...layout.margin, r: 4, b: onTop(layout) ? 62 : 110 },
      xaxis: { ...layout.xaxis, tickfont: font },
      yaxis: { ...layout.yaxis, tickfont: font, ...(ticks ? { ticktext: ticks } : {}) },
    };
  }

  function dressLayout(layout) {
    const [ink, muted, grid, line] = ["--ink", "--muted", "--grid", "--line"].map(colour);
    const axis = { gridcolor: grid, linecolor: line, zerolinecolor: grid, fixedrange: narrow.matches };
    return {
      ...layout,
      autosize: true,
      dragmode: narrow.matches ? false : "zoom",
      font: { ...layout.font, color: muted, family: getComputedStyle(document.body).fontFamily },
      hoverlabel: { ...layout.hoverlabel, bgcolor: colour("--card"), bordercolor: muted, font: { color: ink, size: 13 } },
      xaxis: { ...layout.xaxis, ...axis },
      yaxis: { ...layout.yaxis, ...axis },
      shapes: (layout.shapes || []).map((shape) => ({ ...shape, line: { ...shape.line, color: muted } })),
      annotations: (layout.annotations || []).map((note) => ({
        ...note, bgcolor: colour("--label"), arrowcolor: muted, font: { ...note.font, color: ink },
      })),
    };
  }

  function draw(id) {
    const place = document.getElementById(id);
    const chart = charts[id];
    try {
      Plotly.react(place, chart.data.map((trace, position) => dressTrace(trace, position, chart.layout)), dressLayout(fitted(place, chart)), { displayModeBar: false, responsive: true });
      drawn.add(id);
      place.dataset.state = "drawn";
    } catch (error) {
      place.dataset.state = "failed";
      place.classList.add("failed");
      place.textContent = "This chart could not be drawn in this browser.";
      console.error(id, error);
    }
  }

  const redraw = () => drawn.forEach(draw);
  dark.addEventListener("change", redraw);
  narrow.addEventListener("change", redraw);
  window.addEventListener("beforeprint", () => waiting.forEach(start));

  // Says that a table goes on where it is cut, and fades its edge until it is scrolled to its end.
  for (const box of document.querySelectorAll(".scroll")) {
    const mark = () => {
      const hidden = box.scrollWidth - box.clientWidth;
      box.classList.toggle("sideways", hidden > 2);
      box.classList.toggle("cut", hidden - box.scrollLeft > 2);
    };
    box.addEventListener("scroll", mark, { passive: true });
    new ResizeObserver(() => requestAnimationFrame(mark)).observe(box);  // else it may go round and round
  }

  const buttons = [...document.querySelectorAll("[data-cluster]")];
  for (const button of buttons) {
    button.addEventListener("click", () => {
      const cluster = Number(button.dataset.cluster);
      chosen = chosen === cluster ? null : cluster;
      for (const other of buttons) other.setAttribute("aria-pressed", String(Number(other.dataset.cluster) === chosen));
      redraw();
    });
  }

  const waiting = new Set(Object.keys(charts));
  const watcher = new IntersectionObserver((entries) => entries.forEach((entry) => entry.isIntersecting && start(entry.target.id)), {
    rootMargin: "400px",
  });

  function start(id) {
    if (!waiting.delete(id)) return;
    watcher.unobserve(document.getElementById(id));
    draw(id);
  }

  // What is near the screen comes first, the rest when there is time; inside a frame nothing may count as near.
  const whenIdle = window.requestIdleCallback || ((then) => setTimeout(then, 100));
  function drawNext() {
    const [id] = waiting;
    if (id === undefined) return;
    start(id);
    whenIdle(drawNext);
  }
  waiting.forEach((id) => watcher.observe(document.getElementById(id)));
  setTimeout(() => whenIdle(drawNext), 1000);
})();
