/** Steps back and forward through settings; moves of one control in quick succession are one. */

/** Milliseconds within which moves of the same control belong together. */
const TOGETHER = 800;

/** `note(before, part)` a change; `back(now)` and `forward(now)` return a setting, or null. */
export function stepper() {
  const [past, future] = [[], []];
  let last = { keys: "", at: -Infinity };
  const move = (from, to, now) => {
    if (from.length === 0) return null;
    to.push(now);
    last = { keys: "", at: -Infinity };
    return from.pop();
  };
  return {
    note(before, part) {
      const [keys, at] = [Object.keys(part).sort().join(), performance.now()];
      if (keys !== last.keys || at - last.at > TOGETHER) past.push(before);
      future.length = 0;
      last = { keys, at };
    },
    back: (now) => move(past, future, now),
    forward: (now) => move(future, past, now),
    get canGoBack() {
      return past.length > 0;
    },
    get canGoForward() {
      return future.length > 0;
    },
  };
}
