/** Reply to a received message, below it on its page. */
import { useEffect, useRef } from 'preact/hooks'
import { textPartOf } from '../../../../protocols/mime/html/text-part.ts'
import { useLoad } from '../api/load.ts'
import { sendOnce } from '../api/send-once.ts'
import type { Domain, Inbound, List } from '../api/types.ts'
import { AreaField, Button, TextField } from '../components/controls.tsx'
import { useAct } from '../components/dialog.tsx'
import { DraftNotice, DraftState, useDraft } from '../components/draft.tsx'
import { Failure, Pending, say } from '../components/feedback.tsx'
import { Card } from '../components/show.tsx'
import {
  answeredMailboxes,
  answerHeaders,
  answeringAddress,
  answerSubject,
  quotation,
} from '../labels/answer.ts'
import { mailboxesIn } from '../labels/mailboxes.ts'

interface AnswerProps {
  message: Inbound
  /** Whether the other recipients of the message get a copy. */
  isToAll: boolean
  onClose: () => void
  onSent: () => void
}

export function Answer(props: AnswerProps) {
  const domains = useLoad<List<Domain>>('/domains?limit=100')
  if (!domains.data) return <Pending of={domains} />
  const verified = domains.data.data.filter(({ status }) => status === 'verified').map(({ name }) => name)
  return <Form {...props} from={answeringAddress(props.message, verified)} />
}

function Form({ message, isToAll, from, onClose, onSent }: AnswerProps & { from: string }) {
  const draft = useDraft(`answer.${message.id}${isToAll ? '.all' : ''}`, {
    ...{ from, ...answeredMailboxes(message, isToAll), subject: answerSubject(message) },
    text: quotation(message, message.text ?? textPartOf(message.html ?? '') ?? ''),
  })
  const { error, isBusy, run } = useAct(async () => {
    const { to, cc, ...fields } = draft.now()
    const headers = answerHeaders(message)
    await sendOnce({ ...fields, to: mailboxesIn(to), cc: mailboxesIn(cc), headers })
    draft.discard()
    say('Your reply was sent.')
    onSent()
  })
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    // the answer is written above the quotation
    const text = form.current?.querySelector('textarea')
    text?.focus()
    text?.setSelectionRange(0, 0)
    form.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <form
      ref={form}
      onSubmit={event => {
        event.preventDefault()
        void run()
      }}
    >
      <Card title={isToAll ? 'Reply to all' : 'Reply'}>
        <div class="stack">
          <DraftNotice draft={draft} />
          <TextField
            label="From"
            required
            {...draft.field('from')}
            hint={
              from === '' &&
              'No domain that received this message is verified. Enter an address of one that is.'
            }
            fault={error?.of('from')}
          />
          <TextField
            label="To"
            required
            {...draft.field('to')}
            hint="Separate several addresses with commas, also in Cc."
            fault={error?.of('to')}
          />
          <TextField label="Cc" {...draft.field('cc')} fault={error?.of('cc')} />
          <TextField label="Subject" required {...draft.field('subject')} fault={error?.of('subject')} />
          <AreaField
            label="Message"
            rows={12}
            {...draft.field('text')}
            fault={error?.of('text') ?? error?.of('html')}
          />
          {error && !error.isShown && <Failure error={error} />}
          <div class="row">
            <Button type="submit" kind="main" icon="emails" disabled={isBusy}>
              {isBusy ? 'Please wait …' : 'Send reply'}
            </Button>
            <Button onClick={onClose}>Close</Button>
            <DraftState draft={draft} />
          </div>
        </div>
      </Card>
    </form>
  )
}
