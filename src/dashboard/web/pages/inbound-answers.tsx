/** A received message answered, or passed on to somebody else. */
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import type { Inbound } from '../api/types.ts'
import { AreaField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { say } from '../parts/feedback.tsx'
import { counted } from '../words/numbers.ts'

interface DialogProps {
  message: Inbound
  onClose: () => void
}

/** In the thread of the message, as mail programs see it (RFC 5322 §3.6.4). */
export function AnswerDialog({ message, onClose }: DialogProps) {
  const [, navigate] = useLocation()
  const [from, setFrom] = useState(message.received_for[0] ?? '')
  const [to, setTo] = useState(message.reply_to[0] ?? message.from)
  const [subject, setSubject] = useState(
    /^re:/i.test(message.subject) ? message.subject : `Re: ${message.subject}`,
  )
  const [text, setText] = useState('')
  const thread = [...(message.headers.references ?? []), message.message_id ?? ''].join(' ').trim()
  return (
    <FormDialog
      title="Answer"
      act="Send"
      wide
      onClose={onClose}
      onSubmit={async () => {
        const { id } = await call<{ id: string }>('POST', '/emails', {
          ...{ from, to, subject, text },
          ...(message.message_id && {
            headers: { 'In-Reply-To': message.message_id, References: thread.replace(/\s+/g, ' ') },
          }),
        })
        say('Your answer is on its way.')
        navigate(`/emails/${id}`)
      }}
    >
      {error => (
        <>
          <TextField label="From" required value={from} onValue={setFrom} fault={error?.of('from')} />
          <TextField label="To" required value={to} onValue={setTo} fault={error?.of('to')} />
          <TextField
            label="Subject"
            required
            value={subject}
            onValue={setSubject}
            fault={error?.of('subject')}
          />
          <AreaField
            label="Message"
            rows={9}
            value={text}
            onValue={setText}
            fault={error?.of('text') ?? error?.of('html')}
          />
        </>
      )}
    </FormDialog>
  )
}

/** With its files, as an email of ours. */
export function ForwardDialog({ message, onClose }: DialogProps) {
  const [, navigate] = useLocation()
  const [from, setFrom] = useState(message.received_for[0] ?? '')
  const [to, setTo] = useState('')
  const fileCount = message.attachments.length
  return (
    <FormDialog
      title="Forward"
      act="Forward it"
      onClose={onClose}
      onSubmit={async () => {
        const { id } = await call<{ id: string }>('POST', `/inbound/${message.id}/forward`, {
          from,
          to: to.split(',').map(address => address.trim()),
        })
        say('It is passed on.')
        navigate(`/emails/${id}`)
      }}
    >
      {error => (
        <>
          <p class="quiet">
            {fileCount > 0
              ? `What it says goes on, with ${counted(fileCount, 'file')}.`
              : 'What it says goes on as it came.'}{' '}
            Answers come to the address that it is sent from.
          </p>
          <TextField label="From" required value={from} onValue={setFrom} fault={error?.of('from')} />
          <TextField
            label="To"
            required
            autofocus
            value={to}
            hint="Several addresses with commas between them."
            onValue={setTo}
            fault={error?.of('to')}
          />
        </>
      )}
    </FormDialog>
  )
}
