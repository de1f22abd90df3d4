"use strict";
// Functions that draw the plots of every page: of the report and of the live page.

// A custom property holds light-dark(…) as it was written; only a property that uses it has the colour.
const probe = document.body.appendChild(document.createElement("i"));
probe.hidden = true;
function colour(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

const PANEL_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7a2a", "#7d6bc9"];
const LIMIT = ": limit";
const titleOf = ({ name, unit }) => name[0].toUpperCase() + name.slice(1) + (unit ? `, ${unit}` : "");
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

// A panel is one observed quantity over time (report/core/panels.py).
function panelFigure(panel, times) {
  const data = panel.lines.map(([subject, values], index) => ({
    type: "scatter", mode: times.length <= 90 ? "lines+markers" : "lines", x: times,
    y: Array.isArray(values) ? values : times.map(() => values), name: escaped(subject), meta: {},
    line: { width: 1.5, color: PANEL_COLOURS[index % PANEL_COLOURS.length], dash: subject.endsWith(LIMIT) ? "dash" : "solid" },
    marker: { size: 4 }, hovertemplate: `%{y:,.4g} ${panel.unit}`,
  }));
  return { data, layout: { hovermode: "x unified", showlegend: data.length > 1, yaxis: { rangemode: "tozero" }, xaxis: { title: { text: "seconds since the trial began" }, zeroline: false } } };
}

// Plotly takes colours as values, not as CSS variables, so they are set again whenever the page's theme changes.
function themedLayout(figure, element) {
  const narrow = element.clientWidth < 600;
  const axis = { gridcolor: colour("--grid"), linecolor: colour("--line"), zerolinecolor: colour("--line"), automargin: true, fixedrange: narrow };
  const { xaxis: x = {}, yaxis: y = {} } = figure.layout;
  return {
    ...figure.layout,
    xaxis: { ...axis, ...x, title: { ...x.title, standoff: 8 } },
    yaxis: { ...axis, nticks: 6, separatethousands: true, ...y, title: { ...y.title, standoff: 6 } },
    height: figure.layout.height ?? Number(element.dataset.height), autosize: true, showlegend: false, margin: { l: 8, r: 12, t: 12, b: 8 },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: colour("--quiet") },
    hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--text"), size: 12 }, align: "left", namelength: -1 },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, font: { size: 11 } },
  };
}

// Plots over time stand one below the other: a time has the same x in all of them.
function onOneAxis(layout, narrow) {
  Object.assign(layout.xaxis, { automargin: false });
  Object.assign(layout.yaxis, { automargin: false, title: narrow ? {} : layout.yaxis.title });
  return Object.assign(layout, { margin: { l: narrow ? 54 : 72, r: 12, t: 22, b: 42 } });
}

// A legend grows with its names, and the plot grows with it, so they never overlap.
function withLegend(layout, figure, width) {
  const names = new Set(figure.data.filter(({ name, showlegend }) => name && showlegend !== false).map(({ name }) => name));
  const longest = Math.max(...[...names].map((name) => name.length));
  const rows = Math.ceil(names.size / Math.max(1, Math.floor(width / (longest * 6.5 + 46))));
  const top = 19 * rows + 12;
  return { ...layout, showlegend: true, height: layout.height + top - layout.margin.t, margin: { ...layout.margin, t: top } };
}
