/**
 * Decides in which mode our MTA-STS policy is published. Several processes may share the store, and each one
 * checks the certificate of port 25 itself. With `enforce`, senders do not deliver if they cannot verify the
 * certificate, so no process may have found a fault. A single check that does not reach port 25 changes
 * nothing. Part of the composition root.
 *
 * In: the result of a check. Out: the mode, which is stored for all processes. Called by `mta-sts.ts`.
 */
import { randomUUID } from 'node:crypto'
import type { MxFault } from '../pipeline/delivery/tls-policy/mx-certificate.ts'
import { MTA_STS_FAULT, MTA_STS_MODE, readSetting } from '../store/reading/settings.ts'
import type { AppContext } from './context.ts'

type MtaStsMode = 'enforce' | 'testing'

interface ModeDecision {
  mode: MtaStsMode
  /** Whether another check should follow soon, because this one may have failed by chance. */
  isUncertain: boolean
}

/** Time for which the fault that a process has found keeps the checks of others from restoring `enforce`. */
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
