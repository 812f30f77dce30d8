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

  function dressTrace(trace, position) {
    const { hue, role } = trace.meta;
    const of = colour(hue === undefined ? `--${role}` : `--hue-${hue}`);
    const size = trace.marker.size * (hue !== undefined && narrow.matches ? 0.75 : 1);
    const scaled = Array.isArray(trace.marker.color);  // a colour for each point says something itself
    const dressed = { ...trace, marker: { ...trace.marker, color: scaled ? trace.marker.color : of, size: size || undefined } };
    if (trace.line) dressed.line = { ...trace.line, color: of };
    if (trace.error_x) dressed.error_x = { ...trace.error_x, color: of };
    if (trace.error_y) dressed.error_y = { ...trace.error_y, color: of };
    if (trace.mode && trace.mode.includes("text")) dressed.textfont = { color: colour("--muted"), size: 11 };
    if (hue !== undefined) dressed.opacity = chosen === null || chosen === position ? 1 : 0.07;
    return dressed;
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
        ...note, bgcolor: colour("--label"), font: { ...note.font, color: ink },
      })),
    };
  }

  function draw(id) {
    const place = document.getElementById(id);
    const chart = charts[id];
    try {
      Plotly.react(place, chart.data.map(dressTrace), dressLayout(chart.layout), { displayModeBar: false, responsive: true });
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
