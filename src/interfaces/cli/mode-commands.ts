/** `mailhorn mode` and `mailhorn drain` show and switch the mode of the service. */

import {
  countScheduled,
  readServiceMode,
  SERVICE_MODES,
  type ServiceMode,
} from '../../pipeline/queue/service-mode.ts'
import { viewQueue, WHOLE_QUEUE } from '../../pipeline/queue/view.ts'
import { serviceModeView } from '../api/installation/schema.ts'
import { type CliCommand, type Installation, textOf } from './command.ts'
import { type CliResult, printable, UsageError } from './control/result.ts'

const OPTIONS = { reason: { type: 'string' } } as const
const REASON_DETAILS = '  --reason <text>  Why; shown with the mode.'

const EFFECTS = {
  normal: 'Mail is accepted and delivered.',
  draining: 'No new email is accepted; what is queued is delivered. End this with `mailhorn mode normal`.',
  'read-only': 'Changes are refused and nothing is sent. End this with `mailhorn mode normal`.',
}

export const modeCliCommands: CliCommand[] = [
  {
    name: 'mode',
    usage: '[normal | draining | read-only] [--reason <text>]',
    summary: 'Show the mode of the service, or switch it',
    details: `${REASON_DETAILS}

  The mode stays until it is switched again, also after a restart.`,
    options: OPTIONS,
    positionals: { min: 0, max: 1 },
    async run({ values, positionals: [text], open }) {
      const wanted = SERVICE_MODES.find(mode => mode === text)
      if (text !== undefined && !wanted)
        throw new UsageError(`"${text}" is not a mode: normal, draining or read-only`)
      const installation = await open()
      if (wanted) await switchTo(installation, wanted, textOf(values.reason))
      return report(installation)
    },
  },
  {
    name: 'drain',
    usage: '[--reason <text>]',
    summary: 'Accept no new email, and deliver what is queued: `mode draining`',
    details: `${REASON_DETAILS}

  Repeat the command to see how much is left.`,
    options: OPTIONS,
    async run({ values, open }) {
      const installation = await open()
      await switchTo(installation, 'draining', textOf(values.reason))
      return report(installation)
    },
  },
]

/** Keeps the reason of a mode that is in force, unless another is given. */
async function switchTo({ db, change }: Installation, mode: ServiceMode['mode'], reason: string | null) {
  const known = await readServiceMode(db)
  if (known.mode === mode && reason === null) return
  await change('service.mode', { mode, reason })
}

async function report({ db, clock }: Installation): Promise<CliResult> {
  const mode = await readServiceMode(db)
  const { totals } = await viewQueue(db, { ...WHOLE_QUEUE, class: null, now: clock.now() })
  const { object: _, ...json } = serviceModeView(mode, totals, await countScheduled(db))
  const { queued, deferred, in_progress: inProgress, held, ...later } = json.left
  const since = mode.mode === 'normal' ? '' : ` since ${json.since}`
  const lines = [
    `The service is ${mode.mode === 'normal' ? 'in normal mode' : mode.mode}${since}. ${EFFECTS[mode.mode]}`,
    ...(mode.reason === null ? [] : [`Reason: ${printable(mode.reason)}`]),
    `Left: ${queued} queued, ${deferred} deferred, ${inProgress} in progress, ${held} held; ${later.scheduled_emails} scheduled emails, ${later.broadcasts} broadcasts.`,
  ]
  return { json, text: lines.join('\n') }
}
