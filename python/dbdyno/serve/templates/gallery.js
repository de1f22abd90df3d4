"use strict";
const filter = document.querySelector(".filter"), count = document.querySelector(".count");
const articles = [...document.querySelectorAll("article")];
const chosen = [];

function show() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  articles.forEach((article) => { article.hidden = !words.every((word) => article.dataset.text.includes(word)); });
  const shown = articles.filter(({ hidden }) => !hidden).length;
  count.textContent = shown === articles.length ? "" : `${shown} of ${articles.length}`;
}

function press() {
  document.querySelector(".compare").disabled = chosen.length !== 2;
  document.querySelectorAll(".choose-run").forEach((box) => { box.checked = chosen.includes(box.value); });
}

filter.addEventListener("input", show);
document.querySelector(".gallery").addEventListener("change", ({ target }) => {
  if (target.checked) chosen.push(target.value);
  else chosen.splice(chosen.indexOf(target.value), 1);
  // A third choice takes the place of the first.
  if (chosen.length > 2) chosen.shift();
  press();
});
document.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (chosen.length !== 2) return;
  // The older one is the baseline: the list has the newest first.
  const order = articles.map(({ dataset }) => dataset.run);
  const [candidate, baseline] = [...chosen].sort((one, other) => order.indexOf(one) - order.indexOf(other));
  location.assign(`/compare?${new URLSearchParams({ baseline, candidate })}`);
});
show();
press();
