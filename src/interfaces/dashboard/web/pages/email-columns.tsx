/** Columns of lists of emails. */
import type { EmailRow } from '../api/types.ts'
import { type Column, timeColumn } from '../components/list.tsx'
import { Mark } from '../components/show.tsx'
import { counted } from '../labels/numbers.ts'
import { EMAIL_WORDS } from '../labels/status.ts'

export const EMAIL_COLUMNS: readonly Column<EmailRow>[] = [
  { head: 'Subject', text: ({ subject }) => subject || '(no subject)' },
  {
    head: 'To',
    width: '28%',
    text: ({ to, cc, bcc }) => [...to, ...cc, ...bcc].join(', '),
    cell({ to, cc, bcc }) {
      const more = to.length + cc.length + bcc.length - 1
      return (
        <>
          <bdi>{to[0]}</bdi> {more > 0 && <span class="faint">+{more}</span>}
        </>
      )
    },
  },
  { head: 'From', width: '18%', isExtra: true, text: ({ from }) => from },
  {
    head: 'Status',
    kind: 'status',
    cell: ({ status, open_count, click_count }) => {
      const { tone, label, meaning } = EMAIL_WORDS[status]
      const read = click_count > 0 ? counted(click_count, 'click') : counted(open_count, 'open')
      return (
        <Mark tone={tone} title={open_count + click_count > 0 ? `${meaning} ${read}.` : meaning}>
          {label}
        </Mark>
      )
    },
  },
  timeColumn('Date', ({ created_at, scheduled_at, status }) =>
    status === 'scheduled' ? scheduled_at : created_at,
  ),
]
