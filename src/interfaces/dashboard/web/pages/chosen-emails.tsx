/** What can be done with several emails at once: taken back, or tried now. */
import { call } from '../api/client.ts'
import type { EmailRow } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { Chosen, type Selection, withEach } from '../components/selection.tsx'
import { counted } from '../labels/numbers.ts'
import { isOperator } from '../shell/session.ts'

/** In the queue, or partly so. */
const WAITING: ReadonlySet<EmailRow['status']> = new Set(['queued', 'sent', 'delivery_delayed'])

interface ChosenEmailsProps {
  rows: readonly EmailRow[]
  selection: Selection
  reload: () => void
}

/** An account takes back what is scheduled; what waits in the queue is in the hands of operators. */
export function ChosenEmails({ rows, selection, reload }: ChosenEmailsProps) {
  const chosen = rows.filter(({ id }) => selection.keys.has(id))
  const waiting = isOperator() ? chosen.filter(({ status }) => WAITING.has(status)) : []
  const scheduled = chosen.filter(({ status }) => status === 'scheduled')
  const cancelable = [...scheduled, ...waiting]
  const over = () => {
    selection.clear()
    reload()
  }
  const cancel = () =>
    confirm({
      title: `Cancel ${counted(cancelable.length, 'email')}?`,
      text: 'They will not be sent, to those who have not got them yet. This cannot be undone, but you can send them again.',
      act: 'Cancel them',
      async work() {
        await withEach(
          cancelable,
          ({ id, status }) =>
            status === 'scheduled'
              ? call('POST', `/emails/${id}/cancel`)
              : call('POST', '/queue/cancel', { email_id: id }),
          done => `${counted(done, 'email is', 'emails are')} canceled.`,
        )
        over()
      },
    })
  const retry = () =>
    confirm({
      title: `Try ${counted(waiting.length, 'email')} now?`,
      text: 'What was put off is tried at once. If a server still says no, it is put off again.',
      act: 'Try them now',
      harmless: true,
      async work() {
        await withEach(
          waiting,
          ({ id }) => call('POST', '/queue/retry', { email_id: id }),
          done => `${counted(done, 'email is', 'emails are')} tried now.`,
        )
        over()
      },
    })
  return (
    <Chosen selection={selection}>
      {waiting.length > 0 && (
        <Button small icon="again" onClick={retry}>
          Try now ({waiting.length})
        </Button>
      )}
      {cancelable.length > 0 && (
        <Button small kind="bad" icon="cross" onClick={cancel}>
          Cancel ({cancelable.length})
        </Button>
      )}
      {cancelable.length === 0 && (
        <span class="quiet small">They have all ended: there is nothing to cancel or to try again.</span>
      )}
    </Chosen>
  )
}
