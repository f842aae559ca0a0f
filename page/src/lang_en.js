/** Every word of the page in English. Another language is another file with the same keys. */
import { listed, quoted, shortened } from "./python_text.js";

/** How the page names what the command line has options for. */
const CONTROLS = {
  label: "“Label”",
  scores: "“Models”",
  pos_label: "“Positive label”",
  drop_missing: "“Leave out rows with a missing value”",
};

const count = (n) => n.toLocaleString("en");

export const ENGLISH = {
  language: "English",
  locale: "en",
  decimalMark: ".",
  percent: (number) => `${number}\u00a0%`,
  pageTitle: (outcome) => `Which model, at which threshold, for ${outcome}?`,
  theOutcome: "the outcome",
  theCases: "cases",
  /** Titles of axes in place of those that come with the page. */
  axes: {},
  anEvent: "an event",
  patientDays: "patient-days",
  stayAxes: { fpr: "false alarms (% of days without an event)", tpr: "events caught" },

  // Nouns with their plurals.
  alarm: ["alarm", "alarms"],
  falseAlarm: ["false alarm", "false alarms"],
  model: ["model", "models"],
  threshold: ["threshold", "thresholds"],
  case_: ["case", "cases"],

  // The frame of the page.
  skip: "Skip to the result",
  languageLabel: "Language",
  sample: (models, n, cases, rate, outcome) => `${models}, ${n} ${cases}, ${rate} with ${outcome}.`,
  // Limits and costs.
  limitsForm: "Limits and costs",
  limitsTitle: "Your limits",
  floorLegend: "How many alarms must be [correct (PPV)|precision]?",
  floorSlider: "Share of alarms that must be correct, slider",
  floorField: "Share of alarms that must be correct, percent",
  atLeast: "at least",
  recallSummary: "Sensitivity floor",
  recallLegend: "How many with the outcome must be [caught (sensitivity)|recall]?",
  recallSlider: "Share of cases with the outcome that must be caught, slider",
  recallField: "Share of cases with the outcome that must be caught, percent",
  capacityLegend: "How many alarms can you [handle|capacity]?",
  capacitySlider: "Most alarms, slider",
  capacityField: "Most alarms",
  capacityUnit: "Unit of the capacity",
  atMost: "at most",
  shareOfCases: ({ cases }) => `% of ${cases}`,
  countOfCases: ({ cases }) => cases,
  missLegend: "What is a [miss|miss] worth?",
  missHint: "Missing one case is as bad as how many [false alarms|falseAlarm]? Give a range.",
  lowSlider: "A miss is worth at least, slider",
  lowField: "A miss is worth at least this number of false alarms",
  highSlider: "A miss is worth at most, slider",
  highField: "A miss is worth at most this number of false alarms",
  from: "from",
  to: "to",
  spreadLabel: "Between these two,",
  spreadMiss: "all numbers are equally likely",
  spreadRatio: "all cost ratios are equally likely (more weight on low numbers)",
  prevalenceLegend: "How [common|prevalence] is it where you work?",
  ownPrevalence: ({ ownRate }) => `as in the data (${ownRate})`,
  prevalenceSlider: "Prevalence, slider",
  prevalenceField: "Prevalence, percent",
  reset: "Back to the first setting",
  acceptedShare: "0 to 100",
  acceptedCapacity: (cases, most) =>
    `a percentage above 0, up to ${most}; for a number of ${cases}, change the unit`,
  acceptedCount: "a whole number above 0",
  acceptedPrevalence: "a percentage between 0 and 100, at least 1e-98",
  acceptedMiss: (low, high) => `a number from ${low} to ${high}`,
  floorSaid: (share) => `at least ${share} of alarms correct`,
  recallSaid: (share) => `at least ${share} of cases with the outcome caught`,
  atMostSaid: (most) => `at most ${most}`,
  accepted: (what) => `Accepted: ${what}.`,
  backTo: (value, typed, what) =>
    `Back to ${value}: ${typed ?? "this entry"} is not accepted. Accepted: ${what}.`,

  // What an address may hold.
  keyShare: "0 to 1",
  keyPositiveShare: (most) => `above 0, up to ${most}`,
  keyMiss: (low, high) => `two rising numbers from ${low} to ${high}, as 6_9`,
  keySpread: "miss or ratio",
  keyPrevalence: (least) => `own, or between 0 and 1, at least ${least}`,
  keyModel: (n) => `1 to ${n}`,
  keyZoom: "0 or 1",
  noSuchKey: (pair) => `${pair} (no such key)`,
  givenBefore: (pair) => `${pair} (given before)`,
  keyAccepts: (pair, what) => `${pair} (accepted: ${what})`,
  countGivenToo: (pair) => `${pair} (count is given too)`,
  addressProblems: (problems) =>
    `The address was not taken in full; left out: ${problems.join(", ")}.`,

  // The result.
  resultTitle: "Result",
  rankingTitle: "Ranking",
  rankingHint:
    "[Partial VOROS|score]: the share of all classifiers within your limits that this one beats, " +
    "averaged over your costs. 1 is perfect; 0 is no better than never raising an alarm or, with a sensitivity " +
    "floor, than the worst within your limits.",
  sureHint:
    "In small print, 95\u00a0% intervals: of each score by itself, and of how far the models are behind the best, for " +
    "all of them together.",
  rank: "Rank",
  modelHead: "Model",
  scoreHead: "Score",
  behindHead: "vs. best",
  cannotAlarm: "cannot raise an alarm",
  best: "best",
  noModel: "No model can raise an alarm within these limits.",
  oneModel: (model, score) => `${model}: a score of ${score}.`,
  onlyModel: (model) => `Only ${model} can raise alarms within these limits.`,
  and: "and",
  others: (n) => `${n} others`,
  checking: (first) => `${first} has the highest score; checking whether that could be chance …`,
  unknownLead: (first, second, distance) =>
    `${first} has the highest score, ${distance} ahead of ${second}; without resamples this page cannot say ` +
    `whether that is chance.`,
  bestModel: (first, second, distance) => `${first} is best, ${distance} ahead of ${second} (95\u00a0% confidence).`,
  notToldApart: (names, behind, one) =>
    `${names} cannot be told apart` +
    `${behind ? `; the other ${one ? "model is" : `${behind} models are`} worse` : ""}.`,
  withModel: (model, consequence) => `With ${model}: ${consequence}`,
  consequence: ({ total, alarms, correct, missed, positives }, { cases, outcome, stays }) => {
    const raised = `${alarms === 0 ? "none" : count(alarms)} ${alarms > 1 ? "raise" : "raises"} an alarm`;
    const alarmed = stays ? `${alarms === 0 ? "no" : count(alarms)} ${alarms === 1 ? "alarm" : "alarms"}` : raised;
    const ofThem = alarms === 0 ? "" : `, ${correct || "none"} of them ${stays ? "correct" : "correctly"}`;
    const left =
      positives === 0
        ? `fewer than one has ${outcome}`
        : `${missed || "none"} of the ${positives} with ${outcome} ${missed === 1 ? "is" : "are"} missed`;
    return `${stays ? "in" : "of"} ${total} ${cases}, ${alarmed}${ofThem}; ${left}.`;
  },
  noAlarmAtAll: (model) => `${model}: no alarm at all.`,
  deploy: (threshold, precision, recall, { outcome }) =>
    `${threshold === null ? "" : `alarm when the score is at least ${threshold}; then `}` +
    `${precision} of alarms are correct (PPV), and ${recall} of those with ${outcome} are caught (sensitivity).`,
  rateSaid: (rate) => `${rate} alarms per patient-day count for the capacity.`,
  allCases: "for all cases like these",
  nextCases: (n, inPeriods) => `in the next ${n} ${inPeriods ? "periods" : "cases"}`,
  guaranteed: (confidence, about) =>
    `With a confidence of ${confidence} this threshold keeps the limits ${about}, whichever model is chosen.`,
  notGuaranteed: (confidence, about, reach, alarms) =>
    `These cases do not show with a confidence of ${confidence} that this threshold keeps the limits ${about}; ` +
    (reach === null ? "they do for no threshold." : `the lowest threshold for which they do is ${reach} (${alarms}).`),
  guaranteedElsewhere: (confidence, about, limits) =>
    `The guarantee that came with this page (with a confidence of ${confidence}, ${about}) says nothing about ` +
    `these limits. It was tested for: ${limits}`,
  precisionFloor: "the precision floor",
  recallFloor: "the sensitivity floor",
  theCapacity: "the capacity",
  notBound: "Without the limits it would be the same.",
  heldBack: (limits) => `Held back by ${limits.join(" and ")}.`,
  settingText: ({ floor, caught, most, worth, even, rate }) =>
    `At least ${floor} of alarms correct; ${caught === null ? "" : `at least ${caught} caught (sensitivity); `}${most}; a miss worth ${worth}${even}; prevalence ${rate}.`,
  settingShare: (share, cases) => `alarms for at most ${share} of ${cases}`,
  settingRate: (rate) => `at most ${rate} alarms per patient-day`,
  settingCount: (alarms) => `at most ${alarms}`,
  perPeriod: (per) => `alarms per ${per}`,
  exceedLabel: "That holds",
  periodMean: (per) => `per ${per}, on average`,
  periodNever: (per) => `per ${per}, in every one`,
  periodExceed: (per, share) => `per ${per}, on average and in all but ${share} of them`,
  periodsNote: (n, per) => `The data hold ${n.toLocaleString("en")} ${per}${n === 1 ? "" : "s"}.`,
  periodsElsewhere:
    "This page can count the periods above the capacity only at the prevalence of the data; choose that, or the mean over periods.",
  keyExceed: "mean, or a share from 0 to below 1",
  nowhere: "none",
  settingRange: (low, high) => `${low} to ${high}`,
  settingEven: (spread) =>
    ` (uniform ${spread === "miss" ? "in false alarms" : "in the cost ratio"})`,
  asInData: "as in the data",
  reweighted: (rate) => `reweighted to ${rate}`,

  // What a reader must know besides.
  capacityBelowOne: (alarms, cases, least) =>
    `The capacity is ${alarms} among these ${cases}: fewer than one. The smallest that admits an ` +
    `alarm is ${least}.`,
  capacityBelowList: "The capacity is below the shortest list of alarms that any model can raise.",
  floorOutOfReach: (best, model, alarms) =>
    `The precision floor is out of reach: within this capacity the best is ${best}, by ${model} ` +
    `with ${alarms}.`,
  recallOutOfReach: (best, model, alarms) =>
    `The sensitivity floor is out of reach: within the other limits the best is ${best}, by ${model} with ${alarms}.`,
  recallAgainstCapacity: (most) =>
    `The sensitivity floor and the capacity contradict each other: as few alarms cannot catch more than ${most}, ` +
    `whatever the model.`,
  cheapMisses: (worth) =>
    `Your range includes misses worth no more than ${worth}. At those costs alarms that are only just precise ` +
    `enough for you do more harm than good, so a score of 0 no longer means “no better than no alarms”.`,
  thinnedTooFar: (change) =>
    `This page holds thinned counts, and within these limits the stated largest change of ${change} ` +
    `does not hold.`,
  contents: (thresholds, models, positive, negative, { cases, outcome }) =>
    `This page holds counts: at each of ${thresholds} of ${models}, how many alarms were correct and ` +
    `how many were false. Of the ${cases}, ${positive} with and ${negative} without ${outcome} were ` +
    `counted. It holds no rows. A threshold is a score that occurred, so where counts are small, ` +
    `protect the file as you would the data, or thin it.`,
  thinned: (thresholds, one, change, floor) =>
    `To keep this file small, at most ${thresholds} of each model ${one ? "was" : "were"} kept. Every score ` +
    `shown is at most ${change} below the exact one, at any precision floor, cost and prevalence, ` +
    `as long as the capacity is at least ${floor} of those with the outcome and there is no sensitivity floor.`,

  // Pictures.
  peopleTitle: ({ cases }) => `What happens to 100 ${cases}`,
  focusLabel: "Model",
  atLabel: "if a miss is worth",
  bestOne: "the best one",
  bestOneNow: (model) => `the best one: ${model}`,
  caught: "correct alarm",
  missed: "missed",
  falseAlarmed: "false alarm",
  quiet: "correctly left alone",
  groupsTitle: "In each subgroup",
  groupHead: "Subgroup",
  casesHead: "Cases",
  groupFloorHead: "Share that must be correct",
  groupRecallHead: "Share that must be caught",
  floorKept: "kept",
  floorBroken: "broken",
  floorOpen: "too few to say",
  fromTo: (low, high) => `${low} to ${high}`,
  groupsAt: (model, threshold, smallest) =>
    `${model}, ${threshold ? `alarm at score ${threshold}: of the thresholds counted by subgroup, the one ` +
      `nearest to that in use (between two lie at least ${smallest} cases, so that no row can be read off)`
      : "which raises no alarm"}. Below each share its exact interval; those of all subgroups hold together ` +
    `with 95\u00a0% confidence.`,
  groupsElsewhere: "Subgroups are shown at the prevalence of the data only: each has its own.",
  rocTitle: "What each model can do within your limits",
  rocText:
    "Shaded: where the limits are kept. Thick: the [thresholds|threshold] a model can use. Dots: " +
    "those that are best somewhere in your range of costs; the letter marks the one in use.",
  zoom: "zoom in on the limits and costs set here",
  reading: (worth, values) => `Where a miss counts as much as ${worth}: ${values}.`,
  rocRead: (model, caught, false_) => `${model}: ${caught} of the positives caught, ${false_} of the others with a false alarm`,
  thresholdRead: (threshold, alarms, caught) => `alarm from a score of ${threshold}, ${alarms} of all raise an alarm, ${caught} of the positives caught`,
  limitsShort: (floor, caught, most, miss) => `correct ≥ ${floor}, ${caught === null ? "" : `caught ≥ ${caught}, `}alarms ≤ ${most}, a miss counts ${miss}`,
  rocTable: "The thresholds in use, as a table",
  thresholdTitle: "The threshold at other costs:",
  thresholdText: "The more costly a miss, the lower the threshold and the more alarms. The band is your range of costs.",
  thresholdRegion: "Thresholds across your costs",
  missHead: "A miss is worth",
  scoreAtHead: "Alarm at score",
  alarmsHead: "Alarms",
  rightHead: "Correct (PPV)",
  caughtHead: "Caught (sensitivity)",
  falseAlarmsHead: "False alarms",
  areaTitle: "How good, at which cost",
  areaText:
    "At each cost: the share of the shaded region that is worse than the model's best threshold. " +
    "The score is the mean over the band.",
  areaTable: "The curves as a table",
  decisionTitle: "What the alarms gain: net benefit",
  decisionHint:
    "True positives per case, less the false ones at their price: the [net benefit|netBenefit] at each " +
    "[threshold probability|probability]. Strong lines: within your limits; faint: without them (the gap is what " +
    "the limits cost); dotted: the model in view, with an alarm wherever its score, a probability, is at least " +
    "that high; dashed: an alarm for everybody; zero: for nobody. The band is your range of costs.",
  decisionTable: "The net benefit as a table",
  probabilityAxis: "threshold probability",
  gain: ({ model, worth, risk, within, limits, money }, { cases }) =>
    `If a miss is worth ${worth}, which is a threshold probability of ${risk}, ${model} gains as much as ` +
    `${within} true positives without a false one in 1,000 ${cases}` +
    `${money === null ? "" : `, ${money} in money`}; the limits cost ${limits}.`,
  gainWithin: (risk) => `Net benefit at ${risk}`,
  gainLimits: (risk) => `What the limits cost at ${risk}`,
  everybody: "an alarm for everybody",
  noAlarmRow: "no alarm at all",
  costsTitle: ({ cases }) => `What 1,000 ${cases} cost`,
  costsHint:
    "The [expected cost|expectedCost]: false alarms, and misses at what they are worth, on average over your " +
    "range of costs. Each model uses its best threshold.",
  priceLabel: "One false alarm costs, in money",
  priceHint: "Left empty, costs are counted in false alarms.",
  acceptedPrice: "a number above 0, up to 1e100",
  costsOf: (cases, price) =>
    price === null ? `1,000 ${cases}, in false alarms` : `1,000 ${cases}, in money, a false alarm at ${price}`,
  costsRegion: "Expected costs",
  withinHead: "Within your limits",
  freeHead: "Without them",
  limitsCostHead: "The limits cost",
  missWorth: (worth) => `A miss worth ${worth}`,
  mapTitle: "Would other limits change the winner?",
  mapHelp:
    "The cross is your setting, a letter the model that wins there; grey: no model can raise an alarm. Click to " +
    "go there, or move with the arrow keys and press Enter.",
  hatchingComes: "Places where models cannot be told apart are being computed, and will be hatched.",
  hatchedByInterval: "Hatched: the best model cannot be told apart from another, by 95\u00a0% intervals for all models together.",
  notHatched: "This page has no resamples, so it cannot say where models cannot be told apart.",
  mapLabel: "Map of winners",
  mapTable: "The map as a table",
  mapShare: (model, share) => `${model} in ${share}`,
  mapText: (shares) => `Best of these limits: ${shares.join(", ")}.`,
  mapNobody: "No model is usable here.",
  mapAxis: (title, isCount, { stays }) =>
    `${title} (${isCount ? "alarms" : stays ? "alarms per patient-day" : "share of cases"})`,
  mapPlace: (most, floor) => `Capacity ${most}, precision floor ${floor}`,
  mapNoModel: (place) => `${place}: no model can raise an alarm.`,
  mapWinner: (place, model, close) => `${place}: ${model}${close === null ? "" : `, ${close}`}.`,
  floorByCapacity: "Floor, by capacity",
  noModelCell: "no model",
  closeCell: (model) => `${model} or another`,
  tooCloseCell: "cannot be told apart from others",
  never: "never",
  notRecorded: "not recorded",
  range: (from, to) => `${from} to ${to}`,
  drawAll: "draw all models, not only the first eight",
  keepPicture: (kind) => `Save as ${kind}`,
  keep: "Save",
  example: "Try it with an example",
  exampleName: "example",
  columnNumber: (n) => `column ${n}`,
  headerAsk: "The first row holds only numbers. Is it a row of data, or does it have the names of the columns?",
  headerData: "It is data: there are no names",
  headerNames: "It has the names",
  noModels: "none",
  dayLabel: "Alarms per day, by the date in",
  noDays: "not per day",
  allModels: "all",
  findModel: "Find a column",
  patientLabel: "Patient of each row",
  nobody: "each row is another patient",
  byPatient: (n, column) => `intervals draw whole patients (${n}, by column ${quoted(column)})`,
  prevalenceSummary: "Prevalence",
  deployTitle: "The threshold to deploy",
  keepSlide: "Save as a slide",

  // Five questions.
  guideTitle: "Five questions, if the sliders are hard to set",
  guideHint:
    "Answer for yourself; others answer on their own copies. Load everybody's answers to see where you " +
    "agree. Nothing is sent: answers are kept in files that you save.",
  guideStart: "Ask me five questions",
  guideOpen: "Not sure? Answer five questions",
  guideLoad: "Load answers:",
  questionOf: (number, all) => `Question ${number} of ${all}`,
  askFloor: "Of 10 alarms, how many must be correct for people to keep looking at them?",
  ofTen: "of 10",
  askCapacity: ({ cases }) => `For how many of 100 ${cases} can somebody respond to an alarm?`,
  ofHundred: "of 100",
  offer: (n, { cases, outcome }) =>
    `Would you accept ${n} false alarms to catch one more of the ${cases} with ${outcome}?`,
  yes: "Yes",
  no: "No",
  next: "Next",
  whoAnswers: "Who answers?",
  somebody: "somebody",
  useMine: "Use these limits",
  useEverybody: "Use limits that suit everybody",
  saveAnswers: "Save the answers",
  guideResult: (floor, most, worth) =>
    `At least ${floor} of alarms correct, alarms for at most ${most}, and a miss worth ${worth} false alarms.`,
  allAccepted: (n) =>
    `You accepted every offer, so a miss is worth at least ${n} false alarms; ${n} is what the page uses.`,
  allRefused: (n) =>
    `You refused every offer, so a miss is worth less than ${n} false alarms; ${n} is what the page uses.`,
  offersContradict: (yes, no) =>
    `These answers contradict each other: ${yes} false alarms were accepted, and ${no} refused.`,
  floorTooLow: ({ floor, tolerated, refused }) =>
    `Two answers contradict each other: with ${floor} of alarms correct there are ${tolerated} false alarms for each ` +
    `correct one, and you refused ${refused}. A higher share of correct alarms would fit.`,
  floorForbids: ({ floor, tolerated, accepted }) =>
    `Two answers pull in different directions: you would accept ${accepted} false alarms for one more case, but with ` +
    `${floor} of alarms correct there are at most ${tolerated} for each correct one. The share of correct alarms decides.`,
  answersLabel: "Everybody's answers",
  whoHead: "Who",
  floorHead: "Correct, at least",
  capacityHead: "Alarms, at most",
  bestHead: "Best model",
  agree: (model) => `For everybody who answered, ${model} is best.`,
  disagree: (models) => `It depends on who answers: each of ${models.join(", ")} is best for somebody.`,
  badAnswer: (file) => `${file} holds no complete answers; accepted is what this page saves`,
  badAnswerLine: (file, line) => `${file}: line ${line} cannot be read; accepted is what this page saves`,

  // Two settings side by side.
  compareTitle: "Compare two settings or two wards",
  compareHint:
    "Keep this setting, then set the limits, costs and prevalence of the other ward, or load its file where this " +
    "page reads files: the table shows both. Scores of different limits are not comparable, so it compares alarms, " +
    "cases caught and missed, and costs.",
  keepSetting: "Keep this setting to compare",
  dropSetting: "Stop comparing",
  comparedLabel: "Both settings",
  keptHead: "Kept",
  nowHead: "Now",
  differenceHead: "Difference",
  dataRow: "Data",
  limitsRow: "Limits and costs",
  resultRow: "Result",
  modelRow: "Model in view",
  alarmsRow: ({ cases }) => `Alarms among 1,000 ${cases}`,
  falseRow: "of these, false alarms",
  caughtRow: ({ outcome }) => `Caught, with ${outcome}`,
  missedRow: ({ outcome }) => `Missed, with ${outcome}`,
  costRow: (worth) => `Cost in false alarms, a miss worth ${worth}`,

  // Keeping and sharing.
  sharingTitle: "Keep or share this setting",
  sharingHint:
    "The address of this page holds the setting. To use the setting in another copy of this file, put the part " +
    "after the # behind the address of that copy.",
  linkLabel: "Link",
  copyLink: "Copy link",
  copyThreshold: "Copy the exact threshold",
  forAnalysts: "For analysts: this setting as code",
  copyToml: "Copy TOML",
  copyPython: "Copy Python",
  copied: "Copied.",
  copiedCode:
    "Copied: the setting as a code. This page is a file on this computer, so send the file too, and put the code " +
    "behind its address on the other computer.",
  selected: "Selected: press Ctrl+C to copy.",
  print: "Print this page",
  aboutTitle: "About this page",
  aboutText: "Everything is computed in this file. It loads nothing and sends nothing.",
  aboutSource: "Made with voros. Partial VOROS is from Ratigan et al., AISTATS 2026.",

  // Words that are explained where they stand.
  glossaryTitle: "Words on this page",
  glossary: {
    alarm: ["Alarm", "The score of a case is at or above the threshold, so that somebody looks."],
    falseAlarm: ["False alarm", "An alarm for a case that does not have the outcome."],
    miss: ["Miss", "A case that has the outcome and raises no alarm."],
    precision: ["Precision floor", "The least share of alarms that must be correct: the positive predictive value (PPV)."],
    recall: ["Sensitivity", "The share of cases with the outcome that raise an alarm, also called recall; a floor on it is the least share that must be caught."],
    capacity: ["Capacity", "The most alarms that you can handle."],
    prevalence: ["Prevalence", "The share of cases that have the outcome."],
    threshold: ["Threshold", "A model raises an alarm at this score and above."],
    netBenefit: [
      "Net benefit",
      "True positives per case, less the false ones at their price: 0.02 is worth two more true positives in 100 " +
        "cases without a false one. Raising no alarm has 0.",
    ],
    probability: [
      "Threshold probability",
      "The lowest risk at which an alarm is worth it. At 10\u00a0% a miss is worth 9 false alarms; at 50\u00a0% just one.",
    ],
    expectedCost: [
      "Expected cost",
      "The mean cost over your range: each false alarm costs 1, and each miss the false alarms that it is worth.",
    ],
    score: [
      "Partial VOROS",
      "How much of what is possible within your limits a model achieves, averaged over your costs, from 0 to 1.",
    ],
  },

  // A file of one's own.
  loaderTitle: "Your own file",
  loaderHint:
    "A CSV or TSV file with a row for each case: one column says what happened, and each model has a " +
    "column of scores. It is read here, in your browser. It is sent nowhere, and no row is kept once " +
    "it is counted.",
  dropLabel: "Drop a file here, or choose one",
  pasteSummary: "Or paste rows",
  pasteLabel: "Rows, the first with the names of the columns",
  pasteButton: "Read what is pasted",
  labelLabel: "Label: what happened",
  positiveLabel: "Positive label: the outcome",
  modelsLegend: "Models",
  dropMissing: "Leave out rows with a missing value",
  outcomeWord: "What does an alarm warn of?",
  casesWord: "What is counted?",
  count: "Show the result",
  counting: "Rows counted",
  again: "Other columns, or another file",
  savePage: "Save the page with these counts",
  chooseColumn: "choose a column",
  positiveByItself: "1 or true",
  pastedName: "the pasted text",
  loaded: (file, notes) => [`Counted: ${file}`, ...notes].join("; ") + ". No row is kept.",

  // Reading a file: the sentences of the command line.
  isEmpty: (file) => `${file} is empty; it needs a header and rows`,
  notTable: {
    zip: (file) => `${file} is a zip archive or an Excel workbook; save the sheet as CSV`,
    xls: (file) => `${file} is an old Excel workbook; save the sheet as CSV`,
    pdf: (file) => `${file} is a PDF document; name a table`,
    sqlite: (file) => `${file} is a database; export the table as CSV`,
    utf16: (file) => `${file} is UTF-16 text; save it as UTF-8`,
  },
  otherFormat: (file, format) =>
    `${file} is ${format}; this page reads CSV and TSV. The command line reads it: voros explore`,
  decimalCommas: (file) => `numbers in ${file} are read with decimal commas`,
  separatedBy: (file, mark) => `${file} is separated by ${quoted(mark)}`,
  noRows: (names) => `there are column names (${names.join(", ")}) and no rows; add the cases`,
  where: (row, line) => `row ${row} (line ${line})`,
  header: (line) => `the header (line ${line})`,
  cellCount: (where, cells, header) =>
    `${where} has ${cells} ${cells === 1 ? "cell" : "cells"} and the header ${header}; fix that row`,
  notUtf8: (where, raw, meant) =>
    `${where} is not UTF-8 text: ${raw}, which is ${quoted(meant)} in Latin-1; save the file as UTF-8`,
  unclosedQuote: (line) =>
    `the quote that opens in line ${line} is never closed; close or remove it, because all ` +
    `text after it would be one cell`,
  withComma: "a number with a comma; write a decimal point, and nothing between thousands",
  percentage: (text, share) => `a percentage; write ${text} as ${share}`,
  badNumber: (where, column, cell, almost) =>
    `${where}, column ${quoted(column)}: ${quoted(cell)} ` +
    (almost === null ? "is not a number; fix or remove that row" : `is ${almost}`),
  missingValues: (column, missing, rows, first) =>
    `column ${quoted(column)} has no value in ${missing} of ${rows} rows, first in row ${first}; ` +
    `fix them, or leave those rows out with ${CONTROLS.drop_missing}`,
  allMissing: "every row has a missing value",
  leftOutRows: (missing, rows) => `leaving out ${missing} of ${rows} rows with a missing value`,

  // Which column is what.
  tookLabel: (name) => `taking column ${quoted(name)} as the label (another one: ${CONTROLS.label})`,
  tookModels: (names) => `taking as models: ${names.map(quoted).join(", ")} (others: ${CONTROLS.scores})`,
  noLabel: (candidates, names) =>
    `${candidates.length ? `${listed(candidates)} could all be` : "no column is clearly"} the label; name ` +
    `it with ${CONTROLS.label} (columns: ${listed(names)})`,
  noScores: (names, leftOut) =>
    `no column looks like scores; name them with ${CONTROLS.scores} (columns: ` +
    `${listed(names)})${leftOut.length ? `; left out: ${shortened(leftOut)}` : ""}`,
  leftOutColumns: (leftOut) => `left out: ${shortened(leftOut)}`,
  reason: (name, why) => `${quoted(name)} (${why})`,
  repeatedColumn: (file, name) => `${file} has more than one column ${quoted(name)}; rename them`,
  whyNull: (rows) => `no value in the first ${count(rows)} rows`,
  whyBinary: "text that is not UTF-8",
  whyType: (isTime) => (isTime ? "times of day" : "dates"),
  whyText: "text",
  whyAlmost: (text, almost) => `text such as ${quoted(text)}, ${almost}`,
  anIdentifier: "looks like an identifier",
  aProperty: "looks like a property of the case",
  bothRoles: (name) =>
    `column ${quoted(name)} is named as both ${CONTROLS.label} and ${CONTROLS.scores}; it can be one only`,

  // Labels.
  titled: (name) => `column ${quoted(name)}`,
  oneClass: (title, held) =>
    `${title} holds ${held ? "positive" : "negative"} cases only; both classes are needed to draw a ROC curve`,
  notBinary: (title, n, shown) => `${title} has ${n} distinct labels (${shown}); two are accepted`,
  ambiguous: (title, shown) =>
    `${title} has the labels ${shown}, and which of them is the positive class is not clear; choose ${CONTROLS.pos_label}`,
  absentLabel: (title, wanted, shown) =>
    `${CONTROLS.pos_label}=${wanted} is not one of the labels of ${title} (${shown})`,
  notNumericLabel: (title, wanted) =>
    `${CONTROLS.pos_label}=${quoted(wanted)} is not a number, and ${title} holds numbers`,
};
