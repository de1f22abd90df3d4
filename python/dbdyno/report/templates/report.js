"use strict";
(() => {
  const { figures } = JSON.parse(document.getElementById("data").textContent);
  const hidden = new Set();
  // Without a choice there is one load and one system, of place 0.
  const chosen = (kind) => Number(document.querySelector(`[data-${kind}][aria-pressed=true]`)?.dataset[kind] ?? 0);
  let load = chosen("load"), system = chosen("system");

  // What is shown of one load or of one trial is parsed when it is first looked at: a run may have hundreds.
  const parts = new Map();
  function part(id) {
    if (!parts.has(id)) {
      const element = document.getElementById(id);
      parts.set(id, element ? JSON.parse(element.textContent) : {});
    }
    return parts.get(id);
  }

  // A custom property holds light-dark(…) as it was written; only a property that uses it tells the colour.
  const probe = document.body.appendChild(document.createElement("i"));
  probe.hidden = true;
  function colour(name) {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  }

  function figureOf(id) {
    if (id.startsWith("timeline")) return part(`load-${load}`)[id];
    if (id === "heat" || id === "budget") return part(`trial-${system}-${load}`)[id];
    return figures[id];
  }

  const overTime = (id) => ["timeline", "timeline-old", "timeline-p99", "timeline-hits", "heat", "budget"].includes(id);

  function shapesOf(id, figure) {
    const shapes = figure.layout.shapes ?? [], trial = part(`trial-${system}-${load}`);
    return id !== "timeline" || hidden.has(system) ? shapes : [...shapes, ...(trial.shapes ?? [])];
  }

  // On paper a plot cannot ask how wide it is; this is what a page of A4 or Letter has room for.
  const PAPER_PX = 640;
  let onPaper = false;

  // A legend beside a plot grows with its names, and the plot with it: they never lie on one another.
  function withLegend(layout, figure, width) {
    const names = new Set(figure.data.filter(({ name, showlegend }) => name && showlegend !== false).map(({ name }) => name));
    const longest = Math.max(...[...names].map((name) => name.length));
    const rows = Math.ceil(names.size / Math.max(1, Math.floor(width / (longest * 6.5 + 46))));
    const top = 19 * rows + 12;
    return { ...layout, showlegend: true, height: layout.height + top - layout.margin.t, margin: { ...layout.margin, t: top } };
  }

  // Plotly takes colours as values, not as CSS variables, so they are set again whenever the page's theme changes.
  function layoutOf(figure, element) {
    const narrow = element.clientWidth < 600;
    const axis = { gridcolor: colour("--grid"), linecolor: colour("--line"), zerolinecolor: colour("--line"), automargin: true, fixedrange: narrow };
    const { xaxis: x = {}, yaxis: y = {} } = figure.layout;
    const layout = {
      ...figure.layout,
      xaxis: { ...axis, ...x, title: { ...x.title, standoff: 8 } },
      yaxis: { ...axis, nticks: 6, separatethousands: true, ...y, title: { ...y.title, standoff: 6 } },
      height: figure.layout.height ?? Number(element.dataset.height), autosize: true, showlegend: false, margin: { l: 8, r: 12, t: 12, b: 8 },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", size: 12, color: colour("--quiet") },
      hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--text"), size: 12 }, align: "left", namelength: -1 },
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, font: { size: 11 } },
    };
    // Of bars that lie the figures are on the other axis.
    if (element.dataset.log) Object.assign(y.type === "category" ? layout.xaxis : layout.yaxis, { type: "log", rangemode: "normal", dtick: narrow ? 1 : "D2" });
    if (overTime(element.id)) {
      // One axis of time: the plots lie under one another, and what stands still does so at one place in all of them.
      Object.assign(layout.xaxis, { range: part(`load-${load}`).timeline?.layout.xaxis.range, automargin: false });
      Object.assign(layout.yaxis, { automargin: false, title: narrow ? {} : layout.yaxis.title });
      Object.assign(layout, { margin: { l: narrow ? 54 : 72, r: 12, t: 22, b: 42 }, shapes: shapesOf(element.id, figure) });
    }
    if (onPaper) Object.assign(layout, { width: PAPER_PX, autosize: false });
    return figure.layout.showlegend ? withLegend(layout, figure, onPaper ? PAPER_PX : element.clientWidth) : layout;
  }

  function heat(trace) {
    const scale = [[0, colour("--heat-low")], [0.55, colour("--heat-middle")], [1, colour("--heat-high")]];
    const hover = trace.counts.map((row, place) => row.map((count) => `${count.toLocaleString("en")} took ${trace.labels[place]} to ${trace.labels[place + 1]}`));
    // By the logarithm of the count: a stall is few transactions, and what is being looked for.
    return { ...trace, z: trace.counts.map((row) => row.map((count) => (count ? Math.log10(count) : null))), zmin: 0, text: hover, hovertemplate: "%{text}<extra></extra>", colorscale: scale, showscale: false, hoverongaps: false };
  }

  const tracesOf = (figure) => figure.data.map((trace) =>
    trace.type === "heatmap" ? heat(trace) : { ...trace, visible: !hidden.has(trace.meta?.s) && (trace.meta?.c ?? load) === load });

  const drawn = new Set();
  function draw(element) {
    drawn.add(element);
    const figure = figureOf(element.id);
    element.classList.toggle("empty", !figure);
    if (!figure) {
      Plotly.purge(element);
      element.textContent = element.dataset.missing ?? "not seen";
      return;
    }
    if (!element.querySelector(".plot-container")) element.textContent = "";
    Plotly.react(element, tracesOf(figure), layoutOf(figure, element), { responsive: true, displaylogo: false, displayModeBar: false });
  }

  async function save(element, format) {
    const figure = figureOf(element.id), width = 1000;
    const bare = { ...layoutOf(figure, element), width, height: Math.max(420, figure.layout.height ?? Number(element.dataset.height)), paper_bgcolor: colour("--card"), margin: { l: 70, r: 20, t: 20, b: 50 } };
    const layout = withLegend(bare, figure, width), size = { width, height: layout.height };
    const url = await Plotly.toImage({ data: tracesOf(figure), layout }, { format, ...size, scale: format === "png" ? 2 : 1 });
    Object.assign(document.createElement("a"), { href: url, download: `${document.body.dataset.run}-${element.id}.${format}` }).click();
  }

  const plots = [...document.querySelectorAll(".plot")];
  const redraw = () => drawn.forEach(draw);
  const seen = new IntersectionObserver((entries) => entries.forEach(({ isIntersecting, target }) => {
    if (isIntersecting && !drawn.has(target)) draw(target);
  }), { rootMargin: "600px" });

  function say() {
    const { words } = part(`trial-${system}-${load}`);
    document.querySelectorAll(".steady-words").forEach((place) => { place.textContent = words ?? "not complete"; });
    document.querySelectorAll(".chosen-system").forEach((place) => { place.textContent = document.querySelector(`[data-series="${system}"]`)?.dataset.name ?? ""; });
  }

  function press(kind, button) {
    document.querySelectorAll(`[data-${kind}]`).forEach((other) => other.setAttribute("aria-pressed", String(other.dataset[kind] === button.dataset[kind])));
  }

  document.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    const pressed = button.getAttribute("aria-pressed") === "true";
    if (button.dataset.save) return void save(button.closest(".save").previousElementSibling, button.dataset.save);
    if (button.dataset.series) {
      const place = Number(button.dataset.series);
      pressed ? hidden.add(place) : hidden.delete(place);
      button.setAttribute("aria-pressed", String(!pressed));
    } else if (button.dataset.load) {
      load = Number(button.dataset.load);
      press("load", button);
      document.querySelectorAll(".chosen").forEach((place) => { place.textContent = button.textContent; });
    } else if (button.dataset.system) {
      system = Number(button.dataset.system);
      press("system", button);
    } else if (button.dataset.plots) {
      button.setAttribute("aria-pressed", String(!pressed));
      button.dataset.plots.split(" ").forEach((id) => { document.getElementById(id).dataset.log = pressed ? "" : "1"; });
    } else return;
    say();
    redraw();
  });

  plots.forEach((element) => {
    const buttons = ["svg", "png"].map((format) => `<button type="button" data-save="${format}" title="save this plot">${format.toUpperCase()}</button>`);
    element.insertAdjacentHTML("afterend", `<div class="save">${buttons.join("")}</div>`);
    seen.observe(element);
  });
  addEventListener("themechange", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // Paper is light, and all of it is looked at.
  const root = document.documentElement;
  let theme;
  addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    onPaper = true;
    plots.forEach(draw);
  });
  addEventListener("afterprint", () => {
    onPaper = false;
    theme ? root.dataset.theme = theme : delete root.dataset.theme;
    redraw();
  });
  say();
})();
