/** Checklist of the first steps, until all are completed or it is hidden. */

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import { signedIn } from '../api/session.ts'
import type { ApiKey, Domain, List, Metrics } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { Icon } from '../components/icons.tsx'
import { type Progress, progressOf, STEPS } from '../labels/steps.ts'

const EVER_DELIVERED = '/emails/metrics?start_date=2000-01-01&metrics=delivered,simulated_delivered'

/** Whether the steps of this account are completed or were hidden. */
const isOver = signal(false)

function keyOf(): string {
  return `mailhorn.steps-over.${signedIn().account.id}`
}

function end(): void {
  localStorage.setItem(keyOf(), 'yes')
  isOver.value = true
}

/**
 * Returns undefined until the progress is known.
 * @param everyMs refresh interval while the steps are visible
 * @param isWanted whether it is loaded at all
 */
export function useProgress(everyMs?: number, isWanted = true): Progress | undefined {
  const domains = useLoad<List<Domain>>(isWanted ? '/domains?limit=100' : null, { everyMs })
  const keys = useLoad<List<ApiKey>>(isWanted ? '/api-keys' : null, { everyMs })
  const metrics = useLoad<Metrics>(isWanted ? EVER_DELIVERED : null, { everyMs })
  return progressOf({ domains: domains.data, keys: keys.data, metrics: metrics.data })
}

export function areStepsOver(): boolean {
  return isOver.value || localStorage.getItem(keyOf()) === 'yes'
}

/** Returns the progress while steps are left, and `unknown` until it is loaded. */
export function useStepsLeft(): Progress | 'unknown' | undefined {
  const isKnown = areStepsOver()
  const progress = useProgress(undefined, !isKnown)
  const isDone = progress !== undefined && STEPS.every(([step]) => progress[step])
  useEffect(() => {
    if (isDone) end()
  }, [isDone])
  if (isKnown || isDone) return undefined
  return progress ?? 'unknown'
}

export function FirstSteps({ progress }: { progress: Progress }) {
  return (
    <section class="steps-short" aria-label="First steps">
      <h2 class="small">First steps</h2>
      <ol>
        {STEPS.map(([step, label], i) => (
          <li key={step} class={progress[step] ? 'is-done' : ''}>
            <span class="step-mark">{progress[step] ? <Icon name="check" size={12} /> : i + 1}</span>
            <Link href="/start">{label}</Link>
            {progress[step] && <span class="unseen">done</span>}
          </li>
        ))}
      </ol>
      <Button small kind="plain" onClick={end}>
        Hide
      </Button>
    </section>
  )
}
