"use strict";
// The review page. All text reaches the page through textContent, so nothing in a note can become markup.
(() => {
  const MOST_TAG = 40; // characters shown of what stands in a stretch's place
  const MOST_LISTED = 20; // numbers of notes in one message
  const OPENS = "([{\"'«“‘<*";
  const CLOSES = ".,;:!?)]}\"'»”’>*";
  const byId = (id) => document.getElementById(id);
  const { version, replaced, types, sided, notes } = JSON.parse(byId("data").textContent);
  // What the reviewer did, by the note's place: {read, missed: [[start, end, type]], needless: [[start, end, type]]}.
  const done = notes.map(() => ({ read: false, missed: [], needless: [] }));
  let at = 0; // the note that is shown
  let chosen = null; // [first, last] piece that is chosen; the cursor is where it was moved last
  let cursor = 0;
  let unsaved = false;

  const same = (a, b) => a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
  const touches = (a, b) => a[0] < b[1] && b[0] < a[1];
  const number = (count) => count.toLocaleString("en");

  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  // What may be needless in a note: what was replaced, and what redaction found and left as it was.
  const marked = (note) => [...note.spans, ...note.left];

  // Every stretch that is marked in a note: where, its type, how it is shown, and what is written beside it.
  function stretches(place) {
    const { spans, left, others, unchanged } = notes[place];
    const mine = done[place];
    const found = spans.map((span) => {
      const needless = mine.needless.some((one) => same(one, span));
      const kind = needless ? "needless" : !sided || others.some((one) => same(one, span)) ? "both" : "first";
      const by = span[3] === null ? "" : span[3] === "" ? " → removed" : ` → ${span[3].length > MOST_TAG ? `${span[3].slice(0, MOST_TAG)}…` : span[3]}`;
      return { span, kind, tag: needless ? `needless: ${span[2]}` : by ? by.slice(1) : span[2] };
    });
    for (const span of others) {
      if (!spans.some((one) => same(one, span))) found.push({ span, kind: "second", tag: span[2] });
    }
    for (const span of left) {
      const needless = mine.needless.some((one) => same(one, span));
      found.push({ span, kind: needless ? "needless" : "unchanged", tag: needless ? `needless: ${span[2]}` : `kept: ${span[3]}` });
    }
    for (const span of unchanged) found.push({ span, kind: "unchanged", tag: `kept: ${span[2]}` });
    for (const span of mine.missed) found.push({ span, kind: "missed", tag: `missed: ${span[2]}` });
    return found;
  }

  const differs = ({ spans, others }) =>
    spans.length !== others.length || spans.some((span) => !others.some((one) => same(one, span)));
  const isMarked = (place) => done[place].missed.length + done[place].needless.length > 0;

  // Offsets are code points: JavaScript counts some characters as two. Words are cut at the edges of marks.
  function pieces(note, marks) {
    const characters = Array.from(note.text);
    const edges = new Set([0, characters.length, ...note.inserted.map(([at]) => at), ...marks.flatMap(({ span }) => [span[0], span[1]]), ...note.unsure.flatMap(([from, to]) => [from, to])]);
    const found = [];
    let start = 0;
    for (let i = 1; i <= characters.length; i += 1) {
      const space = /\s/u.test(characters[i - 1]);
      const turn = i === characters.length || /\s/u.test(characters[i]) !== space || edges.has(i);
      if (!turn) continue;
      found.push({ start, end: i, space, text: characters.slice(start, i).join("") });
      start = i;
    }
    return found;
  }

  // A piece of text; a word can be chosen.
  function leaf(note, piece) {
    const said = piece.text.replace(/\r\n?/g, "\n");
    if (piece.space) return document.createTextNode(said);
    const unsure = note.unsure.find(([from, to]) => from <= piece.start && to >= piece.end);
    const word = element("span", unsure ? "unsure" : "", said);
    word.dataset.start = piece.start;
    word.dataset.end = piece.end;
    if (unsure) word.title = `PHI with a probability of ${Math.round(100 * unsure[2])} %`;
    return word;
  }

  // What a reviewer marked lies on top, then the shortest.
  const rank = ({ span, kind }) => (kind === "missed" ? 0 : 1e9) + span[1] - span[0];

  function show() {
    const note = notes[at];
    const marks = stretches(at);
    const shown = [];
    let open = null; // the mark that the piece before stands in: {top, node}
    const put = (at) => note.inserted.filter((one) => one[0] === at).map((one) => element("ins", "put", one[1]));
    for (const piece of pieces(note, marks)) {
      const before = put(piece.start);
      if (before.length) open = null;
      shown.push(...before);
      const over = marks.filter(({ span }) => span[0] <= piece.start && span[1] >= piece.end);
      if (!over.length) {
        open = null;
        shown.push(leaf(note, piece));
        continue;
      }
      const top = over.reduce((best, one) => (rank(one) < rank(best) ? one : best));
      if (open?.top !== top) {
        open = { top, node: element("mark", top.kind) };
        shown.push(open.node);
      }
      const tags = over.filter(({ span }) => span[1] === piece.end).map(({ tag }) => element("span", "tag", tag));
      open.node.append(leaf(note, piece), ...tags);
    }
    shown.push(...put(Array.from(note.text).length));
    byId("text").replaceChildren(...shown);
    byId("name").textContent = note.id;
    byId("number").value = at + 1;
    byId("count").textContent = number(notes.length);
    byId("read").setAttribute("aria-pressed", String(done[at].read));
    byId("before").disabled = following(-1) === at;
    byId("after").disabled = following(1) === at;
    point();
    tell();
  }

  function tell() {
    const read = done.filter((one) => one.read).length;
    const missed = done.filter((one) => one.missed.length).length;
    const needless = done.reduce((sum, one) => sum + one.needless.length, 0);
    byId("status").textContent =
      `${number(read)} of ${number(notes.length)} read · ${number(missed)} with something missed · ${number(needless)} needless marks`;
  }

  const words = () => [...byId("text").querySelectorAll("[data-start]")];

  // Shows which words are chosen, and says what they are to who cannot see it.
  function point() {
    const all = words();
    for (const word of all) word.classList.remove("chosen");
    if (!chosen || !all.length) {
      byId("cursor").textContent = "";
      return;
    }
    const [first, last] = [Math.min(...chosen), Math.max(...chosen)];
    for (const word of all.slice(first, last + 1)) word.classList.add("chosen");
    all[Math.min(cursor, all.length - 1)].scrollIntoView({ block: "nearest" });
    const range = span();
    const over = stretches(at).filter((one) => touches(one.span, range)).map(({ kind, tag }) => (kind === "both" ? `marked ${tag}` : kind === "first" || kind === "second" ? `${kind} ${tag}` : tag));
    const unsure = notes[at].unsure.filter((one) => touches(one, range)).map((one) => `PHI with ${Math.round(100 * one[2])} %`);
    const said = all.slice(first, last + 1).map((word) => word.textContent).join(" ");
    byId("cursor").textContent = [said, ...over, ...unsure].join(" · ");
  }

  // The offsets of the words chosen.
  function span() {
    const all = words();
    if (!chosen || !all.length) return null;
    const [first, last] = [Math.min(...chosen), Math.min(Math.max(...chosen), all.length - 1)];
    return [Number(all[first].dataset.start), Number(all[last].dataset.end)];
  }

  function choose(first, last) {
    const most = words().length - 1;
    if (most < 0) return;
    cursor = Math.min(Math.max(last, 0), most);
    chosen = [Math.min(Math.max(first, 0), most), cursor];
    point();
  }

  // Chooses the words that a stretch covers, also after the text was drawn anew.
  function chooseSpan([from, to]) {
    const all = words();
    const inside = all.map((word, i) => i).filter((i) => Number(all[i].dataset.start) < to && Number(all[i].dataset.end) > from);
    if (inside.length) choose(inside[0], inside[inside.length - 1]);
  }

  function move(by, extend) {
    if (!chosen) choose(0, 0);
    else if (extend) choose(chosen[0], cursor + by);
    else choose(cursor + by, cursor + by);
  }

  function jump(by) {
    const points = [...stretches(at).map((one) => one.span), ...notes[at].unsure].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const here = span() ?? [-1, -1];
    const ahead = by > 0 ? points.filter((one) => one[0] > here[0]) : points.filter((one) => one[0] < here[0]).reverse();
    if (ahead.length) chooseSpan(ahead[0]);
  }

  // What was selected with a mouse or a finger becomes the words chosen.
  function takeSelection() {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return;
    const inside = words().map((word, i) => (selection.containsNode(word, true) ? i : -1)).filter((i) => i >= 0);
    if (inside.length) choose(inside[0], inside[inside.length - 1]);
    selection.removeAllRanges();
  }

  function change(work) {
    takeSelection();
    const range = span();
    if (!range) {
      byId("cursor").textContent = "Choose some words first.";
      return;
    }
    const said = work(done[at], range);
    if (said) {
      byId("cursor").textContent = said;
      return;
    }
    unsaved = true;
    byId("saved").textContent = "";
    show();
    chooseSpan(range);
  }

  // A mark without the punctuation around it, which annotators leave out; a pair of brackets inside it stays.
  function trimmed([start, end]) {
    const characters = Array.from(notes[at].text);
    let [from, to] = [start, end];
    const holds = (one) => characters.slice(from, to).includes(one);
    for (;;) {
      const [first, last] = [characters[from], characters[to - 1]];
      if (to - from > 2 && OPENS.includes(first) && CLOSES.includes(last)) [from, to] = [from + 1, to - 1];
      else if (to - from > 1 && CLOSES.includes(last) && !(last === ")" && holds("("))) to -= 1;
      else if (to - from > 1 && OPENS.includes(first) && !(first === "(" && holds(")"))) from += 1;
      else return [from, to];
    }
  }

  const missed = () => change((mine, chosenRange) => {
    const range = trimmed(chosenRange);
    const kept = notes[at].spans.filter((one) => !mine.needless.some((other) => same(other, one)));
    if (kept.some((one) => one[0] <= range[0] && one[1] >= range[1])) return "This is marked already.";
    const made = [...range, byId("type").value];
    mine.missed = [...mine.missed.filter((one) => !touches(one, range)), made].sort((a, b) => a[0] - b[0]);
  });

  const needless = () => change((mine, range) => {
    const hit = marked(notes[at]).filter((one) => touches(one, range) && !mine.needless.some((other) => same(other, one)));
    if (!hit.length) return "Nothing is marked here that could be needless.";
    mine.needless.push(...hit.map((one) => one.slice(0, 3)));
  });

  const undo = () => change((mine, range) => {
    const [before, after] = [mine.missed.length + mine.needless.length, 0];
    mine.missed = mine.missed.filter((one) => !touches(one, range));
    mine.needless = mine.needless.filter((one) => !touches(one, range));
    return mine.missed.length + mine.needless.length + after < before ? "" : "There is no mark of yours here.";
  });

  const fits = {
    all: () => true,
    unread: (place) => !done[place].read,
    differ: (place) => differs(notes[place]),
    marked: isMarked,
  };

  // The next note, or the one before, of those that are to be shown; the same one where there is none.
  function following(by) {
    const fitting = fits[byId("which").value];
    for (let place = at + by; place >= 0 && place < notes.length; place += by) if (fitting(place)) return place;
    return at;
  }

  function go(place) {
    at = place;
    chosen = null;
    cursor = 0;
    byId("text").scrollTop = 0;
    show();
  }

  function read() {
    done[at].read = !done[at].read;
    unsaved = true;
    const next = done[at].read ? following(1) : at;
    if (next === at) show();
    else go(next);
  }

  const written = ([start, end, label]) => ({ start, end, label });

  // The corrected annotation: a mark of the reviewer takes the place of those inside it.
  function corrected(note, mine) {
    const kept = marked(note).filter((one) => !mine.needless.some((other) => same(other, one)));
    const apart = kept.filter((one) => !mine.missed.some((other) => other[0] <= one[0] && other[1] >= one[1]));
    return [...apart, ...mine.missed].map((one) => one.slice(0, 3)).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  }

  // One line for each note that was read or has a mark: the corrected annotation, and what was corrected.
  function lines() {
    const found = [];
    notes.forEach((note, place) => {
      const mine = done[place];
      if (!mine.read && !isMarked(place)) return;
      const { id, text, sha256 } = note;
      const spans = corrected(note, mine).map(written);
      const changes = { false_negatives: mine.missed.map(written), false_positives: mine.needless.map(written) };
      found.push(JSON.stringify({ id, text, spans, read: mine.read, ...changes, sha256, marks: version, replaced }));
    });
    return found;
  }

  function save() {
    const found = lines();
    if (!found.length) {
      byId("saved").textContent = "There is nothing to download: read a note to its end, or mark something.";
      return;
    }
    const address = URL.createObjectURL(new Blob([`${found.join("\n")}\n`], { type: "application/x-ndjson" }));
    const link = element("a", "");
    link.href = address;
    link.download = "marks.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    unsaved = false;
    byId("saved").textContent = `marks.jsonl: ${number(found.length)} notes.`;
  }

  // Takes up the marks of a file. Marks belong to the redacted text that was read: those of another redaction of a
  // note, or without its digest, are refused.
  async function goOn(file) {
    const places = new Map(notes.map((note, place) => [note.id, place]));
    const back = (entries) => entries.map(({ start, end, label }) => [start, end, label]);
    const refused = [];
    const taken = new Map();
    let [total, absent, old] = [0, 0, 0];
    try {
      for (const line of (await file.text()).split("\n").filter((one) => one.trim())) {
        const { id, text, sha256, read, false_negatives, false_positives, marks } = JSON.parse(line);
        const mine = { read: read === true, missed: back(false_negatives), needless: back(false_positives) };
        const place = places.get(id);
        total += 1;
        if (place === undefined) absent += 1;
        else if (replaced !== null && marks !== version) old += 1;
        else if (text === notes[place].text && sha256 === notes[place].sha256) taken.set(place, mine);
        else refused.push(place + 1);
      }
    } catch {
      byId("saved").textContent = "This is no file of a review page.";
      return;
    }
    for (const [place, mine] of taken) done[place] = mine;
    const said = `${number(taken.size)} of ${number(total)} notes of the file were taken up.`;
    byId("saved").textContent = said + whyRefused(refused) + tooOld(old) + notHere(absent);
    show();
  }

  function whyRefused(refused) {
    if (!refused.length) return "";
    const more = refused.length > MOST_LISTED ? ` and ${number(refused.length - MOST_LISTED)} more` : "";
    const listed = refused.sort((a, b) => a - b).slice(0, MOST_LISTED).map(number).join(", ");
    const [what, them] = refused.length === 1 ? ["note", "it"] : ["notes", "them"];
    return ` Refused: marks of another text or redaction of ${what} ${listed}${more}. Read ${them} again.`;
  }

  const tooOld = (count) => (count ? ` Refused: ${number(count)} marked on a page of another version, which may have hidden leaks. Read them again.` : "");

  const notHere = (count) => (count ? ` ${number(count)} ${count === 1 ? "is" : "are"} not on this page.` : "");

  const keys = {
    ArrowRight: (event) => move(1, event.shiftKey),
    ArrowLeft: (event) => move(-1, event.shiftKey),
    ".": () => jump(1),
    ",": () => jump(-1),
    m: missed,
    n: needless,
    u: undo,
    r: read,
    j: () => go(following(1)),
    k: () => go(following(-1)),
    d: save,
  };

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const type = Number(event.key) - 1;
    const work = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (work) work(event);
    else if (type >= 0 && type < Math.min(9, types.length)) byId("type").selectedIndex = type;
    else return;
    event.preventDefault();
  }

  function start() {
    byId("type").append(...types.map((type, i) => new Option(i < 9 ? `${i + 1} ${type}` : type, type)));
    byId("type").value = types.includes("PHI") && types.length === 1 ? "PHI" : types.find((type) => type !== "PHI");
    const clicks = { missed, needless, undo, read, save, before: () => go(following(-1)), after: () => go(following(1)) };
    for (const [id, work] of Object.entries(clicks)) {
      byId(id).addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
      byId(id).addEventListener("click", work);
    }
    byId("text").addEventListener("keydown", press);
    byId("text").addEventListener("click", (event) => {
      const word = event.target.closest("[data-start]");
      const place = words().indexOf(word);
      if (place >= 0 && document.getSelection().isCollapsed) choose(event.shiftKey && chosen ? chosen[0] : place, place);
    });
    byId("number").addEventListener("change", (event) => {
      const place = Math.round(Number(event.target.value)) - 1;
      go(Math.min(Math.max(place || 0, 0), notes.length - 1));
    });
    byId("which").addEventListener("change", () => {
      if (!fits[byId("which").value](at)) {
        const ahead = following(1);
        go(ahead === at ? following(-1) : ahead);
      } else show();
    });
    byId("file").addEventListener("change", (event) => event.target.files.length && goOn(event.target.files[0]));
    window.addEventListener("beforeunload", (event) => unsaved && event.preventDefault());
    document.querySelector("main").hidden = false;
    show();
    byId("text").focus({ preventScroll: true });
  }

  start();
})();
