(() => {
  "use strict";
  const colours = 8;
  const outside = 0.01;

  /** Charts along the same thing, such as steps, are looked at together: the part that is shown, and the place that is pointed at. */
  const groups = new Map();
  const group = along => {
    if (!groups.has(along)) {
      groups.set(along, { charts: [], from: null, to: null });
    }
    return groups.get(along);
  };

  const grouped = (value, digits) => value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

  const place = at => grouped(at, Number.isInteger(at) ? 0 : 2);

  const sizes = ["B", "KiB", "MiB", "GiB", "TiB"];

  const bytes = value => {
    let size = 0;
    while (value >= 999.5 && size < sizes.length - 1) {
      value /= 1024;
      size++;
    }
    return value.toFixed(size === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + " " + sizes[size];
  };

  const written = (unit, value) => {
    if (!Number.isFinite(value)) {
      return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
    }
    const size = Math.abs(value);
    if (unit === "share") {
      return (100 * value).toFixed(2) + " %";
    } else if (unit === "bytes") {
      return bytes(value);
    } else if (size >= 9999.5) {
      return grouped(value, 0);
    } else if (size > 0 && size < 1e-3) {
      return value.toExponential(2);
    }
    return value.toFixed(Math.max(0, 4 - (size < 1 ? 1 : Math.floor(Math.log10(size)) + 1)));
  };

  /** The next smaller one of 1, 2 or 5 times a power of ten. */
  const smaller = step => {
    const power = 10 ** Math.floor(Math.log10(step) + 1e-9);
    return step > 4 * power ? 2 * power : step > 1.5 * power ? power : power / 2;
  };

  const linearTicks = (from, to, unit, most, whole) => {
    let factor = 1;
    let suffix = "";
    if (unit === "share") {
      factor = 100;
      suffix = " %";
    } else if (unit === "bytes") {
      let size = 0;
      while (to * factor >= 1024 && size < sizes.length - 1) {
        factor /= 1024;
        size++;
      }
      suffix = " " + sizes[size];
    }
    const least = (to - from) * factor / most;
    const power = 10 ** Math.floor(Math.log10(least));
    const even = [1, 2, 5, 10].map(each => each * power).find(each => each >= least) || 10 * power;
    const step = whole ? Math.max(1, even) : even;
    const at = step => {
      const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      const ticks = [];
      for (let i = Math.ceil(from * factor / step); i * step <= to * factor && ticks.length <= 3 * most; i++) {
        const value = i * step + 0;
        ticks.push([value / factor, (decimals > 5 || step >= 1e9 ? value.toExponential(1) : grouped(value, decimals)) + suffix]);
      }
      return ticks;
    };
    const ticks = at(step);
    // One tick does not show the scale.
    return ticks.length < 2 && !(whole && step === 1) ? at(smaller(step)) : ticks;
  };

  const logTicks = (from, to, unit, most) => {
    const ticks = [];
    for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++) {
      [1, 2, 5].map(each => each * 10 ** power).filter(each => each >= from && each <= to).forEach(each => ticks.push(each));
    }
    const tens = ticks.filter(each => Math.abs(Math.log10(each) - Math.round(Math.log10(each))) < 1e-9);
    const few = ticks.length <= 2 * most ? ticks : tens;
    return few.length < 3 ? linearTicks(from, to, unit, most, false) : few.map(each => [each, written(unit, each)]);
  };

  /** The number of places before one. */
  const before = (at, value) => {
    let low = 0;
    let high = at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at[middle] < value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };

  const nearest = (at, value) => {
    const after = before(at, value);
    return after === 0 ? 0 : after === at.length || value - at[after - 1] <= at[after] - value ? after - 1 : after;
  };

  const chart = figure => {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const svg = figure.querySelector("svg");
    const label = svg.getAttribute("aria-label");
    const logButton = figure.querySelector("button.log");
    const wholeButton = figure.querySelector("button.whole");
    const items = [...figure.querySelectorAll(".legend li")];
    const lasts = items.map(item => item.innerHTML);
    const [left, right, top, below] = data.margins;
    const shared = group(data.along);
    data.curves.forEach(curve => {
      curve.values = curve.values.map(Number);
      curve.shown = curve.style === "noisy" ? curve.smoothed.map(Number) : curve.values;
      curve.single = curve.least.length === 0;
      curve.least = curve.single ? curve.values : curve.least.map(Number);
      curve.greatest = curve.single ? curve.values : curve.greatest.map(Number);
    });
    const filled = data.curves.filter(curve => curve.at.length > 0);
    const longest = filled.reduce((a, b) => b.at.length > a.at.length ? b : a);
    const finite = filled.flatMap(curve => curve.least.concat(curve.shown)).concat(data.lines.map(line => line.value)).filter(Number.isFinite);
    let log = false;
    let width = 0;
    let height = 0;
    let x = null;
    let y = null;
    let marks = null;

    const alongRange = () => {
      if (shared.from !== null) {
        return [shared.from, shared.to];
      }
      const from = Math.min(...filled.map(curve => curve.at[0]));
      const to = Math.max(...filled.map(curve => curve.at[curve.at.length - 1]));
      return from === to ? [from - 0.5, to + 0.5] : [from, to];
    };

    const valueRange = (from, to) => {
      let low = data.fromZero ? 0 : Infinity;
      let high = data.fromZero ? 0 : -Infinity;
      const include = value => {
        low = Math.min(low, value);
        high = Math.max(high, value);
      };
      data.lines.forEach(line => include(line.value));
      filled.forEach(curve => {
        const begin = before(curve.at, from);
        const end = before(curve.at, to) + 1;
        const sorted = values => values.slice(begin, end).filter(Number.isFinite).sort((a, b) => a - b);
        const least = sorted(curve.least);
        const greatest = sorted(curve.greatest);
        if (least.length > 0 && greatest.length > 0) {
          const share = curve.style === "noisy" ? outside : 0;
          include(least[Math.floor(least.length * share)]);
          include(greatest[greatest.length - 1 - Math.floor(greatest.length * share)]);
        }
        curve.shown.slice(begin, end).filter(Number.isFinite).forEach(include);
      });
      if (low > high) {
        return log ? [1, 10] : [0, 1];
      }
      if (log) {
        return low === high ? [low / 2, high * 2] : [low / (high / low) ** 0.04, high * (high / low) ** 0.04];
      }
      const margin = low === high ? Math.max(Math.abs(low) / 10, Number.MIN_VALUE) : (high - low) * 0.04;
      let begin = data.fromZero && low >= 0 ? 0 : low - margin;
      let end = low === 0 && high === 0 ? 1 : high + margin;
      if (data.unit === "share") {
        begin = low >= 0 ? Math.max(0, begin) : begin;
        end = high <= 1 ? Math.min(1, end) : end;
      }
      const clamped = (value, least, most) => Math.min(most, Math.max(least, value));
      return [clamped(begin, -1e300, 0.9e300), clamped(end, -0.9e300, 1e300)];
    };

    const path = (at, values, begin, end) => {
      let drawn = "";
      let open = false;
      for (let i = begin; i < end; i++) {
        const isFinite = Number.isFinite(values[i]);
        if (isFinite) {
          drawn += (open ? "L" : "M") + x(at[i]).toFixed(1) + " " + y(values[i]).toFixed(1) + (open ? "" : "h0");
        }
        open = isFinite;
      }
      return drawn;
    };

    /** From the least to the greatest; a shape for each stretch without interruption. */
    const band = (curve, begin, end) => {
      let drawn = "";
      for (let from = begin; from < end; from++) {
        let to = from;
        while (to < end && Number.isFinite(curve.values[to])) {
          to++;
        }
        const corner = (values, i) => x(curve.at[i]).toFixed(1) + " " + y(values[i]).toFixed(1);
        const corners = [];
        for (let i = from; i < to; i++) {
          corners.push(corner(curve.greatest, i));
        }
        for (let i = to - 1; i >= from; i--) {
          corners.push(corner(curve.least, i));
        }
        drawn += corners.length === 0 ? "" : "M" + corners.join("L") + "Z";
        from = to;
      }
      return drawn;
    };

    const drawCurve = (plot, curve, number, from, to) => {
      const begin = Math.max(0, before(curve.at, from) - 1);
      const end = Math.min(curve.at.length, before(curve.at, to) + 2);
      const colour = "s" + number % colours;
      if (!curve.single) {
        drawElement(plot, "path", { class: "band c" + number % colours, d: band(curve, begin, end) });
      } else if (curve.style === "noisy") {
        drawElement(plot, "path", { class: "curve " + colour + " raw", d: path(curve.at, curve.values, begin, end) });
      }
      drawElement(plot, "path", { class: "curve " + colour, d: path(curve.at, curve.shown, begin, end) });
      for (let i = begin; i < end; i++) {
        if (!Number.isFinite(curve.values[i])) {
          const line = drawElement(plot, "path", { class: "broken", d: "M" + x(curve.at[i]) + " " + top + "V" + (height - below) });
          drawElement(line, "title", {}, curve.name + " " + written(data.unit, curve.values[i]));
        } else if (curve.style === "points") {
          drawElement(plot, "circle", { class: "c" + number % colours, cx: x(curve.at[i]), cy: y(curve.values[i]), r: 3 });
        }
      }
      return end - begin;
    };

    const drawLine = (plot, line) => {
      const at = y(line.value);
      drawElement(plot, "path", { class: "baseline", d: "M" + left + " " + at + "H" + (width - right) });
      drawElement(plot, "text", { class: "note end", x: width - right - 4, y: at < top + 16 ? at + 13 : at - 5 }, line.name + " " + written(data.unit, line.value));
    };

    const draw = () => {
      width = Math.max(240, svg.clientWidth);
      height = figure.classList.contains("wide") && width > 700 ? 320 : 220;
      const bottom = height - below;
      const [from, to] = alongRange();
      const [low, high] = valueRange(from, to);
      const scaled = value => log ? Math.log(value) : value;
      x = at => left + (at - from) / (to - from) * (width - left - right);
      y = value => {
        const share = (scaled(value) - scaled(low)) / (scaled(high) - scaled(low));
        return top + (1 - Math.min(3, Math.max(-2, share))) * (height - top - below);
      };
      x.inverse = px => from + (px - left) / (width - left - right) * (to - from);
      svg.textContent = "";
      svg.setAttribute("viewBox", "0 0 " + width + " " + height);
      svg.setAttribute("aria-label", label);
      const across = drawElement(svg, "g", { class: "axis" });
      linearTicks(from, to, "number", Math.max(2, Math.floor(width / 110)), true).forEach(([at, text]) => {
        drawElement(across, "path", { d: "M" + x(at) + " " + top + "V" + bottom });
        drawElement(across, "text", { x: x(at), y: bottom + 16 }, text);
      });
      const up = drawElement(svg, "g", { class: "axis bytes" });
      const most = Math.floor(height / 45);
      (log ? logTicks(low, high, data.unit, most) : linearTicks(low, high, data.unit, most, false)).forEach(([value, text]) => {
        drawElement(up, "path", { d: "M" + left + " " + y(value) + "H" + (width - right) });
        drawElement(up, "text", { x: left - 8, y: y(value) + 4 }, text);
      });
      const inner = width - left - right;
      const plot = drawElement(svg, "svg", { class: "plot", x: left, y: 0, width: inner, height: bottom, viewBox: left + " 0 " + inner + " " + bottom });
      data.lines.forEach(line => drawLine(plot, line));
      figure.dataset.points = data.curves.map((curve, i) => drawCurve(plot, curve, i, from, to)).reduce((a, b) => a + b);
      marks = drawElement(plot, "g", {});
      wholeButton.hidden = shared.from === null;
    };

    const value = (curve, i) => written(data.unit, curve.shown[i]);

    const more = (curve, i, here) => {
      if (!curve.single) {
        return " from " + written(data.unit, curve.least[i]) + " to " + written(data.unit, curve.greatest[i]);
      } else if (curve.style === "noisy") {
        return " raw " + written(data.unit, curve.values[i]);
      }
      return curve.at[i] === here ? "" : " at " + place(curve.at[i]);
    };

    /** Shows the values at a place; without one, the last ones. */
    const point = at => {
      marks.textContent = "";
      if (at === null) {
        items.forEach((item, i) => { item.innerHTML = lasts[i]; });
        return;
      }
      const here = longest.at[nearest(longest.at, at)];
      drawElement(marks, "path", { class: "cursor", d: "M" + x(here) + " " + top + "V" + (height - below) });
      items[0].textContent = data.along + " " + place(here);
      data.curves.forEach((curve, number) => {
        if (curve.at.length === 0) {
          return;
        }
        const i = nearest(curve.at, here);
        if (Number.isFinite(curve.shown[i])) {
          drawElement(marks, "circle", { class: "dot c" + number % colours, cx: x(curve.at[i]), cy: y(curve.shown[i]), r: 4 });
        }
        const item = items[number + 1];
        item.innerHTML = lasts[number + 1];
        item.querySelector("b").textContent = value(curve, i);
        item.appendChild(document.createElement("small")).textContent = more(curve, i, here);
      });
    };

    let pressed = null;
    const select = (from, to) => {
      const begin = Math.max(left, Math.min(from, to));
      const end = Math.min(width - right, Math.max(from, to));
      drawElement(marks, "rect", { class: "selection", x: begin, y: top, width: Math.max(0, end - begin), height: height - top - below });
    };
    const pixel = event => {
      const box = svg.getBoundingClientRect();
      return (event.clientX - box.left) * width / box.width;
    };

    svg.addEventListener("pointerdown", event => {
      pressed = pixel(event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", event => {
      const at = x.inverse(pixel(event));
      shared.charts.forEach(each => each.point(at));
      if (pressed !== null) {
        select(pressed, pixel(event));
      }
    });
    svg.addEventListener("pointerup", event => {
      const from = pressed;
      pressed = null;
      if (from !== null && Math.abs(pixel(event) - from) > 6) {
        const [begin, end] = [from, pixel(event)].map(px => x.inverse(Math.min(width - right, Math.max(left, px)))).sort((a, b) => a - b);
        show(shared, begin, end);
      }
    });
    svg.addEventListener("pointercancel", () => { pressed = null; });
    svg.addEventListener("pointerleave", () => shared.charts.forEach(each => each.point(null)));
    svg.addEventListener("dblclick", () => show(shared, null, null));
    wholeButton.addEventListener("click", () => show(shared, null, null));
    logButton.hidden = data.fromZero || finite.length === 0 || finite.some(each => each <= 0);
    logButton.addEventListener("click", () => {
      log = !log;
      logButton.setAttribute("aria-pressed", String(log));
      draw();
    });
    draw();
    new ResizeObserver(() => {
      if (svg.clientWidth !== width) {
        draw();
      }
    }).observe(figure);
    shared.charts.push({ draw, point });
  };

  const show = (shared, from, to) => {
    shared.from = from;
    shared.to = to;
    shared.charts.forEach(each => each.draw());
  };

  document.querySelectorAll("figure.chart").forEach(figure => {
    if (figure.querySelector("script")) {
      chart(figure);
    }
  });

  document.querySelectorAll("section.graph").forEach(section => {
    const canvas = section.querySelector(".canvas");
    const svg = canvas.querySelector("svg");
    const width = Number(svg.getAttribute("width"));
    const height = Number(svg.getAttribute("height"));
    let scale = 1;
    svg.setAttribute("viewBox", "0 0 " + width + " " + height);

    /** Keeps what is at a place of the canvas there. */
    const zoom = (to, px, py) => {
      const next = Math.min(4, Math.max(0.05, to));
      const moved = [(canvas.scrollLeft + px) * next / scale - px, (canvas.scrollTop + py) * next / scale - py];
      scale = next;
      svg.setAttribute("width", width * scale);
      svg.setAttribute("height", height * scale);
      canvas.scrollTo(...moved);
    };
    const centre = to => zoom(to, canvas.clientWidth / 2, canvas.clientHeight / 2);
    section.querySelector("button.in").addEventListener("click", () => centre(scale * 1.4));
    section.querySelector("button.out").addEventListener("click", () => centre(scale / 1.4));
    section.querySelector("button.whole").addEventListener("click", () => centre(1));
    section.querySelector("button.fit").addEventListener("click", () => zoom(Math.min(1, canvas.clientWidth / width), 0, 0));
    section.querySelectorAll("button").forEach(button => { button.hidden = false; });
    canvas.addEventListener("wheel", event => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const box = canvas.getBoundingClientRect();
        zoom(scale * (event.deltaY > 0 ? 0.85 : 1.18), event.clientX - box.left, event.clientY - box.top);
      }
    }, { passive: false });
    let held = null;
    canvas.addEventListener("pointerdown", event => {
      if (event.pointerType === "mouse" && event.button === 0) {
        held = [event.clientX + canvas.scrollLeft, event.clientY + canvas.scrollTop];
        canvas.setPointerCapture(event.pointerId);
      }
    });
    canvas.addEventListener("pointermove", event => {
      if (held !== null) {
        canvas.scrollTo(held[0] - event.clientX, held[1] - event.clientY);
      }
    });
    canvas.addEventListener("pointerup", () => { held = null; });
  });
})();
