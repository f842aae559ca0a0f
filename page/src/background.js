/** Long work beside the page: this very script, started once more as a worker. */
import { DataError } from "./columns.js";
import { setLanguage } from "./lang.js";
import { countFile, peekFile } from "./reading.js";
import { closeCalls, intervalsOf, leadersOf, prepared } from "./uncertainty.js";

/** Count a file: the counts as soon as they are there, the resamples at the end. */
async function countAndResample(blob, name, wanted, seen, note) {
  const progress = (bytes) => note({ bytes });
  const { resample, ...counted } = await countFile(blob, name, wanted, seen, progress);
  note({ counted });
  return resample();
}

/** The counts of the page in view, and those in resamples, made ready once. */
let ready = null;

async function keepCounts(held) {
  ready = prepared(held);
}

/** What a worker can be asked for; the last argument of each takes notes of progress. */
const TASKS = {
  peek: peekFile,
  count: countAndResample,
  keep: keepCounts,
  judge: async (setting, scores) => ({
    intervals: intervalsOf(ready, setting, scores),
    ...leadersOf(ready, setting, scores),
  }),
  compare: async (places, setting) => closeCalls(ready, places, setting),
};

/** Answer the page's request. */
export function bindWorker(scope) {
  scope.onmessage = async ({ data: { task, args, language } }) => {
    setLanguage(language);
    try {
      const done = await TASKS[task](...args, (progress) => scope.postMessage({ progress }));
      scope.postMessage({ done });
    } catch (error) {
      scope.postMessage({ problem: error.message, known: error instanceof DataError });
    }
  };
}

/** A classic worker: from a page opened as a file, browsers start no worker that is a module. */
function workerOfThisPage() {
  const source = document.querySelector('script[type="module"]').textContent;
  const blob = new Blob(['"use strict";\n', source], { type: "text/javascript" });
  return new Worker(URL.createObjectURL(blob));
}

/**
 * A worker, started ahead of its tasks: `run(task, args, progress)` promises the result of one task
 * at a time. Where a browser allows no worker, the page does it itself.
 */
export function startWorker() {
  let [worker, here] = [null, () => {}];
  try {
    worker = workerOfThisPage();
    worker.onerror = () => {
      worker = null;
      here();
    };
  } catch {
    worker = null;
  }
  return {
    run: (task, args, progress = null) =>
      new Promise((resolve, reject) => {
        here = () => TASKS[task](...args, progress ?? (() => {})).then(resolve, reject);
        if (worker === null) return here();
        worker.onmessage = ({ data }) => {
          if (data.progress) return progress?.(data.progress);
          if (data.problem === undefined) return resolve(data.done);
          return reject(data.known ? new DataError(data.problem) : new Error(data.problem));
        };
        return worker.postMessage({ task, args, language: document.documentElement.lang });
      }),
    stop: () => worker?.terminate(),
  };
}

/**
 * A worker that keeps the counts of a page and says how sure scores are at one setting after another.
 * `ask(setting, scores, answer)` answers for the latest setting, and drops what it overtakes.
 * `compare(batches, setting, answer)` answers for each batch of places, as `closeCalls` does, when
 * nothing else is asked.
 */
export function startJudge(held) {
  const language = document.documentElement.lang;
  const worker = workerOfThisPage();
  let [busy, waiting, later, current] = [true, null, [], null];
  const next = () => {
    current = waiting ?? later.shift() ?? null;
    waiting = null;
    busy = current !== null;
    if (busy) worker.postMessage({ task: current.task, args: current.args, language });
  };
  const isOvertaken = (job) => waiting !== null || job.dropped;
  worker.onmessage = ({ data }) => {
    if (current?.answer && data.done && !isOvertaken(current)) current.answer(data.done);
    next();
  };
  worker.postMessage({ task: "keep", args: [held], language });
  return {
    ask(setting, scores, answer) {
      if (current) current.dropped = true;
      [waiting, later] = [{ task: "judge", args: [setting, scores], answer }, []];
      if (!busy) next();
    },
    compare(batches, setting, answer) {
      later = batches.map((places, i) => ({
        task: "compare",
        args: [places, setting],
        answer: (close) => answer(close, i),
      }));
      if (!busy) next();
    },
    stop: () => worker.terminate(),
  };
}
