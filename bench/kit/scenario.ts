/** A thing to measure: what it needs, and how often it is done. */
import type { Contender, StartOptions } from './contender.ts'
import type { Findings, Measurement } from './report.ts'

export interface ScenarioOptions {
  /** Emptied when the run is over. */
  folder: string
  rounds: number
  /** Messages a round. */
  count: number
  /** Destination domains, where the scenario lets one choose. */
  domainCount: number
  /** A part of the name of the contenders that take part; all when absent. */
  only: string | undefined
  /** Folder for CPU profiles of Mailhorn's threads. */
  profiles: string | undefined
  /** Folder of another checkout to compare with, where the scenario does. */
  before: string | undefined
  /** DKIM key slots of Mailhorn that sign. */
  signingSlots: readonly number[]
}

export interface Scenario {
  /** One line for the list of scenarios. */
  what: string
  rounds: number
  count: number
  domainCount: number
  run(options: ScenarioOptions): Promise<Findings>
}

/** Does something with a contender that has been started, and stops it. */
export async function withStarted<T>(
  contender: Contender,
  options: StartOptions,
  body: () => Promise<T>,
): Promise<T> {
  await contender.start(options)
  try {
    return await body()
  } finally {
    await contender.stop()
  }
}

/** Each contender in turn, round by round, so that a slow minute of the machine falls on all. */
export async function inTurns(
  { rounds, only }: Pick<ScenarioOptions, 'rounds' | 'only'>,
  contenders: readonly Contender[],
  measure: (contender: Contender) => Promise<Measurement['figures']>,
): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  for (let round = 1; round <= rounds; round++)
    for (const contender of contenders) {
      if (only && !contender.name.includes(only)) continue
      const figures = await measure(contender)
      measurements.push({ contender: contender.name, figures })
      console.log(JSON.stringify({ round, contender: contender.name, ...figures }))
    }
  return measurements
}
