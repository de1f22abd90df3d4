"use strict";
(() => {
  const { figures } = JSON.parse(document.getElementById("data").textContent);
  const hidden = new Set();
  // Without a choice there is one load, of place 0.
  let load = Number(document.querySelector(".choose [aria-pressed=true]")?.dataset.load ?? 0);

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const visible = ({ meta }) => !hidden.has(meta.s) && (meta.c === null || meta.c === load);

  // Plotly takes colours as values, not as CSS variables, so they are set again whenever the page's theme changes.
  function layoutOf(figure, element) {
    const axis = { gridcolor: colour("--grid"), linecolor: colour("--line"), zerolinecolor: colour("--line"), automargin: true, fixedrange: element.clientWidth < 600 };
    const y = figure.layout.yaxis, x = figure.layout.xaxis;
    return {
      ...figure.layout,
      xaxis: { ...axis, ...x, title: { ...x.title, standoff: 8 } },
      yaxis: { ...axis, nticks: 6, separatethousands: true, ...y, ...(element.dataset.log ? { type: "log", rangemode: "normal", dtick: "D2" } : {}) },
      height: Number(element.dataset.height), autosize: true, showlegend: false, margin: { l: 8, r: 12, t: 12, b: 8 },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", size: 12, color: colour("--quiet") },
      hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--text"), size: 12 }, align: "left", namelength: -1 },
    };
  }

  function draw(element) {
    const figure = figures[element.id];
    const traces = figure.data.map((trace) => ({ ...trace, visible: visible(trace) }));
    Plotly.react(element, traces, layoutOf(figure, element), { responsive: true, displaylogo: false, displayModeBar: false });
  }

  const plots = [...document.querySelectorAll(".plot")].filter((element) => figures[element.id]);
  const drawAll = () => plots.forEach(draw);

  document.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    const pressed = button.getAttribute("aria-pressed") === "true";
    if (button.dataset.series) {
      const place = Number(button.dataset.series);
      pressed ? hidden.add(place) : hidden.delete(place);
      button.setAttribute("aria-pressed", String(!pressed));
    } else if (button.dataset.load) {
      load = Number(button.dataset.load);
      document.querySelectorAll("[data-load]").forEach((other) => other.setAttribute("aria-pressed", String(Number(other.dataset.load) === load)));
      document.querySelectorAll(".chosen").forEach((place) => { place.textContent = button.textContent; });
    } else if (button.dataset.plots) {
      button.setAttribute("aria-pressed", String(!pressed));
      button.dataset.plots.split(" ").forEach((id) => { document.getElementById(id).dataset.log = pressed ? "" : "1"; });
    }
    drawAll();
  });

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  addEventListener("beforeprint", drawAll);
  addEventListener("afterprint", drawAll);
  drawAll();
})();
