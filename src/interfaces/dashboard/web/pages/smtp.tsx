/** SMTP page: how programs that only know SMTP connect, with settings to copy. */
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { useLoad } from '../api/load.ts'
import type { Domain, Installation, List } from '../api/types.ts'
import { Choose, Copy } from '../components/controls.tsx'
import { Note, Pending } from '../components/feedback.tsx'
import { Card, Facts, Head } from '../components/show.tsx'
import { sampleSender } from '../labels/sample-sender.ts'
import { CERTIFICATE_FILE, SMTP_PROGRAMS } from '../labels/smtp-programs.ts'
import { SmtpTestCard } from './smtp-test.tsx'

const SECURITY = { tls: 'TLS from the start', starttls: 'STARTTLS' }
const USER = 'mailhorn'

export function SmtpPage() {
  const { data, error, reload } = useLoad<Installation>('/installation')
  return (
    <>
      <Head
        title="SMTP"
        lead="For programs that cannot use the API. Email that they submit passes the same checks and is listed with all other email."
      />
      {!data && <Pending of={{ error, reload }} />}
      {data && (data.smtp.ports.length > 0 ? <Connection of={data} /> : <Off />)}
    </>
  )
}

function Off() {
  return <Note tone="info">SMTP submission is off on this server.</Note>
}

function Connection({ of: { smtp, mail_host: mailHost, api_key_prefix: prefix } }: { of: Installation }) {
  const [program, setProgram] = useState(SMTP_PROGRAMS[0]![0])
  const [port, setPort] = useState(`${smtp.ports[0]!.port}`)
  const chosen = smtp.ports.find(one => `${one.port}` === port) ?? smtp.ports[0]!
  const textOf = SMTP_PROGRAMS.find(([id]) => id === program)![2]
  const password = `${prefix}…`
  const { self_signed_certificate: certificate } = smtp
  const selfSignedName = certificate === null ? null : mailHost
  const domains = useLoad<List<Domain>>('/domains?limit=100')
  const from = sampleSender(domains.data?.data ?? [])
  return (
    <>
      <Card title="Connection">
        <Facts
          rows={[
            ['Host', <Copy key="host" text={smtp.host} label="Copy host" />],
            ...smtp.ports.map(
              ({ port, security }) => [SECURITY[security], `Port ${port}`] as [string, string],
            ),
            ['User name', <Copy key="user" text={USER} label="Copy user name" />],
            ['Password', <Link href="/keys">An API key</Link>],
          ]}
        />
      </Card>
      {certificate !== null && (
        <Note>
          The certificate of this server is self-signed, so programs must be told to trust it.{' '}
          <a
            href={`data:application/x-pem-file,${encodeURIComponent(certificate)}`}
            download={CERTIFICATE_FILE}
          >
            Download {CERTIFICATE_FILE}
          </a>{' '}
          and put it where the program runs; the settings below name it.
        </Note>
      )}
      <SmtpTestCard smtp={smtp} prefix={prefix} />
      <Card title="Settings for your program">
        <div class="stack">
          <Choose
            label="Program"
            value={program}
            options={SMTP_PROGRAMS.map(([id, label]) => [id, label])}
            onValue={setProgram}
          />
          {smtp.ports.length > 1 && (
            <Choose
              label="Port"
              value={port}
              options={smtp.ports.map(one => [`${one.port}`, `${one.port} (${SECURITY[one.security]})`])}
              onValue={setPort}
            />
          )}
          <Copy
            block
            label="Copy settings"
            text={textOf({ ...smtp, ...chosen, user: USER, password, from, selfSignedName })}
          />
          <p class="quiet small">
            Replace <code>{password}</code> by an API key and the sender by an address of your domain.
          </p>
        </div>
      </Card>
    </>
  )
}
