/** One email: its content, and its delivery to each recipient. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { useHistoryState } from 'wouter-preact/use-browser-location'
import { call, withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Broadcast, Contact, Domain, Email, List, Template } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { Note, Pending, say } from '../components/feedback.tsx'
import type { PageProps } from '../components/page.ts'
import { Reschedule } from '../components/reschedule.tsx'
import { Card, Facts, Head, Mark, Time } from '../components/show.tsx'
import { plainWords } from '../labels/faults.ts'
import { counted } from '../labels/numbers.ts'
import { addressIn, contactPlace, domainIn, emailsWith } from '../labels/places.ts'
import { EMAIL_WORDS } from '../labels/status.ts'
import { EmailContent } from './email-content.tsx'
import { EmailTimeline } from './email-timeline.tsx'
import { Reason, Recipients } from './recipients.tsx'
import { ResendDialog } from './resend.tsx'
import { ShareDialog } from './share.tsx'

const LIVE_MS = 2_500
const CALM_MS = 20_000
/** Final statuses: only opens and clicks can follow. */
const ENDED = new Set(['delivered', 'bounced', 'failed', 'suppressed', 'canceled', 'complained'])

export function EmailPage({ params: { id } }: PageProps) {
  const [everyMs, setEvery] = useState(LIVE_MS)
  const { data: email, error, reload } = useLoad<Email>(`/emails/${id}`, { everyMs, on: 'email.' })
  if (!email) return <Pending of={{ error, reload }} />
  const wanted = ENDED.has(email.status) ? CALM_MS : LIVE_MS
  if (wanted !== everyMs) setEvery(wanted)
  const { label, tone } = EMAIL_WORDS[email.status]
  return (
    <>
      <Head
        title={email.subject || '(no subject)'}
        from={['/emails', 'Emails']}
        lead={
          <>
            <Mark tone={tone}>{label}</Mark> <Reason explanation={email.explanation} />
          </>
        }
      >
        <Acts email={email} reload={reload} />
      </Head>
      <SendWarnings />
      <Recipients email={email} reload={reload} />
      <div class="halves">
        <Card title="Details">
          <AboutEmail email={email} />
        </Card>
        <Card title="Events">
          <EmailTimeline email={email} />
        </Card>
      </div>
      <EmailContent email={email} />
    </>
  )
}

/** Shows the warnings of the reply to the request that has led to this page. */
function SendWarnings() {
  const { warnings = [] } = useHistoryState<{ warnings?: string[] } | null>() ?? {}
  if (warnings.length === 0) return null
  return (
    <Note tone="warn">
      {warnings.map(text => (
        <p key={text}>{plainWords(text)}</p>
      ))}
    </Note>
  )
}

function AboutEmail({ email }: { email: Email }) {
  return (
    <Facts
      rows={[
        ['From', <Place key="from" href={emailsWith({ from: addressIn(email.from) })} text={email.from} />],
        ['To', <Addresses key="to" of={email.to} />],
        email.cc.length > 0 && ['Cc', <Addresses key="cc" of={email.cc} />],
        email.bcc.length > 0 && ['Bcc', <Addresses key="bcc" of={email.bcc} />],
        email.reply_to.length > 0 && ['Reply-To', email.reply_to.join(', ')],
        ['Domain', <SenderDomain key="domain" name={domainIn(email.from)} />],
        email.broadcast_id !== null && [
          'Broadcast',
          <BroadcastPlace key="broadcast" id={email.broadcast_id} />,
        ],
        email.template_id !== null && ['Template', <TemplatePlace key="template" id={email.template_id} />],
        ['Created', <Time key="at" at={email.created_at} />],
        email.scheduled_at !== null && ['Scheduled for', <Time key="due" at={email.scheduled_at} />],
        email.open_count + email.click_count > 0 && [
          'Engagement',
          `${counted(email.open_count, 'open')}, ${counted(email.click_count, 'click')}`,
        ],
        email.tags.length > 0 && [
          'Tags',
          listed(email.tags.map(tag => <Tag key={tagWords(tag)} tag={tag} />)),
        ],
        [
          'ID',
          <span key="id" class="mono">
            {email.id}
          </span>,
        ],
        [
          'Message-ID',
          <span key="mid" class="mono">
            {email.message_id}
          </span>,
        ],
        [
          'Requests',
          <Link key="requests" href={`/logs?q=${email.id}`}>
            View in request log
          </Link>,
        ],
      ]}
    />
  )
}

function Place({ href, text }: { href: string; text: string }) {
  return (
    <Link href={href}>
      <bdi>{text}</bdi>
    </Link>
  )
}

function listed(parts: readonly ComponentChildren[]): ComponentChildren {
  return parts.map((part, i) => [i > 0 && ', ', part])
}

/** Each address leads to its emails, and to its contact if there is one. */
function Addresses({ of }: { of: readonly string[] }) {
  return (
    <>
      {listed(
        of.map(mailbox => (
          <span key={mailbox}>
            <Place href={emailsWith({ to: addressIn(mailbox) })} text={mailbox} />
            {of.length <= CONTACTS_MAX && <ContactPlace address={addressIn(mailbox)} />}
          </span>
        )),
      )}
    </>
  )
}

/** Contacts that are looked up for one email. */
const CONTACTS_MAX = 5

function ContactPlace({ address }: { address: string }) {
  const { data } = useLoad<List<Contact>>(withQuery('/contacts', { q: address, limit: 1 }))
  const contact = data?.data.find(({ email }) => email === address.toLowerCase())
  if (!contact) return null
  return (
    <>
      {' '}
      (<Link href={contactPlace(contact)}>contact</Link>)
    </>
  )
}

function SenderDomain({ name }: { name: string }) {
  const { data } = useLoad<List<Domain>>('/domains?limit=100')
  const domain = data?.data.find(one => one.name === name)
  return domain ? <Place href={`/domains/${domain.id}`} text={name} /> : <span>{name}</span>
}

function BroadcastPlace({ id }: { id: string }) {
  const { data } = useLoad<Broadcast>(`/broadcasts/${id}`)
  return <Place href={`/broadcasts/${id}`} text={data?.name || data?.subject || id} />
}

function TemplatePlace({ id }: { id: string }) {
  const { data } = useLoad<Template>(`/templates/${id}`)
  return <Place href={`/templates/${id}`} text={data?.name ?? id} />
}

function Tag({ tag }: { tag: Record<string, unknown> }) {
  if (typeof tag.name !== 'string') return <span>{tagWords(tag)}</span>
  const value = tag.value === undefined ? tag.name : `${tag.name}:${String(tag.value)}`
  return <Place href={emailsWith({ tag: value })} text={tagWords(tag)} />
}

function tagWords(tag: Record<string, unknown>): string {
  return typeof tag.name === 'string' ? `${tag.name}: ${String(tag.value ?? '')}` : JSON.stringify(tag)
}

function Acts({ email, reload }: { email: Email; reload: () => void }) {
  const [open, setOpen] = useState<'resend' | 'schedule' | 'share'>()
  const close = () => setOpen(undefined)
  const cancel = () =>
    confirm({
      title: 'Cancel this email?',
      text: 'It will not be sent. This cannot be undone, but you can resend it.',
      act: 'Cancel email',
      async work() {
        await call('POST', `/emails/${email.id}/cancel`)
        say('The email was canceled.')
        reload()
      },
    })
  return (
    <>
      <Button icon="out" onClick={() => setOpen('share')}>
        Share
      </Button>
      {email.status === 'scheduled' ? (
        <>
          <Button icon="clock" onClick={() => setOpen('schedule')}>
            Reschedule
          </Button>
          <Button kind="bad" icon="cross" onClick={cancel}>
            Cancel email
          </Button>
        </>
      ) : (
        <Button icon="again" onClick={() => setOpen('resend')}>
          Resend
        </Button>
      )}
      {open === 'share' && <ShareDialog id={email.id} onClose={close} />}
      {open === 'resend' && <ResendDialog email={email} onClose={close} />}
      {open === 'schedule' && (
        <Reschedule
          what="email"
          act="Reschedule email"
          at={email.scheduled_at!}
          save={async scheduled_at => void (await call('PATCH', `/emails/${email.id}`, { scheduled_at }))}
          onClose={() => {
            close()
            reload()
          }}
        />
      )}
    </>
  )
}
