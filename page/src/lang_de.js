/** Alle Wörter der Seite auf Deutsch; die Schlüssel sind die der englischen Datei. */
import { listed, quoted, shortened } from "./python_text.js";

/** Wie die Seite nennt, wofür die Befehlszeile Optionen hat. */
const FELDER = {
  label: "„Label“",
  scores: "„Modelle“",
  pos_label: "„Positives Label“",
  drop_missing: "„Zeilen mit fehlendem Wert auslassen“",
};

const ZEITRAUM = { hour: "Stunde", shift: "Schicht", day: "Tag", week: "Woche", month: "Monat" };

const ZEITRÄUME = { hour: "Stunden", shift: "Schichten", day: "Tage", week: "Wochen", month: "Monate" };

/** Das Ereignis, das die Seite nennt, in Klammern; nichts, wo es keinen Namen hat. */
const genannt = (outcome) => (outcome === GERMAN.theOutcome ? "" : ` (${outcome})`);

/** Der Dativ einer Mehrzahl: Fällen, Patienten, Kindern. */
const dativ = (cases) => (/[ns]$/.test(cases) ? cases : `${cases}n`);

const anzahl = (n) => n.toLocaleString("de");

export const GERMAN = {
  language: "Deutsch",
  locale: "de",
  decimalMark: ",",
  percent: (number) => `${number}\u00a0%`,
  pageTitle: (outcome) => `Welches Modell, ab welchem Schwellenwert, für ${outcome}?`,
  theOutcome: "das Ereignis",
  theCases: "Fälle",
  anEvent: "ein Ereignis",
  patientDays: "Patiententage",
  stayAxes: { fpr: "Fehlalarme (% der Tage ohne Ereignis)", tpr: "erkannte Ereignisse" },
  axes: {
    fpr: "Fehlalarmrate (FPR)",
    tpr: "Sensitivität (TPR)",
    area: "bester Flächenanteil",
    miss: "Fehlalarme je übersehenem Fall",
    threshold: "Alarm ab diesem Wert",
    min_precision: "Mindestanteil richtiger Alarme",
    capacity: "Kapazität",
    net_benefit: "Nettonutzen",
  },

  alarm: ["Alarm", "Alarme"],
  falseAlarm: ["Fehlalarm", "Fehlalarme"],
  model: ["Modell", "Modelle"],
  threshold: ["Schwellenwert", "Schwellenwerte"],
  case_: ["Fall", "Fälle"],

  skip: "Zum Ergebnis springen",
  languageLabel: "Sprache",
  sample: (models, n, cases, rate, outcome) => `${models}, ${n} ${cases}, ${rate} mit Ereignis${genannt(outcome)}.`,
  limitsForm: "Grenzen und Kosten",
  limitsTitle: "Ihre Grenzen",
  floorLegend: "Wie viele Alarme müssen [richtig (PPV)|precision] sein?",
  floorSlider: "Anteil richtiger Alarme, Regler",
  floorField: "Anteil richtiger Alarme in Prozent",
  atLeast: "mindestens",
  recallSummary: "Mindest-Sensitivität",
  recallLegend: "Wie viele mit dem Ereignis müssen [erkannt werden (Sensitivität)|recall]?",
  recallSlider: "Mindest-Sensitivität, Regler",
  recallField: "Mindest-Sensitivität in Prozent",
  capacityLegend: "Wie viele Alarme können Sie [bearbeiten|capacity]?",
  capacitySlider: "Höchstzahl der Alarme, Regler",
  capacityField: "Höchstzahl der Alarme",
  capacityUnit: "Einheit der Kapazität",
  atMost: "höchstens",
  shareOfCases: ({ cases }) => `% der ${cases}`,
  countOfCases: ({ cases }) => cases,
  missLegend: "Wie schwer wiegt ein [übersehener Fall|miss]?",
  missHint: "Wie viele [Fehlalarme|falseAlarm] wiegen einen übersehenen Fall auf? Nennen Sie eine Spanne.",
  lowSlider: "Ein übersehener Fall wiegt mindestens, Regler",
  lowField: "Ein übersehener Fall wiegt mindestens so viele Fehlalarme",
  highSlider: "Ein übersehener Fall wiegt höchstens, Regler",
  highField: "Ein übersehener Fall wiegt höchstens so viele Fehlalarme",
  from: "von",
  to: "bis",
  spreadLabel: "Dazwischen sind",
  spreadMiss: "alle Zahlen gleich wahrscheinlich",
  spreadRatio: "alle Kostenverhältnisse gleich wahrscheinlich (mehr Gewicht auf kleinen Zahlen)",
  prevalenceLegend: "Wie [häufig (Prävalenz)|prevalence] ist es bei Ihnen?",
  ownPrevalence: ({ ownRate }) => `wie in den Daten (${ownRate})`,
  prevalenceSlider: "Prävalenz, Regler",
  prevalenceField: "Prävalenz in Prozent",
  reset: "Zurück zur ersten Einstellung",
  acceptedShare: "0 bis 100",
  acceptedCapacity: (cases, most) =>
    `ein Prozentsatz über 0, bis ${most}; für eine Anzahl (${cases}) ändern Sie die Einheit`,
  acceptedCount: "eine ganze Zahl über 0",
  acceptedPrevalence: "ein Prozentsatz zwischen 0 und 100, mindestens 1e-98",
  acceptedMiss: (low, high) => `eine Zahl von ${low} bis ${high}`,
  floorSaid: (share) => `mindestens ${share} der Alarme sind richtig`,
  recallSaid: (share) => `mindestens ${share} der Fälle mit dem Ereignis werden erkannt`,
  atMostSaid: (most) => `höchstens ${most}`,
  accepted: (what) => `Möglich: ${what}.`,
  backTo: (value, typed, what) =>
    `Zurück zu ${value}: ${typed ?? "diese Eingabe"} geht nicht. Möglich: ${what}.`,

  keyShare: "0 bis 1",
  keyPositiveShare: (most) => `über 0, bis ${most}`,
  keyMiss: (low, high) => `zwei steigende Zahlen von ${low} bis ${high}, wie 6_9`,
  keySpread: "miss oder ratio",
  keyPrevalence: (least) => `own, oder zwischen 0 und 1, mindestens ${least}`,
  keyModel: (n) => `1 bis ${n}`,
  keyZoom: "0 oder 1",
  noSuchKey: (pair) => `${pair} (unbekannt)`,
  givenBefore: (pair) => `${pair} (schon genannt)`,
  keyAccepts: (pair, what) => `${pair} (möglich: ${what})`,
  countGivenToo: (pair) => `${pair} (count ist auch genannt)`,
  addressProblems: (problems) =>
    `Die Adresse wurde nicht ganz übernommen; ausgelassen: ${problems.join(", ")}.`,

  resultTitle: "Ergebnis",
  rankingTitle: "Rangfolge",
  rankingHint:
    "[Partial VOROS|score]: der Anteil aller Modelle innerhalb Ihrer Grenzen, die schlechter sind als " +
    "dieses, gemittelt über Ihre Kosten. 1 ist vollkommen; 0 ist nicht besser als gar kein Alarm oder, mit einer " +
    "Mindest-Sensitivität, als das schlechteste innerhalb Ihrer Grenzen.",
  sureHint:
    "Klein gedruckt: 95-%-Intervalle, für jeden Wert einzeln, und für die Abstände zum besten Modell für alle " +
    "zusammen.",
  rank: "Rang",
  modelHead: "Modell",
  scoreHead: "Wert",
  behindHead: "Abstand",
  cannotAlarm: "kann keinen Alarm auslösen",
  best: "das beste",
  noModel: "Kein Modell kann innerhalb dieser Grenzen einen Alarm auslösen.",
  oneModel: (model, score) => `${model}: ein Wert von ${score}.`,
  onlyModel: (model) => `Nur ${model} kann innerhalb dieser Grenzen einen Alarm auslösen.`,
  and: "und",
  others: (n) => `${n} weitere`,
  checking: (first) => `${first} hat den höchsten Wert; ob das Zufall sein kann, wird geprüft …`,
  unknownLead: (first, second, distance) =>
    `${first} hat den höchsten Wert, ${distance} vor ${second}; ohne Bootstrap-Stichproben kann diese Seite nicht ` +
    `sagen, ob das Zufall ist.`,
  bestModel: (first, second, distance) => `Am besten: ${first}, ${distance} vor ${second} (95 % Konfidenz).`,
  notToldApart: (names, behind, one) =>
    `${names} sind nicht zu unterscheiden` +
    `${behind ? `; ${one ? "das andere Modell ist" : `die anderen ${behind} Modelle sind`} schlechter` : ""}.`,
  withModel: (model, consequence) => `Mit ${model}: ${consequence}`,
  consequence: ({ total, alarms, correct, missed, positives }, { cases, outcome, stays }) => {
    const alarmed = alarms === 0 ? "kein Alarm" : `${anzahl(alarms)} ${alarms === 1 ? "Alarm" : "Alarme"}`;
    const davon = alarms === 0 ? "" : `, davon ${correct || "keiner"} richtig`;
    const left =
      positives === 0
        ? `weniger als ein Fall mit Ereignis${genannt(outcome)}`
        : `${missed || "keiner"} von ${positives} mit Ereignis${genannt(outcome)} ${missed > 1 ? "werden" : "wird"} übersehen`;
    return `${stays ? "in" : "von"} ${total} ${dativ(cases)}: ${alarmed}${davon}; ${left}.`;
  },
  noAlarmAtAll: (model) => `${model}: gar kein Alarm.`,
  deploy: (threshold, precision, recall, { outcome }) =>
    `${threshold === null ? `${precision} der Alarme sind` : `Alarm ab einem Wert von ${threshold}; dann sind ${precision} der Alarme`} ` +
    `richtig (positiver Vorhersagewert), und von allen mit Ereignis` +
    `${genannt(outcome)} werden ${recall} erkannt (Sensitivität).`,
  rateSaid: (rate) => `Für die Kapazität zählen ${rate} Alarme pro Patiententag.`,
  allCases: "für alle Fälle wie diese",
  nextCases: (n, inPeriods) => `in den nächsten ${n} ${inPeriods ? "Zeiträumen" : "Fällen"}`,
  guaranteed: (confidence, about) =>
    `Mit ${confidence} Konfidenz hält dieser Schwellenwert die Grenzen ${about} ein, gleich welches Modell ` +
    `gewählt wird.`,
  notGuaranteed: (confidence, about, reach, alarms) =>
    `Diese Fälle zeigen nicht mit ${confidence} Konfidenz, dass dieser Schwellenwert die Grenzen ${about} ` +
    `einhält; ` +
    (reach === null ? "sie zeigen es für keinen." : `der niedrigste, für den sie es zeigen, ist ${reach} (${alarms}).`),
  guaranteedElsewhere: (confidence, about, limits) =>
    `Die Garantie, die mit dieser Seite kam (mit ${confidence} Konfidenz, ${about}), sagt nichts über diese ` +
    `Grenzen. Geprüft wurde sie für: ${limits}`,
  precisionFloor: "den Mindestanteil richtiger Alarme",
  recallFloor: "die Mindest-Sensitivität",
  theCapacity: "die Kapazität",
  notBound: "Ohne die Grenzen wäre es ebenso.",
  heldBack: (limits) => `Begrenzt durch ${limits.join(" und ")}.`,
  settingText: ({ floor, caught, most, worth, even, rate }) =>
    `Mindestens ${floor} der Alarme sind richtig; ${caught === null ? "" : `Sensitivität mindestens ${caught}; `}${most}; ein übersehener Fall wiegt ${worth}${even}; Prävalenz ${rate}.`,
  settingShare: (share, cases) => `Alarm für höchstens ${share} der ${cases}`,
  settingRate: (rate) => `höchstens ${rate} Alarme pro Patiententag`,
  settingCount: (alarms) => `höchstens ${alarms}`,
  perPeriod: (per) => `Alarme pro ${ZEITRAUM[per] ?? per}`,
  exceedLabel: "Das gilt",
  periodMean: (per) => `pro ${ZEITRAUM[per] ?? per} im Mittel`,
  periodNever: (per) => `pro ${ZEITRAUM[per] ?? per}, ausnahmslos`,
  periodExceed: (per, share) => `pro ${ZEITRAUM[per] ?? per} im Mittel, und in jedem bis auf ${share}`,
  periodsNote: (n, per) => `Die Daten umfassen ${n.toLocaleString("de")} ${(n === 1 ? ZEITRAUM : ZEITRÄUME)[per] ?? per}.`,
  periodsElsewhere:
    "Zeiträume über der Kapazität kann diese Seite nur bei der Prävalenz der Daten zählen; wählen Sie diese, oder das Mittel.",
  keyExceed: "mean oder ein Anteil von 0 bis unter 1",
  nowhere: "keiner",
  settingRange: (low, high) => `${low} bis ${high}`,
  settingEven: (spread) =>
    ` (gleichverteilt ${spread === "miss" ? "in Fehlalarmen" : "im Kostenverhältnis"})`,
  asInData: "wie in den Daten",
  reweighted: (rate) => `umgerechnet auf ${rate}`,

  capacityBelowOne: (alarms, cases, least) =>
    `Die Kapazität ist hier (${cases}) ${alarms}, weniger als einer. Die kleinste, die einen Alarm ` +
    `zulässt, ist ${least}.`,
  capacityBelowList: "Die Kapazität liegt unter der kürzesten Liste von Alarmen aller Modelle.",
  floorOutOfReach: (best, model, alarms) =>
    `Der Mindestanteil richtiger Alarme ist nicht zu erreichen: innerhalb dieser Kapazität ist das ` +
    `Beste ${best}, von ${model} mit ${alarms}.`,
  recallOutOfReach: (best, model, alarms) =>
    `Die Mindest-Sensitivität ist nicht zu erreichen: innerhalb der anderen Grenzen ist das Beste ${best}, von ` +
    `${model} mit ${alarms}.`,
  recallAgainstCapacity: (most) =>
    `Mindest-Sensitivität und Kapazität widersprechen sich: so wenige Alarme können höchstens ${most} erkennen, ` +
    `gleich mit welchem Modell.`,
  cheapMisses: (worth) =>
    `Ihre Spanne enthält übersehene Fälle, die höchstens ${worth} aufwiegen. Bei diesen Kosten schaden Alarme, die ` +
    `Ihren Mindestanteil gerade noch einhalten, mehr als sie nützen; ein Wert von 0 heißt dann nicht mehr „nicht ` +
    `besser als gar kein Alarm“.`,
  thinnedTooFar: (change) =>
    `Diese Seite enthält ausgedünnte Zahlen, und innerhalb dieser Grenzen gilt die genannte größte ` +
    `Abweichung von ${change} nicht.`,
  contents: (thresholds, models, positive, negative, { cases, outcome }) =>
    `Diese Seite enthält Zahlen (${thresholds}, ${models}): wie viele Alarme jeweils richtig und wie ` +
    `viele falsch waren. Gezählt wurden ${positive} ${cases} mit und ${negative} ohne Ereignis${genannt(outcome)}. Sie ` +
    `enthält keine Zeilen. Ein Schwellenwert ist ein Wert, der vorkam; wo die Zahlen klein sind, ` +
    `schützen Sie die Datei wie die Daten selbst, oder dünnen Sie sie aus.`,
  thinned: (thresholds, one, change, floor) =>
    `Damit diese Datei klein bleibt, ${one ? "wurde" : "wurden"} höchstens ${thresholds} je Modell behalten. ` +
    `Jeder gezeigte Wert liegt höchstens ${change} unter dem genauen, bei allen Grenzen, Kosten und ` +
    `Prävalenzen, solange die Kapazität mindestens ${floor} der Fälle mit dem Ereignis beträgt und es keine ` +
    `Mindest-Sensitivität gibt.`,

  peopleTitle: ({ cases }) => `Was mit 100 ${dativ(cases)} geschieht`,
  focusLabel: "Modell",
  atLabel: "wenn ein übersehener Fall wiegt:",
  bestOne: "das beste",
  bestOneNow: (model) => `das beste: ${model}`,
  caught: "richtiger Alarm",
  missed: "übersehen",
  falseAlarmed: "Fehlalarm",
  quiet: "richtig ohne Alarm",
  groupsTitle: "In jeder Untergruppe",
  groupHead: "Untergruppe",
  casesHead: "Fälle",
  groupFloorHead: "Anteil, der stimmen muss",
  groupRecallHead: "Mindest-Sensitivität",
  floorKept: "eingehalten",
  floorBroken: "verletzt",
  floorOpen: "zu wenige, um es zu sagen",
  fromTo: (low, high) => `${low} bis ${high}`,
  groupsAt: (model, threshold, smallest) =>
    `${model}, ${threshold ? `Alarm ab Wert ${threshold}: von den nach Untergruppen gezählten Schwellenwerten ` +
      `der dem genutzten nächste (zwischen zweien liegen mindestens ${smallest} Fälle, damit sich keine ` +
      `Zeile ablesen lässt)` : "das keinen Alarm auslöst"}. Unter jedem Anteil sein exaktes Intervall; die aller ` +
    `Untergruppen gelten zusammen mit 95 % Konfidenz.`,
  groupsElsewhere: "Untergruppen werden nur bei der Prävalenz der Daten gezeigt: jede hat ihre eigene.",
  rocTitle: "Was jedes Modell innerhalb Ihrer Grenzen kann",
  rocText:
    "Gefärbt: wo die Grenzen eingehalten sind. Dick: die [Schwellenwerte|threshold], die ein Modell " +
    "nutzen kann. Punkte: die in Ihrer Kostenspanne irgendwo besten; der Buchstabe steht am genutzten.",
  zoom: "auf die eingestellten Grenzen und Kosten vergrößern",
  reading: (worth, values) => `Wo ein übersehener Fall so viel wiegt wie ${worth}: ${values}.`,
  rocRead: (model, caught, false_) => `${model}: ${caught} der Positiven erkannt, ${false_} der Übrigen mit Fehlalarm`,
  thresholdRead: (threshold, alarms, caught) => `Alarm ab einem Wert von ${threshold}, ${alarms} aller Fälle lösen Alarm aus, ${caught} der Positiven erkannt`,
  limitsShort: (floor, caught, most, miss) => `richtig ≥ ${floor}, ${caught === null ? "" : `erkannt ≥ ${caught}, `}Alarme ≤ ${most}, ein übersehener Fall wiegt ${miss}`,
  rocTable: "Die genutzten Schwellenwerte als Tabelle",
  thresholdTitle: "Der Schwellenwert bei anderen Kosten:",
  thresholdText:
    "Je schwerer ein übersehener Fall wiegt, desto niedriger der Schwellenwert und desto mehr Alarme. Das " +
    "Band ist Ihre Kostenspanne.",
  thresholdRegion: "Schwellenwerte über Ihre Kosten",
  missHead: "Ein übersehener Fall wiegt",
  scoreAtHead: "Alarm ab Wert",
  alarmsHead: "Alarme",
  rightHead: "Richtig (PPV)",
  caughtHead: "Erkannt (Sensi\u00adtivität)",
  falseAlarmsHead: "Fehlalarme",
  areaTitle: "Wie gut, bei welchen Kosten",
  areaText:
    "Bei jedem Kostenverhältnis: der Anteil des gefärbten Bereichs, der schlechter ist als der beste " +
    "Schwellenwert des Modells. Der Wert in der Rangfolge ist das Mittel über das Band.",
  areaTable: "Die Kurven als Tabelle",
  decisionTitle: "Was die Alarme bringen: Nettonutzen",
  decisionHint:
    "Richtige Alarme je Fall, weniger die falschen zu ihrem Preis: der [Nettonutzen|netBenefit], bei jeder " +
    "[Schwellenwahrscheinlichkeit|probability]. Kräftig: innerhalb Ihrer Grenzen; blass: ohne sie, so dass der " +
    "Abstand ist, was die Grenzen kosten; gepunktet: das gezeigte Modell, wenn es immer ab dieser " +
    "Wahrscheinlichkeit alarmiert; gestrichelt: Alarm für alle; null: für niemanden. Das Band ist Ihre Kostenspanne.",
  decisionTable: "Der Nettonutzen als Tabelle",
  probabilityAxis: "Schwellenwahrscheinlichkeit",
  gain: ({ model, worth, risk, within, limits, money }, { cases }) =>
    `Wiegt ein übersehener Fall ${worth}, also bei einer Schwellenwahrscheinlichkeit von ${risk}, bringt ${model} so viel ` +
    `wie ${within} richtige Alarme ohne einen falschen auf 1.000 ${cases}` +
    `${money === null ? "" : `, in Euro ${money}`}; die Grenzen kosten ${limits}.`,
  gainWithin: (risk) => `Nettonutzen bei ${risk}`,
  gainLimits: (risk) => `Was die Grenzen kosten bei ${risk}`,
  everybody: "Alarm für alle",
  noAlarmRow: "gar kein Alarm",
  costsTitle: ({ cases }) => `Was 1.000 ${cases} kosten`,
  costsHint:
    "Die [erwarteten Kosten|expectedCost]: Fehlalarme, und Übersehenes mit seinem Gewicht, im Mittel über Ihre " +
    "Kostenspanne. Jedes Modell nutzt seinen besten Schwellenwert.",
  priceLabel: "Ein Fehlalarm kostet, in Euro",
  priceHint: "Bleibt das Feld leer, wird in Fehlalarmen gerechnet.",
  acceptedPrice: "eine Zahl über 0, bis 1e100",
  costsOf: (cases, price) =>
    price === null ? `1.000 ${cases}, in Fehlalarmen` : `1.000 ${cases}, in Euro, ein Fehlalarm zu ${price}`,
  costsRegion: "Erwartete Kosten",
  withinHead: "Innerhalb Ihrer Grenzen",
  freeHead: "Ohne sie",
  limitsCostHead: "Die Grenzen kosten",
  missWorth: (worth) => `Ein übersehener Fall wiegt ${worth}`,
  mapTitle: "Würden andere Grenzen das beste Modell ändern?",
  mapHelp:
    "Das Kreuz ist Ihre Einstellung, ein Buchstabe das Modell, das dort gewinnt; grau: kein Modell kann einen " +
    "Alarm auslösen. Klicken Sie, um dorthin zu gehen, oder nutzen Sie Pfeiltasten und Eingabetaste.",
  hatchingComes: "Wo Modelle nicht zu unterscheiden sind, wird noch berechnet und dann schraffiert.",
  hatchedByInterval:
    "Schraffiert: das beste Modell ist von einem anderen nicht zu unterscheiden, nach 95-%-Intervallen für alle Modelle zusammen.",
  notHatched:
    "Diese Seite hat keine Bootstrap-Stichproben und kann nicht sagen, wo Modelle nicht zu unterscheiden sind.",
  mapLabel: "Karte der besten Modelle",
  mapTable: "Die Karte als Tabelle",
  mapShare: (model, share) => `${model} in ${share}`,
  mapText: (shares) => `Am besten bei diesen Grenzen: ${shares.join(", ")}.`,
  mapNobody: "Hier ist kein Modell brauchbar.",
  mapAxis: (title, isCount, { stays }) =>
    `${title} (${isCount ? "Alarme" : stays ? "Alarme pro Patiententag" : "Anteil der Fälle"})`,
  mapPlace: (most, floor) => `Kapazität ${most}, Mindestanteil ${floor}`,
  mapNoModel: (place) => `${place}: kein Modell kann einen Alarm auslösen.`,
  mapWinner: (place, model, close) => `${place}: ${model}${close === null ? "" : `, ${close}`}.`,
  floorByCapacity: "Mindestanteil, nach Kapazität",
  noModelCell: "kein Modell",
  closeCell: (model) => `${model} oder ein anderes`,
  tooCloseCell: "von anderen nicht zu unterscheiden",
  never: "nie",
  notRecorded: "nicht bekannt",
  range: (from, to) => `${from} bis ${to}`,
  drawAll: "alle Modelle zeichnen, nicht nur die ersten acht",
  keepPicture: (kind) => `Als ${kind} speichern`,
  keep: "Speichern",
  example: "Mit einem Beispiel ausprobieren",
  exampleName: "Beispiel",
  columnNumber: (n) => `Spalte ${n}`,
  headerAsk: "Die erste Zeile enthält nur Zahlen. Ist sie eine Datenzeile, oder enthält sie die Namen der Spalten?",
  headerData: "Sie ist eine Datenzeile: es gibt keine Namen",
  headerNames: "Sie enthält die Namen",
  noModels: "keine",
  dayLabel: "Alarme pro Tag, nach dem Datum in",
  noDays: "nicht pro Tag",
  allModels: "alle",
  findModel: "Spalte suchen",
  patientLabel: "Patient jeder Zeile",
  nobody: "jede Zeile ist ein anderer Patient",
  byPatient: (n, column) => `Intervalle ziehen ganze Patienten (${n}, laut Spalte ${quoted(column)})`,
  prevalenceSummary: "Prävalenz",
  deployTitle: "Schwellenwert im Einsatz",
  keepSlide: "Als Folie speichern",

  guideTitle: "Fünf Fragen, wenn die Regler schwer einzustellen sind",
  guideHint:
    "Antworten Sie für sich; andere antworten auf ihrer eigenen Kopie. Laden Sie die Antworten aller, um " +
    "zu sehen, wo Sie übereinstimmen. Nichts wird gesendet: Antworten stehen in Dateien, die Sie speichern.",
  guideStart: "Fünf Fragen beantworten",
  guideOpen: "Unsicher? Beantworten Sie fünf Fragen",
  guideLoad: "Antworten laden:",
  questionOf: (number, all) => `Frage ${number} von ${all}`,
  askFloor: "Von 10 Alarmen, wie viele müssen richtig sein, damit man weiter hinsieht?",
  ofTen: "von 10",
  askCapacity: ({ cases }) => `Bei wie vielen von 100 ${dativ(cases)} kann jemand einem Alarm nachgehen?`,
  ofHundred: "von 100",
  offer: (n, { outcome }) =>
    `Würden Sie ${n} Fehlalarme hinnehmen, um einen Fall mehr zu erkennen${genannt(outcome)}?`,
  yes: "Ja",
  no: "Nein",
  next: "Weiter",
  whoAnswers: "Wer antwortet?",
  somebody: "jemand",
  useMine: "Diese Grenzen übernehmen",
  useEverybody: "Grenzen übernehmen, die allen genügen",
  saveAnswers: "Antworten speichern",
  guideResult: (floor, most, worth) =>
    `Mindestens ${floor} der Alarme sind richtig, Alarm für höchstens ${most}, und ein übersehener Fall wiegt ${worth} Fehlalarme.`,
  allAccepted: (n) =>
    `Sie haben jedes Angebot angenommen: Ein übersehener Fall wiegt mindestens ${n} Fehlalarme; die Seite rechnet mit ${n}.`,
  allRefused: (n) =>
    `Sie haben jedes Angebot abgelehnt: Ein übersehener Fall wiegt weniger als ${n} Fehlalarme; die Seite rechnet mit ${n}.`,
  offersContradict: (yes, no) =>
    `Diese Antworten widersprechen sich: ${yes} Fehlalarme wurden angenommen und ${no} abgelehnt.`,
  floorTooLow: ({ floor, tolerated, refused }) =>
    `Zwei Antworten widersprechen sich: Sind ${floor} der Alarme richtig, kommen auf jeden richtigen ${tolerated} ` +
    `Fehlalarme, und ${refused} haben Sie abgelehnt. Ein höherer Anteil richtiger Alarme würde passen.`,
  floorForbids: ({ floor, tolerated, accepted }) =>
    `Zwei Antworten gehen auseinander: Für einen weiteren erkannten Fall würden Sie ${accepted} Fehlalarme hinnehmen, ` +
    `aber sind ${floor} der Alarme richtig, kommen auf jeden richtigen höchstens ${tolerated}. Es gilt der Anteil ` +
    `richtiger Alarme.`,
  answersLabel: "Die Antworten aller",
  whoHead: "Wer",
  floorHead: "Richtig, mindestens",
  capacityHead: "Alarme, höchstens",
  bestHead: "Bestes Modell",
  agree: (model) => `Für alle, die geantwortet haben, ist ${model} das beste.`,
  disagree: (models) => `Es kommt darauf an, wer antwortet: ${models.join(", ")} sind jeweils für jemanden das beste.`,
  badAnswer: (file) => `${file} enthält keine vollständigen Antworten; möglich ist, was diese Seite speichert`,
  badAnswerLine: (file, line) => `${file}: Zeile ${line} ist nicht lesbar; möglich ist, was diese Seite speichert`,

  compareTitle: "Zwei Einstellungen oder Stationen vergleichen",
  compareHint:
    "Merken Sie diese Einstellung und stellen Sie dann Grenzen, Kosten und Prävalenz der anderen Station ein, oder laden " +
    "Sie deren Datei, wo diese Seite Dateien liest: Die Tabelle zeigt beide. Werte bei verschiedenen Grenzen sind nicht vergleichbar; verglichen werden Alarme, erkannte und übersehene Fälle und Kosten.",
  keepSetting: "Diese Einstellung zum Vergleich merken",
  dropSetting: "Vergleich beenden",
  comparedLabel: "Beide Einstellungen",
  keptHead: "Gemerkt",
  nowHead: "Jetzt",
  differenceHead: "Unterschied",
  dataRow: "Daten",
  limitsRow: "Grenzen und Kosten",
  resultRow: "Ergebnis",
  modelRow: "Gezeigtes Modell",
  alarmsRow: ({ cases }) => `Alarme bei 1.000 ${dativ(cases)}`,
  falseRow: "davon Fehlalarme",
  caughtRow: ({ outcome }) => `Erkannt${genannt(outcome)}`,
  missedRow: ({ outcome }) => `Übersehen${genannt(outcome)}`,
  costRow: (worth) => `Kosten in Fehlalarmen, wenn ein übersehener Fall ${worth} aufwiegt`,

  sharingTitle: "Diese Einstellung behalten oder weitergeben",
  sharingHint:
    "Die Adresse dieser Seite enthält die Einstellung. Um sie in einer anderen Kopie der Datei zu nutzen, setzen Sie " +
    "den Teil hinter dem # dort hinter die Adresse.",
  linkLabel: "Link",
  copyLink: "Link kopieren",
  copyThreshold: "Genauen Schwellenwert kopieren",
  forAnalysts: "Für die Auswertung: diese Einstellung als Code",
  copyToml: "TOML kopieren",
  copyPython: "Python kopieren",
  copiedCode:
    "Kopiert: die Einstellung als Code. Diese Seite ist eine Datei auf diesem Rechner: Schicken Sie die Datei mit, und " +
    "setzen Sie den Code auf dem anderen Rechner hinter ihre Adresse.",
  copied: "Kopiert.",
  selected: "Ausgewählt: mit Strg+C kopieren.",
  print: "Diese Seite drucken",
  aboutTitle: "Über diese Seite",
  aboutText: "Alles wird in dieser Datei berechnet. Sie lädt nichts und sendet nichts.",
  aboutSource: "Erstellt mit voros. Partial VOROS ist von Ratigan u. a., AISTATS 2026.",

  glossaryTitle: "Wörter auf dieser Seite",
  glossary: {
    alarm: ["Alarm", "Der Wert eines Falls erreicht den Schwellenwert, so dass jemand nachsieht."],
    falseAlarm: ["Fehlalarm", "Ein Alarm für einen Fall, bei dem das Ereignis nicht eintritt."],
    miss: ["Übersehener Fall", "Ein Fall mit dem Ereignis, der keinen Alarm auslöst."],
    precision: ["Mindestanteil richtiger Alarme", "So viele der Alarme müssen mindestens richtig sein: der positive Vorhersagewert (PPV)."],
    recall: ["Sensitivität", "Der Anteil der Fälle mit dem Ereignis, die einen Alarm auslösen; die Mindest-Sensitivität ist die Untergrenze dafür."],
    capacity: ["Kapazität", "So viele Alarme können Sie höchstens bearbeiten."],
    prevalence: ["Prävalenz", "Der Anteil der Fälle mit dem Ereignis."],
    threshold: ["Schwellenwert", "Der Wert, ab dem ein Modell einen Alarm auslöst."],
    netBenefit: [
      "Nettonutzen",
      "Richtige Alarme je Fall, weniger die falschen zu ihrem Preis: 0,02 ist so viel wert wie zwei richtige Alarme " +
        "mehr unter 100 Fällen ohne einen falschen. Ganz ohne Alarm ist er 0.",
    ],
    probability: [
      "Schwellenwahrscheinlichkeit",
      "Das niedrigste Risiko, bei dem sich ein Alarm lohnt. Bei 10 % wiegt ein übersehener Fall 9 Fehlalarme, bei 50 % einen.",
    ],
    expectedCost: [
      "Erwartete Kosten",
      "Die mittleren Kosten über Ihre Spanne: jeder Fehlalarm kostet 1, jeder übersehene Fall so viel, wie er wiegt.",
    ],
    score: [
      "Partial VOROS",
      "Wie viel von dem, was innerhalb Ihrer Grenzen möglich ist, ein Modell erreicht, gemittelt über Ihre Kosten, von 0 bis 1.",
    ],
  },

  loaderTitle: "Ihre eigene Datei",
  loaderHint:
    "Eine CSV- oder TSV-Datei mit einer Zeile je Fall: eine Spalte sagt, was geschah, und jedes Modell " +
    "hat eine Spalte mit Werten. Sie wird hier gelesen, in Ihrem Browser. Sie wird nirgendwohin " +
    "gesendet, und keine Zeile wird gespeichert.",
  dropLabel: "Ziehen Sie eine Datei hierher, oder wählen Sie eine",
  pasteSummary: "Oder Zeilen einfügen",
  pasteLabel: "Zeilen, die erste mit den Namen der Spalten",
  pasteButton: "Eingefügtes lesen",
  labelLabel: "Label: was geschah",
  positiveLabel: "Positives Label: das Ereignis",
  modelsLegend: "Modelle",
  dropMissing: "Zeilen mit fehlendem Wert auslassen",
  outcomeWord: "Wovor warnt ein Alarm?",
  casesWord: "Was wird gezählt?",
  count: "Ergebnis zeigen",
  counting: "Gezählte Zeilen",
  again: "Andere Spalten, oder eine andere Datei",
  savePage: "Die Seite mit diesen Zahlen speichern",
  chooseColumn: "Spalte wählen",
  positiveByItself: "1 oder true",
  pastedName: "der eingefügte Text",
  loaded: (file, notes) => [`Gezählt: ${file}`, ...notes].join("; ") + ". Es wird keine Zeile gespeichert.",

  isEmpty: (file) => `${file} ist leer; nötig sind eine Kopfzeile und Zeilen`,
  notTable: {
    zip: (file) => `${file} ist ein Zip-Archiv oder eine Excel-Mappe; speichern Sie das Blatt als CSV`,
    xls: (file) => `${file} ist eine alte Excel-Mappe; speichern Sie das Blatt als CSV`,
    pdf: (file) => `${file} ist ein PDF-Dokument; nennen Sie eine Tabelle`,
    sqlite: (file) => `${file} ist eine Datenbank; speichern Sie die Tabelle als CSV`,
    utf16: (file) => `${file} ist UTF-16-Text; speichern Sie ihn als UTF-8`,
  },
  otherFormat: (file, format) =>
    `${file} ist ${format}; diese Seite liest CSV und TSV. Die Befehlszeile liest es: voros explore`,
  decimalCommas: (file) => `Zahlen in ${file} werden mit Dezimalkomma gelesen`,
  separatedBy: (file, mark) => `${file} ist getrennt durch ${quoted(mark)}`,
  noRows: (names) => `es gibt Spaltennamen (${names.join(", ")}) und keine Zeilen; ergänzen Sie die Fälle`,
  where: (row, line) => `Datenzeile ${row} (Zeile ${line} der Datei)`,
  header: (line) => `die Kopfzeile (Zeile ${line})`,
  cellCount: (where, cells, header) =>
    `${where} hat ${cells} ${cells === 1 ? "Zelle" : "Zellen"} und die Kopfzeile ${header}; berichtigen Sie diese Zeile`,
  notUtf8: (where, raw, meant) =>
    `${where} ist kein UTF-8-Text: ${raw}, in Latin-1 ${quoted(meant)}; speichern Sie die Datei als UTF-8`,
  unclosedQuote: (line) =>
    `das Anführungszeichen in Zeile ${line} wird nie geschlossen; schließen oder entfernen Sie es, ` +
    `sonst wäre alles Folgende eine Zelle`,
  withComma: "eine Zahl mit Komma; schreiben Sie einen Punkt, und nichts zwischen Tausender",
  percentage: (text, share) => `ein Prozentsatz; schreiben Sie ${text} als ${share}`,
  badNumber: (where, column, cell, almost) =>
    `${where}, Spalte ${quoted(column)}: ${quoted(cell)} ` +
    (almost === null ? "ist keine Zahl; berichtigen oder entfernen Sie diese Zeile" : `ist ${almost}`),
  missingValues: (column, missing, rows, first) =>
    `Spalte ${quoted(column)} hat in ${missing} von ${rows} Zeilen keinen Wert, zuerst in Datenzeile ` +
    `${first}; ergänzen Sie ihn, oder lassen Sie diese Zeilen aus: ${FELDER.drop_missing}`,
  allMissing: "in jeder Zeile fehlt ein Wert",
  leftOutRows: (missing, rows) => `${missing} von ${rows} Zeilen mit fehlendem Wert ausgelassen`,

  tookLabel: (name) => `Spalte ${quoted(name)} gilt als Label (eine andere: ${FELDER.label})`,
  tookModels: (names) => `Als Modelle gelten: ${names.map(quoted).join(", ")} (andere: ${FELDER.scores})`,
  noLabel: (candidates, names) =>
    `${candidates.length ? `${listed(candidates)} könnten alle das Label sein` : "keine Spalte ist klar als Label zu erkennen"}; ` +
    `nennen Sie es unter ${FELDER.label} (Spalten: ${listed(names)})`,
  noScores: (names, leftOut) =>
    `keine Spalte sieht nach Scores aus; nennen Sie die Modelle unter ${FELDER.scores} ` +
    `(Spalten: ${listed(names)})${leftOut.length ? `; ausgelassen: ${shortened(leftOut)}` : ""}`,
  leftOutColumns: (leftOut) => `ausgelassen: ${shortened(leftOut)}`,
  reason: (name, why) => `${quoted(name)} (${why})`,
  repeatedColumn: (file, name) => `${file} hat mehr als eine Spalte ${quoted(name)}; benennen Sie sie um`,
  whyNull: (rows) => `kein Wert in den ersten ${anzahl(rows)} Zeilen`,
  whyBinary: "Text, der nicht UTF-8 ist",
  whyType: (isTime) => (isTime ? "Uhrzeiten" : "Kalendertage"),
  whyText: "Text",
  whyAlmost: (text, almost) => `Text wie ${quoted(text)}, ${almost}`,
  anIdentifier: "sieht aus wie eine Kennung",
  aProperty: "sieht aus wie eine Eigenschaft des Falls",
  bothRoles: (name) =>
    `Spalte ${quoted(name)} ist als ${FELDER.label} und als ${FELDER.scores} genannt; sie kann nur eines sein`,

  titled: (name) => `Spalte ${quoted(name)}`,
  oneClass: (title, held) =>
    `${title} enthält nur ${held ? "positive" : "negative"} Fälle; nötig sind beide`,
  notBinary: (title, n, shown) => `${title} hat ${n} verschiedene Labels (${shown}); möglich sind zwei`,
  ambiguous: (title, shown) =>
    `${title} hat die Labels ${shown}, und welches das positive ist, ist nicht klar; nennen Sie es ` +
    `unter ${FELDER.pos_label}`,
  absentLabel: (title, wanted, shown) =>
    `${FELDER.pos_label}=${wanted} ist keines der Labels von ${title} (${shown})`,
  notNumericLabel: (title, wanted) =>
    `${FELDER.pos_label}=${quoted(wanted)} ist keine Zahl, und ${title} enthält Zahlen`,
};
