/** Five questions, one at a time, that end in limits and a range of costs; several people's answers. */
import {
  OFFERS,
  answersToml,
  everybody,
  missRange,
  nextOffer,
  readAnswers,
  remarksOn,
  settingOf,
} from "./answers.js";
import { DataError } from "./columns.js";
import { w } from "./lang.js";
import { html } from "./marks.js";
import { saveFile } from "./saving.js";
import { typedNumber } from "./typed_numbers.js";
import { percent, plain } from "./wording.js";

/** Questions before those about trade-offs. */
const LIMIT_QUESTIONS = 2;

/** What everybody answered, kept while the page is open, whatever data it shows. */
const ANSWERS = [];

const button = (text, act) => {
  const element = html("button", { type: "button" }, text);
  element.addEventListener("click", act);
  return element;
};

function numberQuestion(text, unit, { value, min, max }, done) {
  const field = html("input", { type: "text", class: "number", id: "guide-number", value, inputmode: "decimal" });
  const label = html("label", { for: "guide-number" }, text);
  const next = button(w.next, () => {
    const value = typedNumber(field.value);
    if (value >= min && value <= max) done(value);
    else field.setAttribute("aria-invalid", "true");
  });
  return [html("p", {}, label), html("p", { class: "buttons" }, field, unit, next)];
}

/** Ask one question after the other; `done(answer)` gets all of them. */
function ask(place, words, done) {
  const answer = { who: "", accepted: [], refused: [] };
  const show = (number, ...parts) => {
    place.replaceChildren(html("h3", {}, w.questionOf(number, LIMIT_QUESTIONS + OFFERS)), ...parts);
    place.querySelector("input, button").focus();
  };
  const tradeOff = (asked) => {
    if (asked === OFFERS) return done(answer);
    const offer = nextOffer(answer);
    const said = (list) => () => {
      answer[list].push(offer);
      tradeOff(asked + 1);
    };
    return show(
      LIMIT_QUESTIONS + 1 + asked,
      html("p", {}, w.offer(plain(offer), words)),
      html("p", { class: "buttons" }, button(w.yes, said("accepted")), button(w.no, said("refused"))),
    );
  };
  const capacity = () =>
    show(
      2,
      ...numberQuestion(w.askCapacity(words), w.ofHundred, { value: 10, min: 0.1, max: 100 }, (n) => {
        answer.capacity = n / 100;
        tradeOff(0);
      }),
    );
  show(
    1,
    ...numberQuestion(w.askFloor, w.ofTen, { value: 3, min: 0, max: 10 }, (n) => {
      answer.minPrecision = n / 10;
      capacity();
    }),
  );
}

function limitsText(answer) {
  const [low, high] = missRange(answer);
  const worth = low === high ? plain(low) : w.range(plain(low), plain(high));
  return [percent(answer.minPrecision), percent(answer.capacity), worth];
}

/** A table of everybody's limits, and which model each of them would choose. */
function answersTable(winnerOf) {
  const head = [w.whoHead, w.floorHead, w.capacityHead, w.missHead, w.bestHead];
  const rows = ANSWERS.map((answer) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, answer.who),
      ...[...limitsText(answer), winnerOf(settingOf(answer))].map((text) => html("td", {}, text)),
    ),
  );
  return html(
    "table",
    {},
    html("thead", {}, html("tr", {}, ...head.map((text) => html("th", { scope: "col" }, text)))),
    html("tbody", {}, ...rows),
  );
}

function disagreement(winnerOf) {
  const winners = new Set(ANSWERS.map((answer) => winnerOf(settingOf(answer))));
  return winners.size > 1 ? w.disagree([...winners]) : w.agree([...winners][0]);
}

/**
 * Bind the guide. `take(part)` moves the setting; `winnerOf(part)` names the best model in another.
 */
export function bindGuide(place, words, { take, winnerOf }) {
  const [questions, people] = ["guide-questions", "guide-people"].map(place);

  function showPeople() {
    if (ANSWERS.length === 0) return people.replaceChildren();
    const all = button(w.useEverybody, () => take(everybody(ANSWERS)));
    const save = button(w.saveAnswers, () =>
      saveFile("answers.toml", answersToml(ANSWERS), "application/toml"),
    );
    const scroll = { class: "scroll", tabindex: 0, role: "region", "aria-label": w.answersLabel };
    return people.replaceChildren(
      html("div", scroll, answersTable(winnerOf)),
      html("p", { role: "status" }, disagreement(winnerOf)),
      html("p", { class: "buttons" }, all, save),
    );
  }

  function finish(answer) {
    const who = html("input", { type: "text", id: "guide-who" });
    const keep = button(w.useMine, () => {
      answer.who = who.value.trim() || w.somebody;
      ANSWERS.push(answer);
      questions.replaceChildren();
      take(settingOf(answer));
      showPeople();
    });
    const [floor, most, worth] = limitsText(answer);
    questions.replaceChildren(
      html("p", {}, w.guideResult(floor, most, worth)),
      ...remarksOn(answer).map((text) => html("p", { class: "notice" }, text)),
      html("p", { class: "buttons" }, html("label", { for: "guide-who" }, w.whoAnswers), who, keep),
    );
    who.focus();
  }

  async function load({ target }) {
    try {
      for (const file of target.files) ANSWERS.push(...readAnswers(await file.text(), file.name));
      place("guide-problem").textContent = "";
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      place("guide-problem").textContent = error.message;
    }
    target.value = "";
    showPeople();
  }

  const start = () => ask(questions, words, finish);
  place("guide-start").addEventListener("click", start);
  // Beside the sliders, where somebody looks who finds them hard to set.
  place("guide-open").addEventListener("click", () => {
    place("guide").open = true;
    start();
  });
  place("guide-load").addEventListener("change", load);
  showPeople();
}
