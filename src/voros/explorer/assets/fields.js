/** Sliders and number fields: two ways to move the same number, which keep in step. */

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

/** A number without the noise of binary fractions: 15, not 15.000000000000002. */
function tidy(value, digits = 12) {
  return Number(value.toPrecision(digits));
}

/** Move the decimal point of a typed number: 33.3 percent is 0.333, which 33.3 / 100 is not. */
function shifted(typed, places) {
  const [digits, exponent = "0"] = String(Number(typed)).split("e");
  return Number(`${digits}e${Number(exponent) + places}`);
}

/**
 * Bind the slider `name`-slider and the field `name`-field to one number.
 *
 * `kind` gives {power, steps, accepts, accepted, text}: the field shows the number times ten to
 * that power, 2 for a percentage. Calls `changed(value)` with accepted numbers only, and returns a
 * function that shows a number; it leaves alone the control that is being moved.
 */
export function numberControl(name, kind, changed) {
  const [slider, field, problem] = ["slider", "field", "problem"].map((part) =>
    document.getElementById(`${name}-${part}`),
  );
  let moving = null;
  let current = NaN;
  slider.max = STEPS;

  function complain(message) {
    problem.textContent = message;
    field.toggleAttribute("aria-invalid", Boolean(message));
  }

  function take(source, value) {
    if (!kind().accepts(value)) return complain(`Accepted: ${kind().accepted}.`);
    complain("");
    moving = source;
    changed(value);
    moving = null;
    return undefined;
  }

  slider.addEventListener("input", () => {
    const { steps, round = (value) => tidy(value, SLIDER_DIGITS) } = kind();
    take(slider, round(steps.value(Number(slider.value))));
  });
  field.addEventListener("input", () => {
    take(field, field.value.trim() === "" ? NaN : shifted(field.value, -kind().power));
  });
  // On leaving the field, what was not accepted gives way to what is in force.
  field.addEventListener("change", showInField);

  function showInField() {
    const { power, digits } = kind();
    field.value = tidy(current * 10 ** power, digits);
    complain("");
  }

  return (value) => {
    const { steps, text } = kind();
    current = value;
    if (moving !== slider) slider.value = Math.min(Math.max(steps.step(value), 0), STEPS);
    if (moving !== field) showInField();
    slider.setAttribute("aria-valuetext", text(value));
  };
}
