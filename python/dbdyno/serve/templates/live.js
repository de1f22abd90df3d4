"use strict";
const EVERY_MS = 1000, SILENT_S = 5;
const byId = (id) => document.getElementById(id);
const all = byId("all");
let shown = {}, gone = false;

function draw(element, figure) {
  element.classList.toggle("empty", !figure);
  if (!figure) {
    Plotly.purge(element);
    element.textContent = "Not known yet.";
    return;
  }
  if (!element.querySelector(".plot-container")) element.textContent = "";
  const layout = onOneAxis(themedLayout(figure, element), element.clientWidth < 600);
  const { showlegend } = figure.layout;
  Plotly.react(element, figure.data, showlegend ? withLegend(layout, figure, element.clientWidth) : layout, { responsive: true, displaylogo: false, displayModeBar: false });
}

// A live region is read aloud when it changes, so it changes only if it says something else.
function say(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text;
}

function stateOf({ state, run, reason, trials, begun, preparing, trial }) {
  if (gone) return "dbdyno does not answer any more: the run ended, or serving was stopped. `dbdyno serve` shows the run again.";
  if (state === "none") return "No run yet. `dbdyno run quickstart` makes one.";
  if (state === "unreadable") return `${run} cannot be read: ${reason}`;
  if (state !== "running") return `The run is ${state}; its last trial is below.`;
  const where = `trial ${begun} of ${trials}`;
  if (preparing) return `${preparing.system}: ${preparing.doing}; then ${begun < trials ? `trial ${begun + 1} of ${trials}` : "it ends"}`;
  if (!trial || trial.state !== "running") return `${where} has ended; the next one is being prepared`;
  return trial.silent_s > SILENT_S ? `${where}: nothing was recorded for ${Math.round(trial.silent_s)} s. Connecting or verifying takes a while; a killed dbdyno says nothing either.` : where;
}

function showTrial(trial) {
  byId("trial").hidden = !trial;
  if (!trial) return;
  const { last, figures } = trial;
  say("title", trial.title);
  const ended = trial.state === "running" ? "" : `${trial.state}${trial.reason ? `: ${trial.reason}` : ""}`;
  say("second", ended || (last ? `${last.warmup ? "warm-up" : "measuring"}, second ${last.second} of ${trial.planned_s}` : "connecting"));
  say("now-throughput", last?.throughput ?? "–");
  say("now-p50", last?.p50 ?? "–");
  say("now-p99", last?.p99 ?? "–");
  say("now-errors", trial.errors.toLocaleString("en"));
  say("time", trial.open ? "response time in an open loop" : "service time in a closed loop");
  byId("first-errors").hidden = !trial.first_errors.length;
  byId("first-errors").replaceChildren(...trial.first_errors.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  ["throughput", "latency", "errors", "budget"].forEach((id) => draw(byId(id), figures[id]));
}

function showPanels(observed) {
  const everything = all.getAttribute("aria-pressed") === "true", place = document.querySelector(".panels");
  const panels = (observed?.panels ?? []).filter((panel) => everything || panel.default);
  byId("observed").hidden = !observed;
  const kept = new Map([...place.children].map((figure) => [figure.dataset.name, figure]));
  place.replaceChildren(...panels.map((panel) => kept.get(panel.name) ?? newPanel(panel)));
  panels.forEach((panel, number) => {
    const figure = panelFigure(panel, observed.times);
    figure.layout.xaxis = { range: shown.trial.figures.throughput.layout.xaxis.range, zeroline: false };
    draw(place.children[number].querySelector(".plot"), figure);
  });
}

function newPanel(panel) {
  const figure = document.createElement("figure");
  figure.dataset.name = panel.name;
  figure.appendChild(document.createElement("figcaption")).textContent = titleOf(panel);
  const plot = figure.appendChild(document.createElement("div"));
  plot.className = "plot";
  plot.dataset.height = 140;
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", `Plot: ${titleOf(panel)}`);
  return figure;
}

function show() {
  say("experiment", shown.experiment ?? "Live");
  say("question", shown.question ?? "");
  say("state", stateOf(shown));
  byId("share").hidden = !shown.trials;
  byId("share").value = shown.trials ? shown.begun / shown.trials : 0;
  document.body.dataset.state = gone ? "gone" : shown.state;
  showTrial(shown.trial);
  showPanels(shown.trial?.observed);
}

async function look() {
  // A page that nobody sees asks for nothing.
  if (!document.hidden) {
    try {
      const answer = await fetch("/live.json");
      gone = !answer.ok;
      if (answer.ok) shown = await answer.json();
    } catch {
      gone = true;
    }
    show();
  }
  setTimeout(look, EVERY_MS);
}

all.addEventListener("click", () => {
  all.setAttribute("aria-pressed", String(all.getAttribute("aria-pressed") !== "true"));
  show();
});
addEventListener("themechange", show);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
look();
