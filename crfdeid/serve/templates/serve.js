"use strict";
// A note is sent to the service, and its PHI comes back for every threshold: the slider asks for nothing. All text
// reaches the page through textContent, so nothing in a note can become markup.
(() => {
  const byId = (name) => document.getElementById(name);
  const percent = (share) => `${(100 * share).toFixed(share > 0.0995 && share < 0.9995 ? 1 : 3)} %`;
  const COLUMN = { label: 5, mask: 6, surrogate: 7 };
  const NO_SURROGATES = "No surrogates: the note's language is not clear, or has none.";
  let text = "";
  let characters = []; // offsets are code points: JavaScript counts some characters as two
  let found = null; // the answer of the service
  let types = [];
  let busy = false;
  let asked = 0; // requests for reasons; a late answer to an earlier one is dropped
  let chosen = null; // the word in the panel: its offset, its text, and the model's reason, the same at every step

  const said = (from, to) => characters.slice(from, to).join("");
  const spans = () => found.steps[Number(byId("step").value)].spans;
  const words = () => [...byId("text").querySelectorAll(".word")];

  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  async function ask(path, content) {
    const headers = { "Content-Type": "application/json" };
    if (byId("token")) headers.Authorization = `Bearer ${byId("token").value}`;
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(content) });
    const body = await answer.json().catch(() => ({ error: answer.statusText }));
    if (!answer.ok) throw new Error(body.error);
    return body;
  }

  function tell(message, bad = false) {
    byId("status").textContent = message;
    byId("status").className = bad ? "bad" : "";
  }

  async function find() {
    if (busy) return;
    busy = true; // a disabled button would lose the focus
    tell("The model reads the note …");
    try {
      found = await ask("preview", { text: byId("note").value });
    } catch (problem) {
      byId("result").hidden = true;
      tell(`Not done: ${problem.message}`, true);
      return;
    } finally {
      busy = false;
    }
    text = found.text; // of markup, such as RTF, that which is visible
    characters = Array.from(text);
    asked += 1;
    chosen = null;
    types = [...new Set(found.steps.flatMap((step) => step.spans.map((span) => span[2])))].sort();
    byId("step").max = found.steps.length - 1;
    byId("step").disabled = found.steps.length === 1;
    byId("step").value = found.used;
    byId("result").hidden = false;
    byId("why").replaceChildren(element("p", "quiet", "Choose a word to see why it has its tag."));
    show();
    byId("result").scrollIntoView({ block: "start" });
  }

  const sourceOf = ([, , , source, score]) => `${source}${score === null ? "" : `, score ${percent(score)}`}`;

  function mark(span) {
    const made = element("mark", `t${types.indexOf(span[2]) % 12}`);
    made.title = `${span[2]}: ${sourceOf(span)}`;
    return made;
  }

  function word(start, end, span) {
    const made = element("span", "word", said(start, end));
    made.setAttribute("role", "button");
    made.setAttribute("aria-pressed", "false");
    made.tabIndex = -1;
    made.dataset.start = start;
    if (span) {
      made.dataset.span = span[0];
      made.setAttribute("aria-description", `${span[2]}, ${sourceOf(span)}`);
    }
    return made;
  }

  // The words from one offset to another, and what stands between them, in a parent. Words are cut at the edges of PHI.
  function addWords(parent, start, end, span) {
    let place = start;
    for (const [from, to] of found.words) {
      const [first, last] = [Math.max(from, start), Math.min(to, end)];
      if (first >= last) continue;
      parent.append(said(place, first), word(first, last, span));
      place = last;
    }
    parent.append(said(place, end));
  }

  function show() {
    const step = found.steps[Number(byId("step").value)];
    const shown = byId("shown").value;
    const missing = shown === "surrogate" && step.spans.some((span) => span[COLUMN.surrogate] === null);
    byId("sensitivity").textContent = step.threshold === null ? "no threshold, the most probable tags"
      : step.sensitivity === null ? `the service's own threshold, ${step.threshold.toPrecision(3)}` : percent(step.sensitivity);
    byId("step").setAttribute("aria-valuetext", byId("sensitivity").textContent);
    const whole = document.createDocumentFragment();
    let place = 0;
    for (const span of step.spans) {
      addWords(whole, place, span[0], null);
      const made = mark(span);
      if (shown === "original") {
        addWords(made, span[0], span[1], span);
        made.append(element("span", "tag", span[2]));
      } else {
        made.append(span[COLUMN[shown]] ?? `[${span[2]}]`);
      }
      whole.append(made);
      place = span[1];
    }
    addWords(whole, place, characters.length, null);
    byId("text").replaceChildren(whole);
    const all = words();
    const again = chosen && all.find((made) => holds(made, chosen.offset));
    if (again) select(again);
    else if (all[0]) all[0].tabIndex = 0;
    showReason();
    const counts = types.map((type) => [type, step.spans.filter((span) => span[2] === type).length]);
    byId("legend").replaceChildren(
      ...counts.map(([type, count], i) => element("li", "", element("mark", `t${i % 12}`, type), ` ${count}`)),
    );
    tell(missing ? NO_SURROGATES : `${step.spans.length} marked.`, missing);
  }

  const holds = (made, offset) => {
    const start = Number(made.dataset.start);
    return start <= offset && offset < start + Array.from(made.textContent).length;
  };

  function select(made) {
    for (const other of words()) {
      other.tabIndex = -1;
      other.setAttribute("aria-pressed", "false");
    }
    made.tabIndex = 0;
    made.setAttribute("aria-pressed", "true");
  }

  function choose(made) {
    select(made);
    made.focus();
  }

  function termsTable(terms) {
    const rows = terms.map(([name, kind, value]) => {
      const label = element("th", "", name, element("span", "quiet", ` ${kind}`));
      label.scope = "row";
      return element("tr", "", label, element("td", "", `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`));
    });
    return element("table", "terms", element("tbody", "", ...rows));
  }

  async function explain(made) {
    choose(made);
    asked += 1;
    const mine = asked;
    const offset = Number(made.dataset.start);
    const word = made.textContent;
    let why = [];
    try {
      const reason = await ask("explain", { text, offset });
      const next = `next ${reason.contrast_tag} ${percent(reason.contrast_probability)}; PHI of any type ${percent(reason.phi)}`;
      why.push(element("p", "", `The model's tag: ${reason.tag} ${percent(reason.probability)}; ${next}.`));
      for (const part of reason.parts) {
        why.push(element("h4", "", part.title));
        if (part.terms.length) why.push(termsTable(part.terms));
      }
    } catch (problem) {
      why = [element("p", "", `No reason: ${problem.message}`)];
    }
    if (mine !== asked) return;
    chosen = { offset, word, why };
    showReason();
    byId("why").scrollIntoView({ block: "nearest" });
  }

  // The panel on the chosen word: what marks it at this step, and the model's reason.
  function showReason() {
    if (!chosen) return;
    const span = spans().find(([start, end]) => start <= chosen.offset && chosen.offset < end);
    const by = span ? `Marked as ${span[2]} by ${sourceOf(span)}.` : "Not marked.";
    const head = element("h3", "", `Why “${chosen.word}”?`);
    byId("why").replaceChildren(head, element("p", "", by), ...chosen.why);
  }

  function press(event) {
    const all = words();
    const at = all.indexOf(event.target);
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const begins = (i) => all[i].dataset.span !== undefined && all[i].dataset.span !== all[i - 1]?.dataset.span;
    const jump = (by) => {
      for (let i = at + by; i >= 0 && i < all.length; i += by) if (begins(i)) return i;
      return at;
    };
    const moves = {
      ArrowRight: () => Math.min(at + 1, all.length - 1),
      ArrowLeft: () => Math.max(at - 1, 0),
      ArrowDown: () => jump(1),
      ArrowUp: () => jump(-1),
      Home: () => 0,
      End: () => all.length - 1,
    };
    if (event.key === "Enter" || event.key === " ") explain(event.target);
    else if (moves[event.key]) choose(all[moves[event.key]()]);
    else return;
    event.preventDefault();
  }

  async function read(files) {
    byId("note").value = await files[0].text();
    find();
  }

  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    find();
  });
  byId("note").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("form").requestSubmit();
  });
  for (const name of ["dragover", "dragleave", "drop"]) {
    byId("note").addEventListener(name, (event) => {
      byId("note").classList.toggle("over", name === "dragover");
      if (!event.dataTransfer.types.includes("Files")) return; // a dropped text is written as any
      event.preventDefault();
      if (name === "drop") read(event.dataTransfer.files);
    });
  }
  byId("file").addEventListener("change", (event) => event.target.files.length && read(event.target.files));
  byId("step").addEventListener("input", show);
  byId("shown").addEventListener("change", show);
  byId("text").addEventListener("keydown", press);
  byId("text").addEventListener("click", (event) => {
    const made = event.target.closest(".word");
    if (made) explain(made);
  });
})();
