"use strict";
(async () => {
  const hidden = new Set();
  // Without a choice there is one load and one system, of index 0.
  const chosen = (kind) => Number(document.querySelector(`[data-${kind}][aria-pressed=true]`)?.dataset[kind] ?? 0);
  let load = chosen("load"), system = chosen("system");

  async function unpacked(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  // The data of a load or of a trial is unpacked when it is first viewed: a run may have hundreds.
  const parts = new Map();
  const part = (id) => parts.get(id) ?? {};
  const ofChosen = () => [`load-${load}`, `trial-${system}-${load}`].filter((id) => document.getElementById(id) && !parts.has(id));
  const unpackChosen = () => Promise.all(ofChosen().map(async (id) => parts.set(id, JSON.parse(await unpacked(id)))));

  if (!("DecompressionStream" in window)) {
    document.querySelectorAll(".plot").forEach((element) => { element.textContent = "This browser is too old to draw the plots. Use one from 2023 or later."; });
    return;
  }
  const library = document.createElement("script");
  let data;
  [library.textContent, data] = await Promise.all([unpacked("plotly"), unpacked("data"), unpackChosen()]);
  const { figures } = JSON.parse(data);
  document.head.append(library);

  // Choices of a reader beside load and system: they select one of several figures.
  const choices = { percentile: "p99", setting: "0" };
  const PERCENTILE_WORDS = { p50: "half of the transactions took at most this long", p95: "one transaction in 20 took longer", p99: "one transaction in 100 took longer", p999: "one transaction in 1,000 took longer" };
  let withFits = false;

  function figureOf(id) {
    const named = document.getElementById(id).dataset.figure;
    if (named) return figures[named.replace(/{(\w+)}/g, (_, kind) => choices[kind])];
    if (id === "timeline-latency") return part(`load-${load}`)[`timeline-${choices.percentile}`];
    if (id.startsWith("timeline")) return part(`load-${load}`)[id];
    if (id.startsWith("panel-")) return panelFigure(panels()[Number(id.slice(6))], observed().times);
    if (id === "heat" || id === "budget") return part(`trial-${system}-${load}`)[id];
    return figures[id];
  }

  const overTime = (id) => ["timeline", "timeline-stalls", "timeline-old", "timeline-latency", "timeline-hits", "heat", "budget"].includes(id) || id.startsWith("panel-");

  // Panels are observations of the chosen trial. Until a reader picks some, the default panels are drawn.
  let picked = null;
  const observed = () => part(`trial-${system}-${load}`).observed;
  const panels = () => observed()?.panels ?? [];
  const isPicked = (panel) => (picked ? picked.has(panel.name) : panel.default);
  function shapesOf(id, figure) {
    const shapes = figure.layout.shapes ?? [], trial = part(`trial-${system}-${load}`);
    if (hidden.has(system)) return shapes;
    return [...shapes, ...(trial.events ?? []), ...(id === "timeline" ? trial.shapes ?? [] : [])];
  }

  // On paper a plot cannot ask how wide it is; a page of A4 or Letter has room for this.
  const PAPER_PX = 640;
  let onPaper = false;

  function layoutOf(figure, element) {
    const narrow = element.clientWidth < 600;
    const layout = themedLayout(figure, element), { yaxis: y = {} } = figure.layout;
    // Horizontal bars have the figures on the other axis.
    if (element.dataset.log) Object.assign(y.type === "category" ? layout.xaxis : layout.yaxis, { type: "log", rangemode: "normal", dtick: narrow ? 1 : "D2" });
    if (overTime(element.id)) {
      Object.assign(layout.xaxis, { range: part(`load-${load}`).timeline?.layout.xaxis.range });
      Object.assign(onOneAxis(layout, narrow), { shapes: shapesOf(element.id, figure) });
    }
    if (onPaper) Object.assign(layout, { width: PAPER_PX, autosize: false });
    return figure.layout.showlegend ? withLegend(layout, figure, onPaper ? PAPER_PX : element.clientWidth) : layout;
  }

  function heat(trace) {
    const scale = [[0, colour("--heat-low")], [0.55, colour("--heat-middle")], [1, colour("--heat-high")]];
    const hover = trace.counts.map((row, index) => row.map((count) => `${count.toLocaleString("en")} took ${trace.labels[index]} to ${trace.labels[index + 1]}`));
    // Colours follow the logarithm of the count: a stall is few transactions, and a reader looks for stalls.
    return { ...trace, z: trace.counts.map((row) => row.map((count) => (count ? Math.log10(count) : null))), zmin: 0, text: hover, hovertemplate: "%{text}<extra></extra>", colorscale: scale, showscale: false, hoverongaps: false };
  }

  // With many systems only the chosen one has its colour, and is drawn above the others.
  const legend = document.querySelector(".legend");
  let highlighting = legend?.classList.contains("one") ?? false;
  const isGrey = ({ type, offsetgroup, meta }) => highlighting && (type === "scatter" || offsetgroup) && meta?.s != null && meta.s !== system;
  const grey = (trace) => ({ ...trace, opacity: 0.6, fillcolor: "rgba(0,0,0,0)", line: { ...trace.line, color: colour("--faded"), width: 1 }, marker: { ...trace.marker, color: colour("--faded"), pattern: {}, size: 4 } });
  const inColour = (figure) => [...figure.data.filter(isGrey).map(grey), ...figure.data.filter((trace) => !isGrey(trace))];

  const tracesOf = (figure) => inColour(figure).map((trace) =>
    trace.type === "heatmap" ? heat(trace) : { ...trace, visible: !hidden.has(trace.meta?.s) && (trace.meta?.c ?? load) === load && (withFits || !trace.meta?.fit) });

  const drawn = new Set();
  function draw(element) {
    drawn.add(element);
    element.style.minHeight = "";
    const figure = figureOf(element.id);
    element.classList.toggle("empty", !figure);
    if (!figure) {
      Plotly.purge(element);
      element.textContent = element.dataset.missing ?? "not observed";
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

  function drawPanels() {
    const container = document.querySelector(".panels");
    if (!container) return;
    container.querySelectorAll(".plot").forEach((element) => { drawn.delete(element); Plotly.purge(element); });
    container.replaceChildren();
    const selected = panels().flatMap((panel, number) => (isPicked(panel) ? [[panel, number]] : []));
    if (!selected.length) container.textContent = panels().length ? "Nothing is chosen." : "Nothing was observed of this system at this load.";
    selected.forEach(([panel, number]) => {
      const figure = container.appendChild(document.createElement("figure"));
      figure.appendChild(document.createElement("figcaption")).textContent = titleOf(panel);
      const element = figure.appendChild(document.createElement("div"));
      Object.assign(element, { className: "plot", id: `panel-${number}` });
      element.dataset.height = panel.lines.length > 1 ? 170 : 140;
      reserve(element);
    });
    document.querySelector(".panel-count").textContent = `${selected.length} of ${panels().length}`;
  }

  function listPanels() {
    const container = document.querySelector(".panel-choices");
    if (!container) return;
    const wanted = document.querySelector(".panel-filter").value.toLowerCase();
    container.replaceChildren();
    for (const group of new Set(panels().map(({ group }) => group))) {
      const fieldset = document.createElement("fieldset");
      fieldset.appendChild(document.createElement("legend")).textContent = group;
      panels().filter((panel) => panel.group === group && titleOf(panel).toLowerCase().includes(wanted)).forEach((panel) => {
        const label = fieldset.appendChild(document.createElement("label"));
        const box = label.appendChild(document.createElement("input"));
        Object.assign(box, { type: "checkbox", value: panel.name, checked: isPicked(panel) });
        label.append(` ${titleOf(panel)}`);
      });
      if (fieldset.childElementCount > 1) container.append(fieldset);
    }
  }

  document.querySelector(".panel-choices")?.addEventListener("change", ({ target }) => {
    picked ??= new Set(panels().filter(isPicked).map(({ name }) => name));
    target.checked ? picked.add(target.value) : picked.delete(target.value);
    drawPanels();
  });
  document.querySelector(".panel-filter")?.addEventListener("input", listPanels);

  const plots = [...document.querySelectorAll(".plot")];
  const redraw = () => drawn.forEach(draw);
  const seen = new IntersectionObserver((entries) => entries.forEach(({ isIntersecting, target }) => {
    if (isIntersecting && !drawn.has(target)) draw(target);
  }), { rootMargin: "600px" });

  function say() {
    const { words } = part(`trial-${system}-${load}`);
    document.querySelectorAll(".steady-words").forEach((element) => { element.textContent = words ?? "not complete"; });
    document.querySelectorAll(".chosen-system").forEach((element) => { element.textContent = document.querySelector(`[data-series="${system}"]`)?.dataset.name ?? ""; });
  }

  function sayPercentile() {
    document.body.dataset.percentile = choices.percentile;
    const button = document.querySelector(`[data-choice=percentile][data-value=${choices.percentile}]`);
    document.querySelectorAll(".chosen-percentile").forEach((element) => { element.textContent = button.textContent; });
    document.querySelectorAll(".percentile-words").forEach((element) => { element.textContent = PERCENTILE_WORDS[choices.percentile]; });
  }

  function choose(kind, value) {
    kind === "load" ? load = Number(value) : system = Number(value);
    document.querySelectorAll(`[data-${kind}]`).forEach((other) => other.setAttribute("aria-pressed", String(other.dataset[kind] === value)));
  }

  function pressChips() {
    legend?.classList.toggle("one", highlighting);
    document.querySelectorAll("[data-series]").forEach((chip) => {
      const index = Number(chip.dataset.series);
      chip.setAttribute("aria-pressed", String(highlighting ? index === system : !hidden.has(index)));
      chip.title = highlighting ? "highlight in every plot" : "show or hide in every plot";
    });
  }

  document.addEventListener("click", async ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    const pressed = button.getAttribute("aria-pressed") === "true";
    if (button.dataset.save) return void save(button.closest(".save").previousElementSibling, button.dataset.save);
    if (button.dataset.series && highlighting) {
      choose("system", button.dataset.series);
    } else if (button.matches(".coloured")) {
      highlighting = pressed;
      hidden.clear();
      button.setAttribute("aria-pressed", String(!pressed));
    } else if (button.dataset.series) {
      const index = Number(button.dataset.series);
      pressed ? hidden.add(index) : hidden.delete(index);
    } else if (button.dataset.load) {
      choose("load", button.dataset.load);
      document.querySelectorAll(".chosen").forEach((element) => { element.textContent = button.textContent; });
    } else if (button.dataset.system) {
      choose("system", button.dataset.system);
    } else if (button.dataset.choice) {
      const { choice, value } = button.dataset;
      choices[choice] = value;
      document.querySelectorAll(`[data-choice=${choice}]`).forEach((other) => other.setAttribute("aria-pressed", String(other.dataset.value === value)));
      if (choice === "percentile") sayPercentile();
    } else if (button.matches(".fits")) {
      withFits = !pressed;
      button.setAttribute("aria-pressed", String(withFits));
    } else if (button.dataset.plots) {
      button.setAttribute("aria-pressed", String(!pressed));
      button.dataset.plots.split(" ").forEach((id) => { document.getElementById(id).dataset.log = pressed ? "" : "1"; });
    } else if (button.matches(".panel-defaults, .panel-none")) {
      picked = button.matches(".panel-none") ? new Set() : null;
    } else return;
    await unpackChosen();
    pressChips();
    say();
    listPanels();
    drawPanels();
    redraw();
  });

  function addSave(element) {
    const caption = element.closest("figure")?.querySelector("figcaption") ?? element.closest("section").querySelector("h2");
    const name = caption.textContent.replace(/\s+/g, " ").trim();
    // A plot cannot be read aloud; tables have the figures of each trial.
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", `Plot: ${name}`);
    const buttons = ["svg", "png"].map((format) => `<button type="button" data-save="${format}" title="save this plot" aria-label="save ${name.replace(/["<>&]/g, "")} as ${format.toUpperCase()}">${format.toUpperCase()}</button>`);
    element.insertAdjacentHTML("afterend", `<div class="save">${buttons.join("")}</div>`);
  }
  // Without its place the page would move below the reader whenever a plot is drawn.
  function reserve(element) {
    element.style.minHeight = `${element.dataset.height}px`;
    addSave(element);
    seen.observe(element);
  }
  plots.forEach(reserve);
  addEventListener("themechange", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // Paper is light, and shows every plot.
  const root = document.documentElement;
  let theme;
  addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    onPaper = true;
    document.querySelectorAll(".plot").forEach(draw);
  });
  addEventListener("afterprint", () => {
    onPaper = false;
    theme ? root.dataset.theme = theme : delete root.dataset.theme;
    redraw();
  });
  pressChips();
  say();
  if (document.querySelector("[data-choice=percentile]")) sayPercentile();
  listPanels();
  drawPanels();
})();
