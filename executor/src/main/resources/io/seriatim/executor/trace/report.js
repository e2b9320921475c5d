window.addEventListener("error", event => { document.documentElement.dataset.error = event.message; });
const drawElement = (parent, name, attributes, content) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) {
    element.setAttribute(key, attributes[key]);
  }
  if (content !== undefined) {
    element.textContent = content;
  }
  return parent.appendChild(element);
};

document.querySelectorAll("section.timeline").forEach(section => {
  "use strict";
  const svg = section.querySelector("svg");
  const data = JSON.parse(section.querySelector("script").textContent);
  const bars = svg.querySelector(".bars");
  const axis = svg.querySelector(".axis");
  const whole = [bars.innerHTML, axis.innerHTML];
  const note = section.querySelector("output");
  const idle = note.textContent;
  const bottom = Math.max(...data.rows.map(row => row.y + row.height)) + 9;
  const shortest = 20;
  let from = 0;
  let to = data.length;

  const rows = data.rows.map(row => {
    const n = row.bars.length / 3;
    const start = new Float64Array(n);
    let reached = 0;
    for (let i = 0; i < n; i++) {
      start[i] = reached + row.bars[3 * i];
      reached = start[i] + row.bars[3 * i + 1];
    }
    return { y: row.y, height: row.height, start, length: i => row.bars[3 * i + 1], label: i => row.bars[3 * i + 2] };
  });

  const x = time => data.left + (time - from) * data.width / (to - from);

  const text = nanos => {
    const units = ["ns", "µs", "ms", "s"];
    let unit = 0;
    while (nanos >= 999.5 && unit < 3) {
      nanos /= 1000;
      unit++;
    }
    return nanos.toFixed(unit === 0 || nanos >= 99.95 ? 0 : nanos >= 9.995 ? 1 : 2) + " " + units[unit];
  };

  const rect = (parent, row, begin, end, style, title) => {
    const box = drawElement(parent, "rect", { class: style, x: x(begin), y: row.y, width: Math.max(0.8, x(end) - x(begin)), height: row.height });
    drawElement(box, "title", {}, title);
  };

  const single = (parent, row, i) => {
    const label = data.labels[row.label(i)];
    const end = row.start[i] + row.length(i);
    rect(parent, row, row.start[i], end, data.styles[row.label(i)], label + ", " + text(row.length(i)));
    const left = Math.max(data.left, x(row.start[i]));
    const fits = Math.floor((x(end) - left - 6) / 6);
    if (fits > 4 && data.styles[row.label(i)].startsWith("c")) {
      const shown = label.length <= fits ? label : label.slice(0, fits - 1) + "…";
      drawElement(parent, "text", { x: left + 4, y: row.y + row.height - 9 }, shown);
    }
  };

  const first = row => {
    let low = 0;
    let high = row.start.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row.start[middle] + row.length(middle) < from) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };

  const drawRow = (parent, row) => {
    let count = 0;
    let begin = 0;
    let end = 0;
    let busy = {};
    const flush = () => {
      if (count > 0) {
        const style = Object.keys(busy).reduce((a, b) => busy[b] > busy[a] ? b : a);
        const sum = Object.values(busy).reduce((a, b) => a + b);
        rect(parent, row, begin, end, style, count + (count === 1 ? " interval, " : " intervals, ") + text(sum));
      }
      count = 0;
    };
    for (let i = first(row); i < row.start.length && row.start[i] <= to; i++) {
      const stop = row.start[i] + row.length(i);
      const narrow = x(stop) - x(row.start[i]) < 1;
      if (count > 0 && (!narrow || x(row.start[i]) - x(end) >= 1)) {
        flush();
      }
      if (!narrow) {
        single(parent, row, i);
        continue;
      }
      if (count++ === 0) {
        begin = row.start[i];
        busy = {};
      }
      end = stop;
      const style = data.styles[row.label(i)];
      busy[style] = (busy[style] || 0) + row.length(i);
    }
    flush();
  };

  const drawAxis = () => {
    const least = (to - from) / 8;
    const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= least) || power;
    axis.textContent = "";
    for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
      drawElement(axis, "path", { d: "M" + x(time) + " 4V" + bottom });
      drawElement(axis, "text", { x: x(time), y: bottom + 14 }, text(time));
    }
  };

  let asked = false;
  const draw = () => {
    asked = false;
    if (from <= 0 && to >= data.length) {
      bars.innerHTML = whole[0];
      axis.innerHTML = whole[1];
      return;
    }
    bars.textContent = "";
    rows.forEach(row => drawRow(bars, row));
    drawAxis();
  };

  const show = (begin, end) => {
    const length = Math.min(data.length, Math.max(shortest, end - begin));
    from = Math.max(0, Math.min(begin, data.length - length));
    to = from + length;
    if (!asked) {
      asked = true;
      requestAnimationFrame(draw);
    }
  };

  const timeAt = event => {
    const box = svg.getBoundingClientRect();
    const place = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    return from + Math.min(1, Math.max(0, (place - data.left) / data.width)) * (to - from);
  };

  const zoom = (centre, factor) => show(centre - (centre - from) * factor, centre + (to - centre) * factor);

  svg.addEventListener("wheel", event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) {
      event.preventDefault();
      zoom(timeAt(event), (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8);
    }
  }, { passive: false });

  let held = null;
  svg.addEventListener("pointerdown", event => { held = timeAt(event); svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointerup", () => { held = null; });
  svg.addEventListener("pointermove", event => {
    if (held !== null) {
      const moved = held - timeAt(event);
      show(from + moved, to + moved);
    }
  });
  svg.addEventListener("dblclick", event => zoom(timeAt(event), 0.25));
  svg.addEventListener("mouseover", event => {
    const title = event.target.querySelector(":scope > title");
    note.textContent = title ? title.textContent : idle;
  });

  const middle = () => (from + to) / 2;
  section.querySelector("button.in").addEventListener("click", () => zoom(middle(), 0.5));
  section.querySelector("button.out").addEventListener("click", () => zoom(middle(), 2));
  section.querySelector("button.whole").addEventListener("click", () => show(0, data.length));
  section.querySelectorAll("button").forEach(button => { button.hidden = false; });
});
