"use strict";
// Draws the charts in the colours of the page, and again when these change.
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  function dressTrace(trace) {
    const of = colour(trace.meta.colour);
    const dressed = { ...trace, marker: { ...trace.marker, color: of }, textfont: { color: colour("muted"), size: 11 } };
    if (trace.error_x) dressed.error_x = { ...trace.error_x, color: of };
    return dressed;
  }

  function dressLayout(layout) {
    const [ink, muted, grid, line] = ["ink", "muted", "grid", "line"].map(colour);
    const axis = { gridcolor: grid, linecolor: line, zerolinecolor: grid };
    return {
      ...layout,
      autosize: true,
      font: { color: muted, family: getComputedStyle(document.body).fontFamily },
      hoverlabel: { bgcolor: colour("card"), bordercolor: muted, font: { color: ink, size: 13 } },
      xaxis: { ...layout.xaxis, ...axis },
      yaxis: { ...layout.yaxis, ...axis },
    };
  }

  function draw(id) {
    const place = document.getElementById(id);
    const chart = charts[id];
    try {
      Plotly.react(place, chart.data.map(dressTrace), dressLayout(chart.layout), { displayModeBar: false, responsive: true });
      place.dataset.state = "drawn";
    } catch (error) {
      place.dataset.state = "failed";
      place.classList.add("failed");
      place.textContent = "This chart could not be drawn in this browser.";
      console.error(id, error);
    }
  }

  const drawAll = () => Object.keys(charts).forEach(draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  drawAll();
})();
