/** Bulk actions on selected received messages: mark as read or unread, and delete. */
import { call } from '../api/client.ts'
import type { InboundRow } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm, useChange } from '../components/dialog.tsx'
import { Failure, say } from '../components/feedback.tsx'
import { Chosen, type Selection } from '../components/selection.tsx'
import { refreshUnread } from '../components/unread.ts'
import { counted } from '../labels/numbers.ts'

interface ChosenInboundProps {
  rows: readonly InboundRow[]
  selection: Selection
  reload: () => void
}

export function ChosenInbound({ rows, selection, reload }: ChosenInboundProps) {
  const chosen = rows.filter(({ id }) => selection.keys.has(id))
  const ids = chosen.map(({ id }) => id)
  const over = () => {
    selection.clear()
    reload()
    refreshUnread()
  }
  const { error, act: mark } = useChange<boolean>(async unread => {
    const wanted = chosen.filter(row => row.unread !== unread).map(({ id }) => id)
    await call('POST', '/inbound/batch/update', { ids: wanted, unread })
    say(`${counted(wanted.length, 'message')} marked as ${unread ? 'unread' : 'read'}.`)
    over()
  })
  const remove = () =>
    confirm({
      title: `Delete ${counted(ids.length, 'message')}?`,
      text: 'The messages and their attachments will be deleted for all users of the account. This cannot be undone.',
      act: `Delete ${counted(ids.length, 'message')}`,
      async work() {
        await call('POST', '/inbound/batch/remove', { ids })
        say(`${counted(ids.length, 'message')} deleted.`)
        over()
      },
    })
  return (
    <>
      <Chosen selection={selection}>
        {chosen.some(({ unread }) => unread) && (
          <Button small icon="check" onClick={() => mark(false)}>
            Mark as read
          </Button>
        )}
        {chosen.some(({ unread }) => !unread) && (
          <Button small icon="inbox" onClick={() => mark(true)}>
            Mark as unread
          </Button>
        )}
        <Button small kind="bad" icon="trash" onClick={remove}>
          Delete
        </Button>
      </Chosen>
      {error && <Failure error={error} />}
    </>
  )
}
