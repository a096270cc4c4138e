"use strict";
// The error browser. All text reaches the page through textContent, so nothing in a note can become markup.
(() => {
  const PLACES_A_PAGE = 25;
  const TYPE_COLOURS = 12;
  const LINE_ENDS = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;
  const FIRST = "first", ALL = "all", NO_CAUSE = "none";
  const DEFAULTS = { system: "", seed: FIRST, type: "", category: "", cause: "", q: "", page: "1" };
  const FACETS = ["system", "type", "category", "cause"];

  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("error-data").textContent);
  const systems = [...new Set(data.runs.map(([system]) => system))];
  const seeds = [...new Set(data.runs.map(([, seed]) => String(seed)))];
  const choices = {
    system: systems,
    seed: [FIRST, ALL, ...seeds],
    type: data.types,
    category: data.categories,
    cause: [...data.causes, NO_CAUSE],
  };
  let state = { ...DEFAULTS };

  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  // What is searched and compared: lower case without accents, so that "garcia" finds "García".
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/\s+/g, " ").trim();
  const number = (count) => count.toLocaleString("en");
  const counted = (count, one, many) => `${number(count)} ${count === 1 ? one : many}`;

  function isFound(place, query) {
    if (place.text === null) return String(place.document) === query;
    place.searched ??= plain(`${place.text} ${place.document}`);
    return place.searched.includes(query);
  }

  function shownRuns() {
    return data.runs.map(([system, seed], i) => {
      if (state.seed === ALL) return true;
      if (state.seed === FIRST) return i === data.runs.findIndex(([other]) => other === system);
      return String(seed) === state.seed;
    });
  }

  // The places with a matching error, and for each filter how many errors each of its choices would give.
  function search() {
    const shown = shownRuns();
    const query = plain(state.q);
    const found = [];
    const facets = Object.fromEntries(FACETS.map((name) => [name, new Map()]));
    const add = (name, choice) => facets[name].set(choice, (facets[name].get(choice) ?? 0) + 1);
    let errors = 0;
    for (const place of data.places) {
      if (query && !isFound(place, query)) continue;
      let here = 0;
      for (const outcome of place.outcomes) {
        for (const run of outcome.runs) {
          if (!shown[run]) continue;
          for (const error of outcome.errors) {
            const fits = matches(error, data.runs[run][0]);
            const failing = FACETS.filter((name) => !fits[name]);
            if (failing.length === 0) here += 1;
            if (failing.length > 1) continue;
            for (const name of failing.length ? failing : FACETS) {
              for (const choice of values(error, data.runs[run][0])[name]) add(name, choice);
            }
          }
        }
      }
      if (here) found.push(place);
      errors += here;
    }
    return { found, errors, facets, shown };
  }

  function values([category, type, causes], system) {
    return { system: [system], type: [type], category: [category], cause: causes.length ? causes : [NO_CAUSE] };
  }

  function matches(error, system) {
    const own = values(error, system);
    return Object.fromEntries(FACETS.map((name) => [name, !state[name] || own[name].includes(state[name])]));
  }

  const matchesAll = (error, system) => Object.values(matches(error, system)).every(Boolean);

  // Offsets are code points: JavaScript counts some characters as two.
  function markedText(place, spans) {
    const characters = Array.from(place.text);
    const said = (from, to) =>
      characters.slice(from - place.start, to - place.start).join("").replace(LINE_ENDS, " ⏎ ");
    const end = place.start + characters.length;
    const edges = [...new Set([place.start, end, ...spans.flatMap(([from, to]) => [from, to])])].sort((a, b) => a - b);
    const line = element("p", "text", place.cut[0] ? "…" : "");
    for (let i = 0; i + 1 < edges.length; i += 1) {
      const [from, to] = [edges[i], edges[i + 1]];
      const over = spans.filter((span) => span[0] <= from && span[1] >= to);
      const ending = over.filter((span) => span[1] === to);
      if (!over.length) {
        line.append(said(from, to));
        continue;
      }
      const inner = over.reduce((best, span) => (span[1] - span[0] < best[1] - best[0] ? span : best));
      line.append(mark(inner[2], said(from, to), ending.map((span) => span[2])));
    }
    line.append(place.cut[1] ? "…" : "");
    return line;
  }

  function mark(type, text, names) {
    const tags = names.map((name) => element("span", "tag", name));
    return element("mark", `t${data.types.indexOf(type) % TYPE_COLOURS}`, text, ...tags);
  }

  function marks(place, spans) {
    if (place.text !== null) return markedText(place, spans);
    const line = element("p", "text");
    for (const [from, to, type] of spans) line.append(mark(type, `${from}–${to}`, [type]), " ");
    return line;
  }

  function names(runs) {
    const found = new Map();
    for (const run of runs) {
      const [system, seed] = data.runs[run];
      found.set(system, [...(found.get(system) ?? []), seed]);
    }
    return [...found].map(([system, own]) => {
      const several = data.runs.filter(([other]) => other === system).length > 1;
      if (!several || state.seed !== ALL) return system;
      return `${system} (seed${own.length > 1 ? "s" : ""} ${own.join(", ")})`;
    });
  }

  function outcomeRow(place, outcome, runs) {
    const said = element("p", "said");
    if (!outcome.errors.length) said.append(element("span", "badge right", "✓ right"));
    for (const [category, type, causes] of outcome.errors) {
      const why = causes.length ? `: ${causes.join(", ")}` : "";
      said.append(element("span", "badge", `✗ ${type} ${category}${why}`));
    }
    if (!outcome.spans.length) said.append(element("span", "quiet", "marks nothing here"));
    const who = element("dt", "");
    names(runs).forEach((name, i, all) => who.append(element("span", "", name + (i + 1 < all.length ? "," : "")), " "));
    const row = element("div", "", who, element("dd", "", said));
    if (outcome.errors.length && outcome.spans.length) row.lastChild.append(marks(place, outcome.spans));
    const match = runs.some((run) => outcome.errors.some((error) => matchesAll(error, data.runs[run][0])));
    row.classList.toggle("match", match);
    return row;
  }

  function card(place, shown) {
    const gold = element("dd", "", marks(place, place.gold));
    if (!place.gold.length) gold.prepend(element("p", "said quiet", "marks nothing here"));
    const rows = element("dl", "", element("div", "", element("dt", "", "Gold"), gold));
    for (const outcome of place.outcomes) {
      const runs = outcome.runs.filter((run) => shown[run]);
      if (runs.length) rows.append(outcomeRow(place, outcome, runs));
    }
    const name = typeof place.document === "number" ? `document ${place.document}` : place.document;
    const spans = [place.gold, ...place.outcomes.map((outcome) => outcome.spans)].flat();
    const [from, to] = [Math.min(...spans.map((span) => span[0])), Math.max(...spans.map((span) => span[1]))];
    const where = element("p", "where", element("b", "", name), `, characters ${from}–${to}`);
    if (place.why) {
      const link = element("a", "", "why?");
      link.href = place.why;
      where.append(" ", link);
    }
    return element("li", "", where, rows);
  }

  // The options stay and only their numbers change, so that a screen reader keeps its place.
  function fillSelect(name, facet) {
    const select = byId(`filter-${name}`);
    if (!select.options.length) select.append(new Option(`any ${name}`, ""), ...choices[name].map((c) => new Option(c, c)));
    for (const option of [...select.options].slice(1)) {
      const said = option.value === NO_CAUSE ? "no cause named" : option.value;
      option.textContent = `${said} (${number(facet.get(option.value) ?? 0)})`;
    }
    select.value = state[name];
  }

  function fillSeeds() {
    const said = { [FIRST]: "each system's first", [ALL]: "all seeds" };
    byId("filter-seed").replaceChildren(...choices.seed.map((value) => new Option(said[value] ?? `seed ${value}`, value)));
    byId("filter-seed").value = state.seed;
    byId("seed-box").hidden = data.runs.length === systems.length;
  }

  function show() {
    const { found, errors, facets, shown } = search();
    const pages = Math.max(1, Math.ceil(found.length / PLACES_A_PAGE));
    const page = Math.min(Math.max(1, Number(state.page) || 1), pages);
    state.page = String(page);
    for (const name of FACETS) fillSelect(name, facets[name]);
    const here = found.slice((page - 1) * PLACES_A_PAGE, page * PLACES_A_PAGE);
    byId("places").replaceChildren(...here.map((place) => card(place, shown)));
    byId("places").start = (page - 1) * PLACES_A_PAGE + 1;
    byId("error-count").textContent = found.length
      ? `${counted(errors, "error", "errors")} at ${counted(found.length, "place", "places")}`
      : data.places.length ? "No error matches: change or reset the filters." : "No system made any error.";
    byId("page").textContent = `Page ${number(page)} of ${number(pages)}`;
    byId("pages").hidden = pages === 1;
    byId("previous").disabled = page === 1;
    byId("next").disabled = page === pages;
    writeAddress();
  }

  function writeAddress() {
    const changed = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name]);
    const address = changed.length ? `#errors?${new URLSearchParams(changed)}` : "#errors";
    if (!changed.length && !location.hash.includes("?")) return;
    try {
      history.replaceState(null, "", address);
    } catch {
      // A mail program's viewer may forbid it: the page works without an address to share.
    }
  }

  function readAddress() {
    const given = new URLSearchParams(location.hash.split("?")[1] ?? "");
    state = { ...DEFAULTS };
    for (const name of Object.keys(DEFAULTS)) {
      const value = given.get(name);
      if (value !== null && (!choices[name] || choices[name].includes(value))) state[name] = value;
    }
    byId("filter-q").value = state.q;
    byId("filter-seed").value = state.seed;
  }

  function change(name, value) {
    state = { ...state, page: "1", [name]: value };
    show();
  }

  function turn(by) {
    state.page = String(Number(state.page) + by);
    show();
    byId("error-count").focus({ preventScroll: true });
    byId("error-count").scrollIntoView();
  }

  function start() {
    fillSeeds();
    readAddress();
    for (const name of [...FACETS, "seed"]) byId(`filter-${name}`).addEventListener("change", (e) => change(name, e.target.value));
    let waiting = 0;
    byId("filter-q").addEventListener("input", (event) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => change("q", event.target.value), 150);
    });
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("filters").addEventListener("reset", (event) => {
      event.preventDefault();
      state = { ...DEFAULTS };
      byId("filter-q").value = "";
      byId("filter-seed").value = state.seed;
      show();
    });
    byId("previous").addEventListener("click", () => turn(-1));
    byId("next").addEventListener("click", () => turn(1));
    window.addEventListener("hashchange", () => {
      if (!location.hash.startsWith("#errors?")) return;
      readAddress();
      show();
    });
    byId("legend").hidden = !data.types.length;
    byId("legend").append("Types: ", ...data.types.flatMap((type) => [mark(type, "", [type]), " "]));
    byId("filters").hidden = false;
    show();
    if (location.hash.startsWith("#errors?")) byId("errors").scrollIntoView({ behavior: "instant" });
  }

  start();
})();
