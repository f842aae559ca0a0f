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

/**
 * Bind the slider `name`-slider and the field `name`-field to one number.
 *
 * `kind` gives {factor, steps, accepts, accepted, text}: the field shows the number times
 * `factor`. Calls `changed(value)` with accepted numbers only, and returns a function that shows
 * a number; it leaves alone the control that is being moved.
 */
export function numberControl(name, kind, changed) {
  const [slider, field, problem] = ["slider", "field", "problem"].map((part) =>
    document.getElementById(`${name}-${part}`),
  );
  let moving = null;
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
    take(field, field.value.trim() === "" ? NaN : Number(field.value) / kind().factor);
  });
  field.addEventListener("change", () => complain(""));

  return (value) => {
    const { steps, factor, text, digits } = kind();
    if (moving !== slider) slider.value = Math.min(Math.max(steps.step(value), 0), STEPS);
    if (moving !== field) {
      field.value = tidy(value * factor, digits);
      complain("");
    }
    slider.setAttribute("aria-valuetext", text(value));
  };
}
