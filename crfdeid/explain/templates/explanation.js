"use strict";
// A text whose every word can be asked about. All text reaches the page through textContent, so nothing in a note or in
// a model can become markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const characters = Array.from(data.text); // offsets are code points: JavaScript counts some characters as two
  const said = (from, to) => characters.slice(from, to).join("");
  const percent = (share) => `${(100 * share).toFixed(share > 0.0995 && share < 0.9995 ? 1 : 3)} %`;
  const panels = [];
  let chosen = null;

  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  // The span that holds a token, for each token; null where it is not hidden.
  function spansOf(model) {
    return data.tokens.map(([from, to]) => model.spans.find(([start, end]) => start < to && from < end) ?? null);
  }

  function tokenElement(model, index, spans) {
    const token = model.tokens[index];
    const made = element("span", "token", said(...data.tokens[index]));
    made.style.setProperty("--phi", String(token.phi));
    made.setAttribute("role", "button");
    made.setAttribute("aria-pressed", "false");
    made.tabIndex = index === 0 ? 0 : -1;
    made.dataset.index = String(index);
    made.title = `${token.tag}, PHI ${percent(token.phi)}`;
    if (spans[index]) made.setAttribute("aria-description", `hidden as ${spans[index][2]}`);
    return made;
  }

  function noteElement(model, spans) {
    const note = element("div", "note");
    let place = 0;
    let open = null; // the element of the span that is open, and the span
    data.tokens.forEach(([from, to], index) => {
      const span = spans[index];
      if (open && open.span !== span) close();
      const gap = said(place, from);
      if (gap) (open ? open.made : note).append(gap);
      if (span && !open) {
        open = { span, made: element("span", "hidden-span") };
        note.append(open.made);
      }
      (open ? open.made : note).append(tokenElement(model, index, spans));
      place = to;
    });
    if (open) close();
    note.append(said(place, characters.length));
    return note;

    function close() {
      open.made.append(element("span", "tag", open.span[2]));
      open = null;
    }
  }

  function bar(value, largest) {
    const part = () => element("span", "");
    const [left, right] = [part(), part()];
    left.className = "left";
    const filled = element("i", "");
    filled.style.setProperty("--size", `${(100 * Math.abs(value)) / largest}%`);
    (value < 0 ? left : right).append(filled);
    const made = element("td", "", element("div", "bar", left, right));
    made.setAttribute("aria-hidden", "true");
    return made;
  }

  function termsTable(part) {
    const largest = Math.max(...part.terms.map(([, , value]) => Math.abs(value)), 1e-9);
    const body = element("tbody", "");
    for (const [name, kind, value] of part.terms) {
      const label = element("th", "", name, kind ? element("span", "quiet", ` ${kind}`) : "");
      label.scope = "row";
      const number = element("td", "value", `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`);
      body.append(element("tr", "", label, number, bar(value, largest)));
    }
    return element("table", "terms", body);
  }

  function showWhy(panel, index) {
    const token = panel.model.tokens[index];
    const span = panel.spans[index];
    const head = element("h4", "", `${said(...data.tokens[index])}: ${token.tag} ${percent(token.probability)}`);
    const next = `next ${token.contrast_tag} ${percent(token.contrast_probability)}; PHI of any type ${percent(token.phi)}`;
    const why = [head, element("p", "quiet", next)];
    if (span) {
      why.push(element("p", "", `Hidden as ${span[2]} because`));
      why.push(element("ul", "", ...span[3].map((reason) => element("li", "", reason))));
    } else {
      why.push(element("p", "", "Not hidden."));
    }
    for (const part of token.parts) {
      why.push(element("h4", "", part.title));
      if (part.terms.length) why.push(termsTable(part));
    }
    panel.why.replaceChildren(...why);
  }

  function choose(index, focusIn) {
    for (const panel of panels) {
      if (chosen !== null) {
        panel.words[chosen].setAttribute("aria-pressed", "false");
        panel.words[chosen].tabIndex = -1;
      }
      panel.words[0].tabIndex = -1;
      panel.words[index].setAttribute("aria-pressed", "true");
      panel.words[index].tabIndex = 0;
      showWhy(panel, index);
    }
    chosen = index;
    if (focusIn) focusIn.words[index].focus();
    try {
      history.replaceState(null, "", `#word=${index}`);
    } catch {
      // A mail program's viewer may forbid it: the page works without an address to share.
    }
  }

  // The next word that is hidden, in a direction, and is not in the same span.
  function nextHidden(panel, index, by) {
    for (let i = index + by; i >= 0 && i < data.tokens.length; i += by) {
      if (panel.spans[i] && panel.spans[i] !== panel.spans[index] && panel.spans[i] !== panel.spans[i - 1]) return i;
    }
    return index;
  }

  function onKey(panel, event) {
    const index = Number(event.target.dataset.index);
    if (Number.isNaN(index) || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = data.tokens.length - 1;
    const target = {
      ArrowRight: () => Math.min(index + 1, last),
      ArrowLeft: () => Math.max(index - 1, 0),
      ArrowDown: () => nextHidden(panel, index, 1),
      ArrowUp: () => nextHidden(panel, index, -1),
      Home: () => 0,
      End: () => last,
      Enter: () => index,
      " ": () => index,
    }[event.key];
    if (!target) return;
    event.preventDefault();
    choose(target(), panel);
  }

  function addPanel(model) {
    const spans = spansOf(model);
    const note = noteElement(model, spans);
    note.setAttribute("role", "group");
    note.setAttribute("aria-label", `The text, as ${model.name} sees it`);
    const why = element("div", "why");
    why.setAttribute("role", "status");
    const panel = { model, spans, why, words: [...note.querySelectorAll(".token")] };
    note.addEventListener("click", (event) => {
      const word = event.target.closest(".token");
      if (word) choose(Number(word.dataset.index), panel);
    });
    note.addEventListener("keydown", (event) => onKey(panel, event));
    panels.push(panel);
    return element("div", "model", element("h3", "", model.name), note, why);
  }

  function fromAddress() {
    const index = Number(/^#word=(\d+)$/.exec(location.hash)?.[1] ?? -1);
    return index >= 0 && index < data.tokens.length ? index : -1;
  }

  function start() {
    document.getElementById("models").append(...data.models.map(addPanel));
    if (!data.tokens.length) return;
    const hidden = panels[0].spans.findIndex((span) => span !== null);
    const index = fromAddress() >= 0 ? fromAddress() : data.chosen ?? Math.max(hidden, 0);
    choose(index, null);
    panels[0].words[index].scrollIntoView({ block: "nearest" });
    window.addEventListener("hashchange", () => fromAddress() >= 0 && choose(fromAddress(), null));
  }

  start();
})();
