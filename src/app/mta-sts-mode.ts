/**
 * Decides in which mode our MTA-STS policy is published. Several processes may share the store, and each one
 * looks at port 25 by itself. `enforce` needs all of them to see what senders should see, since senders must
 * not deliver otherwise, but a single look that does not reach port 25 changes nothing. Part of the
 * composition root.
 *
 * In: what a look found. Out: the mode, which is stored for all processes. Called by `mta-sts.ts`.
 */
import { randomUUID } from 'node:crypto'
import type { MxFault } from '../pipeline/delivery/tls-policy/mx-certificate.ts'
import { MTA_STS_FAULT, MTA_STS_MODE, readSetting } from '../store/settings.ts'
import type { AppContext } from './context.ts'

export type MtaStsMode = 'enforce' | 'testing'

interface ModeDecision {
  mode: MtaStsMode
  /** Whether another look should follow soon, because this one may have failed by chance. */
  isUncertain: boolean
}

/** While a process has found a fault within this time, looks of other processes do not restore `enforce`. */
const OTHERS_FAULT_MS = 2 * 3_600_000

export function createModeDecision({
  clock,
  store,
}: Pick<AppContext, 'clock' | 'store'>): (fault: MxFault | undefined) => Promise<ModeDecision> {
  const ownName = randomUUID()
  let hasFailed = false
  const put = async (mode: MtaStsMode, former: string | undefined): Promise<ModeDecision> => {
    if (mode !== former) await store.run('putSetting', { key: MTA_STS_MODE, value: mode })
    return { mode, isUncertain: false }
  }
  return async fault => {
    const former = await readSetting(store.db, MTA_STS_MODE)
    if (fault) {
      const isFirst = !fault.isReached && !hasFailed
      hasFailed = true
      if (isFirst && former === 'enforce') return { mode: former, isUncertain: true }
      await store.run('putSetting', { key: MTA_STS_FAULT, value: `${ownName} ${clock.now()}` })
      return put('testing', former)
    }
    hasFailed = false
    const [name, foundAt] = ((await readSetting(store.db, MTA_STS_FAULT)) ?? '').split(' ')
    const isFaultOfOthers = name !== ownName && clock.now() - Number(foundAt ?? 0) < OTHERS_FAULT_MS
    return former === 'testing' && isFaultOfOthers ? put('testing', former) : put('enforce', former)
  }
}
