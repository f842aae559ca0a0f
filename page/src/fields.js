/** Sliders and number fields: two ways to move the same number, which keep in step. */
import { w } from "./lang.js";
import { byId } from "./marks.js";
import { shownNumber, typedNumber } from "./typed_numbers.js";

const STEPS = 400;

/** Digits that a slider's value is rounded to; a field takes any number. */
const SLIDER_DIGITS = 3;

export const linearSteps = (low, high) => ({
  value: (step) => low + (step / STEPS) * (high - low),
  step: (value) => ((value - low) / (high - low)) * STEPS,
});

export const logSteps = (low, high) => ({
  value: (step) => low * (high / low) ** (step / STEPS),
  step: (value) => (Math.log(value / low) / Math.log(high / low)) * STEPS,
});

const logit = (share) => Math.log(share / (1 - share));

export const logitSteps = (low, high) => {
  const inner = linearSteps(logit(low), logit(high));
  return {
    value: (step) => 1 / (1 + Math.exp(-inner.value(step))),
    step: (value) => inner.step(logit(value)),
  };
};

/** Digits at which the noise of binary fractions is gone: 15, not 15.000000000000002. */
const QUIET_DIGITS = 15;

function tidy(value, digits = QUIET_DIGITS) {
  return Number.isInteger(value) ? value : Number(value.toPrecision(digits));
}

/** Move the decimal point of a typed number: 33.3 percent is 0.333, which 33.3 / 100 is not. */
function shifted(typed, places) {
  const [digits, exponent = "0"] = String(typed).split("e");
  return Number(`${digits}e${Number(exponent) + places}`);
}

/** Longer texts are not repeated in a message. */
const LONGEST_REPEATED = 24;

/** What was typed, for a message. */
function typedText({ value }) {
  return value === "" || value.length > LONGEST_REPEATED ? null : value;
}

/**
 * Bind the slider `name`-slider and the field `name`-field to one number.
 *
 * `kind` gives {power, steps, accepts, accepted, text}: the field shows the number times ten to
 * that power, 2 for a percentage. Calls `changed(value)` with accepted numbers only; `keep()` gives
 * a function that puts back the setting in force when typing began, for 15 on the way to 150 must
 * not stay. Returns a function that shows a number; it leaves alone the control being moved.
 */
export function numberControl(name, kind, { changed, keep }) {
  const [slider, field, problem] = ["slider", "field", "problem"].map((part) =>
    byId(`${name}-${part}`),
  );
  let moving = null;
  let restore = null;
  let current = NaN;
  slider.max = STEPS;

  function complain(message, invalid) {
    problem.textContent = message;
    field.toggleAttribute("aria-invalid", invalid);
  }

  function move(source, act) {
    moving = source;
    act();
    moving = null;
  }

  const typed = () => shifted(typedNumber(field.value), -kind().power);

  slider.addEventListener("input", () => {
    const { steps, round = (value) => tidy(value, SLIDER_DIGITS) } = kind();
    complain("", false);
    move(slider, () => changed(round(steps.value(Number(slider.value)))));
  });
  field.addEventListener("input", () => {
    restore ??= keep();
    const value = typed();
    const accepted = kind().accepts(value);
    complain(accepted ? "" : w.accepted(kind().accepted), !accepted);
    move(field, () => (accepted ? changed(value) : restore()));
  });
  // On leaving the field, what was not accepted gives way to what was there before.
  field.addEventListener("change", () => {
    const [accepted, said] = [kind().accepts(typed()), typedText(field)];
    restore = null;
    showInField();
    const back = w.backTo(field.value, said, kind().accepted);
    complain(accepted ? "" : back, false);
  });

  function showInField() {
    const { power, digits } = kind();
    field.value = shownNumber(tidy(shifted(current, power), digits));
  }

  return (value) => {
    const { steps, text } = kind();
    if (moving !== field && value !== current) {
      restore = null;
      complain("", false);
    }
    current = value;
    if (moving !== slider) slider.value = Math.min(Math.max(steps.step(value), 0), STEPS);
    if (moving !== field) showInField();
    slider.setAttribute("aria-valuetext", text(value));
  };
}
