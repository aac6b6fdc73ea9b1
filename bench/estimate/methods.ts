/** One request and what the history has gained since the last reported one. */
export interface Moment {
  /** Index of the segment that answered it. */
  segment: number
  /** The history by the base estimate. */
  baseTokens: number
  /** What responses since the last report wrote, as their reports say, … */
  writtenTokens: number
  /** … and by the base estimate. */
  writtenBaseTokens: number
}

export type ReportedMoment = Moment & { reportedTokens: number }

/** `past`: the window's reported requests before the moment, oldest first. No answer where it needs one and there is none. */
export interface Method {
  name: string
  description: string
  predict: (moment: Moment, past: readonly ReportedMoment[]) => number | undefined
}

/** Measured slopes start here. */
const PRIOR = { slope: 1.1, tokens: 2_000 }
/** Growth below this says nothing about the slope. */
const LEAST_GROWTH_TOKENS = 200

/** Estimators that were compared; the engine's own is measured beside them. */
export const METHODS: readonly Method[] = [
  { name: "history", description: "the history by the base estimate", predict: ({ baseTokens }) => baseTokens },
  { name: "last", description: "the last report", predict: (_moment, past) => past.at(-1)?.reportedTokens },
  {
    name: "last + growth",
    description: "the last report, and the growth since by the base estimate",
    predict: (moment, past) => addGrowth(moment, past.at(-1), 1),
  },
  {
    name: "last + growth x 1.3",
    description: "the same, each token of the base estimate counted 1.3 times",
    predict: (moment, past) => addGrowth(moment, past.at(-1), 1.3),
  },
  {
    name: "last + output + growth",
    description: "what responses wrote by their reports, the rest of the growth by the base estimate",
    predict: (moment, past) => addOutputAndGrowth(moment, past.at(-1), 1),
  },
  {
    name: "last + output + growth x 1.3",
    description: "the same, each token of the rest counted 1.3 times",
    predict: (moment, past) => addOutputAndGrowth(moment, past.at(-1), 1.3),
  },
  {
    name: "last + output + growth x median",
    description: "the same, by the median of the last 25 slopes",
    predict: (moment, past) => addOutputAndGrowth(moment, past.at(-1), medianSlope(past)),
  },
  {
    name: "last + output + growth x least squares",
    description: "the same, by the line of least squares through all growth",
    predict: (moment, past) => addOutputAndGrowth(moment, past.at(-1), leastSquaresSlope(past)),
  },
]

function addGrowth(moment: Moment, last: ReportedMoment | undefined, slope: number): number | undefined {
  return last && last.reportedTokens + slope * (moment.baseTokens - last.baseTokens)
}

function addOutputAndGrowth(moment: Moment, last: ReportedMoment | undefined, slope: number): number | undefined {
  return last && last.reportedTokens + moment.writtenTokens + slope * otherGrowth(moment, last)
}

/** Growth that no report states, by the base estimate. */
function otherGrowth({ baseTokens, writtenBaseTokens }: Moment, last: Moment): number {
  return baseTokens - last.baseTokens - writtenBaseTokens
}

interface Growth {
  base: number
  reported: number
}

function listGrowth(past: readonly ReportedMoment[]): Growth[] {
  const growths = past.slice(1).map((moment, index) => {
    const last = past[index] as ReportedMoment
    return {
      base: otherGrowth(moment, last),
      reported: moment.reportedTokens - last.reportedTokens - moment.writtenTokens,
    }
  })
  return growths.filter(({ base, reported }) => base >= LEAST_GROWTH_TOKENS && reported > 0)
}

function medianSlope(past: readonly ReportedMoment[]): number {
  const slopes = listGrowth(past)
    .slice(-25)
    .map(({ base, reported }) => reported / base)
  return slopes.length < 3 ? PRIOR.slope : (slopes.toSorted((a, b) => a - b)[Math.floor(slopes.length / 2)] as number)
}

function leastSquaresSlope(past: readonly ReportedMoment[]): number {
  const growth = listGrowth(past)
  const products = growth.reduce((sum, { base, reported }) => sum + base * reported, PRIOR.slope * PRIOR.tokens ** 2)
  return products / growth.reduce((sum, { base }) => sum + base * base, PRIOR.tokens ** 2)
}
