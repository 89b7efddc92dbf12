// Charts: stacked bars, drawn from the numbers of a table. The table is what screen readers and print have.
"use strict";

// What is drawn first stands behind: each is as high as itself and those after it.
const STACK = ["skipped", "succeeded", "unknown", "failed"];
const HEIGHT = 220;

function readTable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...table.tBodies[0].rows];
  const columns = {};
  heads.forEach((head, place) => {
    if (head.dataset.series) columns[head.dataset.series] = rows.map((row) => Number(row.cells[place].querySelector("data").value));
  });
  const words = rows.map((row) => {
    const numbers = heads.slice(1).map((head, place) => `${row.cells[place + 1].textContent.trim()} ${head.textContent.trim()}`);
    return `${row.cells[0].textContent.trim()}: ${numbers.join(", ")}`;
  });
  const days = rows.map((row) => row.cells[0].textContent.trim());
  const links = rows.map((row) => row.cells[0].querySelector("a").href);
  return { columns, days, words, links };
}

function stacked(columns, count) {
  const heights = STACK.map((_, place) =>
    Array.from({ length: count }, (_, index) => STACK.slice(place).reduce((sum, name) => sum + columns[name][index], 0)));
  return [Array.from({ length: count }, (_, index) => index), ...heights];
}

function draw(figure) {
  const { columns, days, words, links } = readTable(document.getElementById(figure.dataset.chart));
  const plot = figure.querySelector(".plot");
  const reading = figure.querySelector(".reading");
  // Colours are those of the style, as they are at the time of drawing.
  const colour = (name) => getComputedStyle(figure.querySelector(`.swatch-${name}`), "::before").backgroundColor;
  const textColour = () => getComputedStyle(reading).color;
  const lineColour = () => getComputedStyle(figure).borderTopColor;
  const font = `12px ${getComputedStyle(figure).fontFamily}`;
  const axis = { stroke: textColour, font, ticks: { show: false } };
  figure.hidden = false;
  const chart = new uPlot({
    width: plot.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false, x: false }, points: { show: false } },
    scales: {
      x: { time: false, range: () => [-0.6, days.length - 0.4] },
      y: { range: (_, _low, high) => [0, Math.max(high * 1.1, 4)] },
    },
    axes: [
      { ...axis, grid: { show: false }, space: 60, size: 30, incrs: [1, 2, 5, 7, 10, 14, 30], values: (_, places) => places.map((place) => (days[place] || "").slice(5)) },
      { ...axis, grid: { stroke: lineColour, width: 1 }, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6, 1e7], size: 56 },
    ],
    series: [{}, ...STACK.map((name) => ({
      fill: () => colour(name), width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.7, 48] }),
    }))],
    hooks: { setCursor: [(self) => { reading.textContent = self.cursor.idx == null ? "" : words[self.cursor.idx]; }] },
  }, stacked(columns, days.length), plot);
  chart.over.addEventListener("click", () => {
    if (chart.cursor.idx != null) location.assign(links[chart.cursor.idx]);
  });
  new ResizeObserver(() => {
    if (plot.clientWidth && plot.clientWidth !== chart.width) chart.setSize({ width: plot.clientWidth, height: HEIGHT });
  }).observe(plot);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart.redraw());
}

for (const figure of document.querySelectorAll("[data-chart]")) {
  draw(figure);
  figure.parentElement.querySelector("[data-chart-numbers]").open = false;
}
