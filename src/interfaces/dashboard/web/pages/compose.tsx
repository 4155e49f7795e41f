/** Page on which one email is written and sent, now or later. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import type { ApiError } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { sendOnce } from '../api/send-once.ts'
import { signedIn } from '../api/session.ts'
import type { Domain, Installation, List } from '../api/types.ts'
import { Button, Choose, TextField } from '../components/controls.tsx'
import { useAct } from '../components/dialog.tsx'
import { type Draft, DraftNotice, DraftState, useDraft } from '../components/draft.tsx'
import { Failure, Note, Pending, say } from '../components/feedback.tsx'
import { Card, Head } from '../components/show.tsx'
import { When } from '../components/when.tsx'
import { ContentFields, ContentPreview, useUsedTemplate } from './compose-content.tsx'
import { Files } from './compose-files.tsx'
import { addressFault, type ComposeFields, EMPTY, requestOf, warningWords } from './compose-request.ts'

/** Sender domain of simulated mail, while no domain is verified. */
const SIMULATED_SENDER = 'example.com'

/** Said when a reply was lost. The request has an idempotency key. */
const UNKNOWN = 'It is not known whether the email was sent. Send it again: it is sent only once'

export function Compose() {
  const domains = useLoad<List<Domain>>('/domains?limit=100')
  const installation = useLoad<Installation>('/installation')
  const verified = domains.data?.data.filter(({ status }) => status === 'verified')
  return (
    <>
      <Head title="Compose" from={['/emails', 'Emails']} />
      {verified && installation.data ? (
        <Form
          domains={verified.map(({ name }) => name)}
          simulator={`delivered@${installation.data.simulator_domain}`}
        />
      ) : (
        <Pending of={domains.error ? domains : installation} />
      )}
    </>
  )
}

interface FormProps {
  /** Verified domains. */
  domains: readonly string[]
  /** Address at the simulator. */
  simulator: string
}

/** Returns the draft, and the act that sends it. */
function useCompose(domains: FormProps['domains']) {
  const [, navigate] = useLocation()
  const draft = useDraft('email', EMPTY)
  const { template } = useUsedTemplate(draft.value.content === 'template' ? draft.value.template : '')
  const domain = draft.value.domain || domains[0] || SIMULATED_SENDER
  const sent = useRef<Awaited<ReturnType<typeof requestOf>>>()
  const act = useAct(async () => {
    const fields = draft.now()
    sent.current = undefined
    const request = await requestOf(fields, domain, template)
    sent.current = request
    const reply = await sendOnce(request)
    draft.discard()
    say(fields.when === '' ? 'The email was sent.' : 'The email is scheduled.')
    navigate(`/emails/${reply.id}`, { state: { warnings: warningWords(reply, request) } })
  })
  return { draft, template, domain, act, sent }
}

function Form({ domains, simulator }: FormProps) {
  const { draft, template, domain, act, sent } = useCompose(domains)
  const { error, isBusy } = act
  const fields = draft.value
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (error) form.current?.querySelector('.fault, [role="alert"]')?.scrollIntoView({ block: 'center' })
  }, [error])
  const addresses = (name: 'to' | 'cc' | 'bcc') => ({
    ...draft.field(name),
    fault: addressFault(error, name, sent.current),
  })
  return (
    <form
      ref={form}
      class={fields.content === 'text' ? '' : 'editor'}
      onSubmit={event => {
        event.preventDefault()
        void act.run()
      }}
    >
      <Card title="New email">
        <div class="stack">
          <DraftNotice draft={draft} />
          {domains.length === 0 && <NoDomain simulator={simulator} />}
          <Sender draft={draft} domains={domains} domain={domain} fault={error?.of('from')} />
          <TextField
            label="To"
            required
            {...addresses('to')}
            placeholder={domains.length > 0 ? signedIn().user.email : simulator}
            hint="Separate several addresses with commas, also in Cc, Bcc and Reply-To."
          />
          <div class="thirds">
            <TextField label="Cc" {...addresses('cc')} />
            <TextField label="Bcc" {...addresses('bcc')} />
            <TextField
              label="Reply-To"
              {...draft.field('replyTo')}
              fault={addressFault(error, 'reply_to', sent.current)}
            />
          </div>
          <TextField
            label="Subject"
            required={fields.content !== 'template'}
            {...draft.field('subject')}
            {...(template?.subject && fields.content === 'template' && { placeholder: template.subject })}
            fault={error?.of('subject')}
          />
          <ContentFields draft={draft} template={template} error={error} />
          <Files draft={draft} fault={error?.of('attachments')} />
          <SendAt draft={draft} fault={error?.of('scheduled_at')} />
          <NotSent error={error} />
          <div class="row">
            <Button type="submit" kind="main" disabled={isBusy}>
              {isBusy ? 'Please wait …' : fields.when === '' ? 'Send email' : 'Schedule email'}
            </Button>
            <DraftState draft={draft} />
          </div>
        </div>
      </Card>
      <ContentPreview fields={fields} template={template} />
    </form>
  )
}

/** Shows what no field has shown. It stands behind the fields, because it is rendered after them. */
function NotSent({ error }: { error: ApiError | undefined }) {
  if (!error || error.isShown) return null
  const act = error.status === 0 ? UNKNOWN : 'The email was not sent'
  return <Failure error={error} act={act} />
}

function NoDomain({ simulator }: Pick<FormProps, 'simulator'>) {
  return (
    <Note>
      <p>
        <b>You have no verified domain yet.</b> <Link href="/domains?add=1">Add a domain</Link> and its DNS
        records to send to anybody. Until then, you can send to the simulator, such as{' '}
        <code>{simulator}</code>.
      </p>
    </Note>
  )
}

interface SenderProps {
  draft: Draft<ComposeFields>
  domains: readonly string[]
  /** Chosen domain. */
  domain: string
  fault: string | undefined
}

function Sender({ draft, domains, domain, fault }: SenderProps) {
  const options = [...new Set([...domains, domain])].map(name => [name, name] as const)
  return (
    <fieldset>
      <legend>From</legend>
      <div class="thirds">
        <TextField label="Name" {...draft.field('name')} hint="Optional" autocomplete="off" />
        <TextField
          label="Address"
          required
          {...draft.field('localPart')}
          hint={`Before @${domain}`}
          autocomplete="off"
          fault={fault}
        />
        <Choose
          label="Domain"
          value={domain}
          options={options}
          onValue={chosen => draft.change({ domain: chosen })}
        />
      </div>
    </fieldset>
  )
}

function SendAt({ draft, fault }: { draft: Draft<ComposeFields>; fault: string | undefined }) {
  const { when } = draft.value
  const [isLater, setLater] = useState(when !== '')
  return (
    <When
      when={isLater || when !== '' ? when : undefined}
      onWhen={chosen => {
        setLater(chosen !== undefined)
        draft.change({ when: chosen ?? '' })
      }}
      fault={fault}
    />
  )
}
