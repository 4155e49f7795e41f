/** Current sending rate to a destination, and what limits it. */
import type { Queue } from '../api/types.ts'
import { Mark, Time } from '../components/show.tsx'
import { counted } from '../labels/numbers.ts'

type Path = Queue['data'][number]['paths'][number]

export function PathState({ paths }: { paths: readonly Path[] }) {
  if (paths.length === 0) return <span class="faint">–</span>
  return (
    <>
      {paths.map(path => (
        <span key={path.source_ips.join()}>
          <OnePath path={path} />{' '}
        </span>
      ))}
    </>
  )
}

function OnePath({ path }: { path: Path }) {
  if (path.paused_until)
    return (
      <>
        <Mark tone="warn">Paused</Mark>{' '}
        <span class="quiet">
          until <Time at={path.paused_until} />. {path.pause_reason}
        </span>
      </>
    )
  if (path.probing) return <Mark tone="warn">Testing recovery</Mark>
  if (path.warmup_spent) return <Mark tone="warn">Daily warm-up limit reached</Mark>
  const rate = path.messages_per_second
  const pace = rate === null ? '' : rate < 1 ? `, ${Math.round(rate * 60)}/min` : `, ${+rate.toFixed(1)}/s`
  return (
    <span class="quiet">
      {counted(path.window, 'connection')}
      {pace}
    </span>
  )
}
