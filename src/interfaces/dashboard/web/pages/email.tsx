/** One email: its content, and its delivery to each recipient. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Email } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { Pending, say } from '../components/feedback.tsx'
import type { PageProps } from '../components/page.ts'
import { Reschedule } from '../components/reschedule.tsx'
import { Card, Facts, Head, Mark, Time } from '../components/show.tsx'
import { counted } from '../labels/numbers.ts'
import { EMAIL_WORDS } from '../labels/status.ts'
import { EmailContent } from './email-content.tsx'
import { EmailTimeline } from './email-timeline.tsx'
import { Reason, Recipients } from './recipients.tsx'
import { ResendDialog } from './resend.tsx'

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

function AboutEmail({ email }: { email: Email }) {
  const list = (addresses: readonly string[]) => addresses.join(', ')
  return (
    <Facts
      rows={[
        ['From', email.from],
        ['To', list(email.to)],
        email.cc.length > 0 && ['Cc', list(email.cc)],
        email.bcc.length > 0 && ['Bcc', list(email.bcc)],
        email.reply_to.length > 0 && ['Reply-To', list(email.reply_to)],
        ['Created', <Time key="at" at={email.created_at} />],
        email.scheduled_at !== null && ['Scheduled for', <Time key="due" at={email.scheduled_at} />],
        email.open_count + email.click_count > 0 && [
          'Engagement',
          `${counted(email.open_count, 'open')}, ${counted(email.click_count, 'click')}`,
        ],
        email.tags.length > 0 && ['Tags', email.tags.map(tagWords).join(', ')],
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
      ]}
    />
  )
}

function tagWords(tag: Record<string, unknown>): string {
  return typeof tag.name === 'string' ? `${tag.name}: ${String(tag.value ?? '')}` : JSON.stringify(tag)
}

function Acts({ email, reload }: { email: Email; reload: () => void }) {
  const [open, setOpen] = useState<'resend' | 'schedule'>()
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
