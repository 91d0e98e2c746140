"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const grid = byId("grid"), card = byId("card"), form = byId("filters");
  const heads = [...grid.tHead.rows[1].cells], groups = [...grid.tHead.rows[0].cells].slice(1);
  const rows = [...grid.tBodies[0].rows].map((row) => [...row.cells]);
  const counts = [...grid.tFoot.rows[0].cells].slice(1);
  const lines = data.releases.map((one) => one.version.split(".").slice(0, 2).join("."));

  // What a cell shows: the atlas' verdict, or the store's on the device that was chosen.
  let device = "";
  const seenAt = (row, column) => data.cases[row].seen[column] || [];
  const codeAt = (row, column) => {
    if (!device) return data.cases[row].cells[column];
    const seen = seenAt(row, column).find((one) => data.devices[one[0]] === device);
    return seen ? seen[1] : "o";
  };
  const disputed = (row, column) => rows[row][column + 1].classList.contains("disputed");
  const wordAt = (row, column) => (device && codeAt(row, column) === "o" ? "not recorded" : data.verdicts[codeAt(row, column)][1]);

  function draw() {
    rows.forEach((cells, row) => cells.slice(1).forEach((cell, column) => {
      const code = codeAt(row, column);
      cell.className = cell.className.replace(/\bv-./, `v-${code}`);
      cell.textContent = data.verdicts[code][0];
      cell.setAttribute("aria-label", `${data.cases[row].id} on ${data.releases[column].version}: ${wordAt(row, column)}`);
    }));
  }

  // Filters. Their state stands in the address, so that a filtered map can be linked to.
  const field = (name) => byId(`f-${name}`);
  const picked = () => [...form.elements.verdict ? form.querySelectorAll("[name=verdict]:checked") : []].map((box) => box.value);
  const first = data.releases[0]?.version, last = data.releases.at(-1)?.version;

  function columnsShown() {
    const versions = data.releases.map((one) => one.version);
    const ends = [versions.indexOf(field("from").value), versions.indexOf(field("to").value)].sort((a, b) => a - b);
    return versions.map((_, column) => ends[0] <= column && column <= ends[1]);
  }

  function filter() {
    device = field("device").value;
    draw();
    const columns = columnsShown(), verdicts = picked(), words = field("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    let kept = 0;
    rows.forEach((cells, row) => {
      const text = words.every((word) => data.cases[row].text.includes(word));
      const has = columns.some((shown, column) => shown && verdicts.includes(codeAt(row, column)));
      const shown = text && (!verdicts.length || has);
      cells[0].parentNode.hidden = !shown;
      document.querySelector(`#list [data-case="${data.cases[row].id}"]`).hidden = !shown;
      kept += shown;
      cells.slice(1).forEach((cell, column) => {
        cell.hidden = !columns[column];
        cell.classList.toggle("faint", verdicts.length > 0 && !verdicts.includes(codeAt(row, column)));
      });
    });
    [heads, counts].forEach((cells) => cells.forEach((cell, column) => { cell.hidden = !columns[column]; }));
    groups.forEach((group) => {
      const wide = columns.filter((shown, column) => shown && lines[column] === group.textContent).length;
      group.hidden = !wide;
      group.colSpan = wide || 1;
    });
    const many = columns.filter(Boolean).length;
    byId("shown").textContent = `${kept} of ${rows.length} cases, ${many} of ${columns.length} releases`;
    byId("nothing").hidden = kept > 0;
    byId("scroll").hidden = !kept;
    hide();
    aim();
  }

  function address() {
    const state = new URLSearchParams();
    if (field("text").value) state.set("text", field("text").value);
    if (picked().length) state.set("verdict", picked().map((code) => data.verdicts[code][1].replace(" ", "-")).join(","));
    if (field("from").value !== first) state.set("from", field("from").value);
    if (field("to").value !== last) state.set("to", field("to").value);
    if (field("device").value) state.set("device", field("device").value);
    history.replaceState(null, "", `#${state.size ? state : "map"}`);
  }

  function restore(state) {
    const asked = (state.get("verdict") || "").split(",").map((word) => word.replace("-", " "));
    const choose = (name, value) => {
      const known = [...field(name).options].some((option) => option.value === value);
      if (known) field(name).value = value;
    };
    field("text").value = state.get("text") || "";
    form.querySelectorAll("[name=verdict]").forEach((box) => { box.checked = asked.includes(data.verdicts[box.value][1]); });
    choose("from", first); choose("to", last); choose("device", "");
    ["from", "to", "device"].forEach((name) => choose(name, state.get(name)));
  }

  // The card: what a cell rests on, and what is beside it.
  const make = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const chip = (code, words) => {
    const made = make("span", undefined, `chip v-${code}`);
    const letter = make("b", data.verdicts[code][0] || "·");
    letter.setAttribute("aria-hidden", "true");
    made.append(letter, ` ${words}`);
    return made;
  };

  function evidence(row, column) {
    const found = seenAt(row, column).filter((one) => !device || data.devices[one[0]] === device);
    if (!found.length) {
      const own = data.cases[row].own[column] === "1";
      return [make("p", own && !device ? "The atlas says so; the store of this machine has no probe of it." : "Nothing is recorded.", "quiet")];
    }
    // Devices that showed the same stand together.
    const alike = new Map();
    found.forEach((one) => {
      const key = one.slice(1, 4).join();
      alike.set(key, [...(alike.get(key) || []), one]);
    });
    return [...alike.values()].flatMap((group) => {
      const [, code, title, frame] = group[0];
      const head = make("p", `${group.map((one) => data.devices[one[0]]).join(", ")}: `);
      head.append(chip(code, data.verdicts[code][1]));
      if (disputed(row, column) && group.some((one) => data.devices[one[0]] === data.measured_on)) head.append(make("b", " ≠ the atlas", "alarm"));
      const parts = [head];
      if (data.texts[title]) parts.push(make("p", data.texts[title]));
      if (data.texts[frame]) parts.push(make("code", data.texts[frame], "frame"));
      group.forEach(([on, , , , environment, when, current]) => {
        const where = `${data.devices[on]}: recorded ${data.texts[when]}, environment ${data.texts[environment]}`;
        const aside = data.unasked[on] ? "not compared with today's" : "under other conditions than today's";
        parts.push(make("p", current ? where : `${where}, ${aside}`, "quiet small"));
      });
      return parts;
    });
  }

  function neighbours(row, column) {
    const list = make("dl"), one = data.releases[column];
    const tell = (title, place) => {
      const value = make("dd", `${data.releases[place].version} `);
      value.append(chip(codeAt(row, place), wordAt(row, place)));
      list.append(make("dt", title), value);
    };
    if (one.parent !== null) tell("before", one.parent);
    one.children.forEach((place) => tell(lines[place] === lines[column] ? "after" : "after, main line", place));
    if (one.beside !== null) tell("main line, next", one.beside);
    return list;
  }

  let under = null, leaving = 0;
  function show(cell, row, column) {
    clearTimeout(leaving);
    if (under) under.removeAttribute("aria-describedby");
    mark(false);
    under = cell;
    const title = make("h2", `${data.cases[row].id} on ${data.releases[column].version} `);
    title.append(chip(codeAt(row, column), wordAt(row, column)));
    card.replaceChildren(title, ...evidence(row, column), neighbours(row, column));
    card.hidden = false;
    cell.setAttribute("aria-describedby", "card");
    mark(true);
    place();
  }
  function place() {
    if (!under) return;
    const at = under.getBoundingClientRect(), size = card.getBoundingClientRect();
    // Aslant of the cell, so that its row and its column stay free for the pointer.
    const right = at.right + 8 + size.width < innerWidth, below = at.bottom + 8 + size.height < innerHeight;
    card.style.left = `${Math.max(4, right ? at.right + 8 : at.left - 8 - size.width)}px`;
    card.style.top = `${Math.max(4, below ? at.bottom + 8 : at.top - 8 - size.height)}px`;
  }
  function mark(on) {
    if (!under) return;
    under.parentNode.classList.toggle("here", on);
    heads[under.cellIndex - 1].classList.toggle("here", on);
  }
  function hide() {
    mark(false);
    if (under) under.removeAttribute("aria-describedby");
    under = null;
    card.hidden = true;
  }
  const leave = () => { leaving = setTimeout(hide, 150); };
  const placeOf = (target) => {
    const cell = target.closest?.("tbody td");
    return cell && grid.contains(cell) ? [cell, rows.findIndex((cells) => cells.includes(cell)), cell.cellIndex - 1] : null;
  };
  grid.addEventListener("mouseover", (event) => { const at = placeOf(event.target); if (at) show(...at); else leave(); });
  grid.addEventListener("mouseleave", leave);
  grid.addEventListener("focusin", (event) => { const at = placeOf(event.target); if (at) show(...at); else hide(); });
  grid.addEventListener("focusout", leave);
  // A finger has nothing to hover with: its first tap shows the card, the second one opens the case.
  let looking = false;
  grid.addEventListener("pointerdown", (event) => { looking = event.pointerType === "touch" && placeOf(event.target)?.[0] !== under; });
  grid.addEventListener("click", (event) => {
    const at = placeOf(event.target);
    if (at && looking) show(...at);
    else if (at) location.hash = `case=${data.cases[at[1]].id}`;
    looking = false;
  });
  card.addEventListener("mouseenter", () => clearTimeout(leaving));
  card.addEventListener("mouseleave", leave);
  byId("scroll").addEventListener("scroll", place);
  addEventListener("scroll", place);

  // One stop for the tab key: arrows go on from there, headers included.
  grid.setAttribute("role", "grid");
  const stops = [[null, ...heads.map((head) => head.firstElementChild)], ...rows.map((cells) => [cells[0].firstElementChild, ...cells.slice(1)])];
  stops.flat().forEach((stop) => stop?.setAttribute("tabindex", "-1"));
  const visible = (stop) => stop && !stop.closest("[hidden]");
  let stop = null;
  function aim(next) {
    const chosen = next || (visible(stop) ? stop : stops.slice(1).flatMap((line) => line.slice(1)).find(visible));
    stop?.setAttribute("tabindex", "-1");
    stop = chosen || null;
    stop?.setAttribute("tabindex", "0");
    return stop;
  }
  function step(down, right) {
    let row = stops.findIndex((line) => line.includes(stop)), column = stops[row].indexOf(stop);
    do { row += down; column += right; } while (stops[row]?.[column] !== undefined && !visible(stops[row][column]));
    return visible(stops[row]?.[column]) ? stops[row][column] : stop;
  }
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  grid.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { hide(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || !stop) return;
    const line = stops.find((one) => one.includes(stop));
    let next = null;
    if (steps[event.key]) next = step(...steps[event.key]);
    else if (event.key === "Home") next = line.find(visible);
    else if (event.key === "End") next = line.findLast(visible);
    else if (event.key === "Enter" && placeOf(event.target)) event.target.click();
    if (!next) return;
    event.preventDefault();
    aim(next).focus();
  });
  grid.addEventListener("focusin", (event) => { if (stops.flat().includes(event.target)) aim(event.target); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });

  // Pages, by the part of the address behind #.
  const title = document.title;
  function route(event) {
    const state = new URLSearchParams(location.hash.slice(1));
    const wanted = ["case", "release"].find((kind) => state.has(kind) && byId(`${kind}=${state.get(kind)}`));
    const page = wanted && byId(`${wanted}=${state.get(wanted)}`);
    document.querySelectorAll(".page.open").forEach((one) => one.classList.remove("open"));
    page?.classList.add("open");
    document.body.dataset.view = wanted || "map";
    document.title = page ? `${state.get(wanted)} · ${title}` : title;
    hide();
    if (!page && [...state.keys()].some((key) => ["text", "verdict", "from", "to", "device"].includes(key))) restore(state);
    filter();
    reach();
    if (!event) { if (page) scrollTo(0, 0); return; }
    scrollTo(0, 0);
    const heading = (page || byId("map")).querySelector("h1, h2");
    if (!document.activeElement?.matches("header select")) heading.focus({ preventScroll: true });
  }
  // What is wider than the window is scrolled by keys too.
  function reach() {
    document.querySelectorAll(".wide, pre").forEach((box) => {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  }
  addEventListener("resize", reach);
  // In a narrow window a table's rows stand as blocks, and each cell says itself what it is.
  document.querySelectorAll(".list:not(.stages)").forEach((table) => {
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    [...table.tBodies[0].rows].forEach((row) => [...row.cells].forEach((cell) => {
      if (cell.textContent.trim()) cell.dataset.label = names[cell.cellIndex];
    }));
  });
  addEventListener("hashchange", route);
  ["case", "release"].forEach((kind) => byId(`go-${kind}`).addEventListener("change", (event) => {
    if (event.target.value) location.hash = `${kind}=${event.target.value}`;
  }));
  const change = () => { filter(); address(); };
  form.addEventListener("input", change);
  form.addEventListener("reset", () => setTimeout(change));
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("again").addEventListener("click", () => form.reset());
  route();
})();
