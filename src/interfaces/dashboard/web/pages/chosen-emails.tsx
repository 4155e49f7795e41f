/** Bulk actions on selected emails: cancel and retry. */
import { call } from '../api/client.ts'
import { isOperator } from '../api/session.ts'
import type { EmailRow } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { Chosen, type Selection, withEach } from '../components/selection.tsx'
import { counted } from '../labels/numbers.ts'

/** Statuses of emails with deliveries in the queue. */
const WAITING: ReadonlySet<EmailRow['status']> = new Set(['queued', 'sent', 'delivery_delayed'])

interface ChosenEmailsProps {
  rows: readonly EmailRow[]
  selection: Selection
  reload: () => void
}

/** Accounts can cancel scheduled emails; only operators can cancel or retry queued emails. */
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
      text: 'Recipients who have not received them yet will not get them. This cannot be undone, but you can resend the emails.',
      act: `Cancel ${counted(cancelable.length, 'email')}`,
      async work() {
        await withEach(
          cancelable,
          ({ id, status }) =>
            status === 'scheduled'
              ? call('POST', `/emails/${id}/cancel`)
              : call('POST', '/queue/cancel', { email_id: id }),
          done => `${counted(done, 'email')} canceled.`,
        )
        over()
      },
    })
  const retry = () =>
    confirm({
      title: `Retry ${counted(waiting.length, 'email')} now?`,
      text: 'Deferred deliveries are retried immediately. If a server still rejects them temporarily, they are deferred again.',
      act: `Retry ${counted(waiting.length, 'email')}`,
      harmless: true,
      async work() {
        await withEach(
          waiting,
          ({ id }) => call('POST', '/queue/retry', { email_id: id }),
          done => `Retrying ${counted(done, 'email')}.`,
        )
        over()
      },
    })
  return (
    <Chosen selection={selection}>
      {waiting.length > 0 && (
        <Button small icon="again" onClick={retry}>
          Retry now ({waiting.length})
        </Button>
      )}
      {cancelable.length > 0 && (
        <Button small kind="bad" icon="cross" onClick={cancel}>
          Cancel ({cancelable.length})
        </Button>
      )}
      {cancelable.length === 0 && (
        <span class="quiet small">
          All selected emails have reached a final status. There is nothing to cancel or retry.
        </span>
      )}
    </Chosen>
  )
}
