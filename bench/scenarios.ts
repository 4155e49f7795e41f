/** The scenarios there are. */
import { chmodSync } from 'node:fs'
import type { Contender } from './kit/contender.ts'
import { measureDelivery, type RunResult, summarise } from './kit/measure.ts'
import { prepareNetwork } from './kit/namespace.ts'
import { postfix } from './kit/postfix.ts'
import { posthorn } from './kit/posthorn.ts'

export interface ScenarioOptions {
  folder: string
  reps: number
  count: number
  only: string | undefined
}

type Scenario = (options: ScenarioOptions) => Promise<void>

const SMTP_CONNECTIONS = 20
const HTTP_CONNECTIONS = 32

export const scenarios: Record<string, Scenario> = {
  e2e: options => delivery(options, 1),
  domains: options => delivery(options, 1_000),
}

/** Accepted and delivered, everything signed but where the name says otherwise. */
async function delivery({ folder, reps, count, only }: ScenarioOptions, domainCount: number): Promise<void> {
  chmodSync(folder, 0o755)
  const unbound = await prepareNetwork(folder, domainCount)
  const contenders: [Contender, number][] = [
    [postfix(folder, { signing: false }), SMTP_CONNECTIONS],
    [postfix(folder, { signing: true }), SMTP_CONNECTIONS],
    [posthorn(folder, { signing: true }), HTTP_CONNECTIONS],
  ]
  const results: RunResult[] = []
  for (let rep = 1; rep <= reps; rep++)
    for (const [contender, connections] of contenders) {
      if (only && !contender.name.includes(only)) continue
      const result = await measureDelivery(contender, { folder, count, connections, domainCount })
      results.push(result)
      console.log(JSON.stringify({ rep, ...result }))
    }
  console.log(summarise(results))
  await unbound.end()
}
